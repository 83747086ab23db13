"""Reads the result files of a run. Times are whole nanoseconds, so that sums are exact."""

import csv
import json
import pathlib

# What a run writes beside the manifest.
FILES = ["jobs.csv", "gpus.csv", "links.csv", "types.csv", "sharing.csv", "fabric.csv", "fabric_jobs.csv",
         "fabric_utilisation.csv", "fabric_delays.csv", "certificate.csv", "summary.json"]


def ns(text):
    """Seconds with up to nine decimals as nanoseconds; nothing of an empty field."""
    if text is None or text == "":
        return None
    text = str(text)
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    whole, _, part = text.partition(".")
    return sign * (int(whole) * 10 ** 9 + int(part.ljust(9, "0")))


def plain_name(name):
    """The name without the apostrophe that guards it against spreadsheets."""
    return name[1:] if name.startswith("'") else name


class Row(dict):
    """A row of a table; [] is the text of a field."""

    def time(self, column):
        return ns(self[column])

    def count(self, column):
        return int(self[column]) if self[column] else 0

    def number(self, column):
        return float(self[column]) if self[column] else None


def table(path):
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Row(row) for row in csv.DictReader(file)]


class Results:
    """The files of one folder."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        for name in ("jobs", "gpus", "links", "types", "sharing", "fabric", "fabric_jobs", "fabric_utilisation"):
            setattr(self, name, table(folder / f"{name}.csv"))
        self.summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"), parse_float=str)
        self.replica = self.summary["replicas"][0]
        self.end = ns(self.replica["end_s"])
        self.manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))

    def figure(self, name):
        value = self.replica.get(name)
        return None if value is None else float(value)


class Job:
    """A row of jobs.csv with what the scenario says of the job."""

    def __init__(self, number, row, given, scenario):
        spec = scenario.spec
        self.number, self.row, self.given, self.name = number, row, given, plain_name(row["job_id"])
        self.gpus = row.count("gpus")
        tables = {each["model"] for name in ("rates.csv", "goodput.csv") for each in scenario.tables.get(name, [])}
        self.in_table = row["model"] in tables
        listed = "jobs.csv" in scenario.tables
        self.timed = "like" in spec["workload"] or listed and (bool(given.get("duration_s")) or self.in_table)
        self.elastic = bool(given.get("min_gpus") or given.get("max_gpus"))
        self.share = float(given.get("gpu_share") or 1) if self.timed else 1
        self.vc = given.get("vc", "")

    def time(self, column):
        return self.row.time(column)


def nothing_unforeseen(scenario, jobs):
    """Whether every job runs as long as policies know that it will: there are jobs with durations alone, nothing fails,
    and restarts and places cost nothing."""
    spec = scenario.spec
    spoilers = {"attempts_s", "outcome", "batch_rule", "place"}
    return (not {"failures", "loans", "checkpoints", "measure"} & set(spec) and "scatter_penalty" not in spec["workload"]
            and not {"sharing", "retries"} & set(spec.get("scheduling", {}))
            and all(job.timed and not any(job.given.get(column) for column in spoilers) for job in jobs))


def is_an_estimate_short(scenario, jobs):
    """Whether `easy` and `conservative` may take a job to be done sooner than it is, or can't decide at that instant."""
    policy, rules = scenario.spec["policies"]["scheduling"], scenario.spec.get("scheduling", {})
    if not nothing_unforeseen(scenario, jobs) or "quantum" in rules or "scaling" in scenario.spec["workload"]:
        return True
    for job in jobs:
        limit = float(job.given.get("limit_s") or 0)
        if limit and policy.get("use_limit", True):
            if limit < float(job.given["duration_s"]) and not rules.get("kill_at_limit"):
                return True
        elif policy.get("estimate_factor", 1) < 1:
            return True
    return False


def jobs_of(scenario, results):
    given = {row["job_id"]: row for row in scenario.jobs}
    return [Job(number, row, given.get(plain_name(row["job_id"]), {}), scenario)
            for number, row in enumerate(results.jobs)]


class Servers:
    """The servers of a scenario: GPUs, type and owner of each, and who may use which."""

    def __init__(self, scenario):
        cluster = scenario.spec["cluster"]
        self.types = cluster.get("types", [])
        if self.types:
            self.gpus = [kind.get("gpus_per_server", 4) for kind in self.types for _ in range(kind["servers"])]
            self.type = [kind["name"] for kind in self.types for _ in range(kind["servers"])]
        else:
            self.gpus = [cluster["gpus_per_server"]] * cluster["servers"]
            self.type = [""] * cluster["servers"]
        self.owner = [""] * len(self.gpus)
        self.quotas, self.borrows, self.others = {}, set(), None
        next_owned = 0
        for vc in cluster.get("vcs", []):
            for _ in range(vc.get("servers", 0)):
                self.owner[next_owned] = vc["name"]
                next_owned += 1
            if "gpus" in vc:
                self.quotas[vc["name"]] = vc["gpus"]
            if vc.get("borrow"):
                self.borrows.add(vc["name"])
            if vc.get("others"):
                self.others = vc["name"]
        self.vcs = {vc["name"] for vc in cluster.get("vcs", [])}

    def vc_of(self, job):
        """The virtual cluster whose GPUs the job may have; empty for those without an owner."""
        if not self.vcs:
            return ""
        return job.vc if job.vc in self.vcs else self.others or ""

    def may_use(self, job, server):
        owner = self.owner[server]
        vc = self.vc_of(job)
        return owner == (vc if vc in self.owner else "")
