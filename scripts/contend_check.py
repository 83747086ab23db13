#!/usr/bin/env python3
"""Checks the results of a run by its log, without the program that made them.

    contend-check FOLDER...

FOLDER is one that `contend run --certificate -o FOLDER` wrote. This file knows only the documents (certificate.md,
results.md, scenario.md, job-list.md) and needs nothing but Python. It recomputes from the log (certificate.csv and
transfers.csv) and the job list what the results say, holds the log to the rules of the scenario, and prints each
disagreement with file, line, job, instant and both values. Exit code 0: everything that was checked agrees; 1:
something doesn't; 2: a file can't be read. What could not be checked is said.
"""

import bisect
import collections
import csv
import gzip
import hashlib
import heapq
import itertools
import json
import math
import pathlib
import re
import sys

VERSION = 2
SECOND = 10 ** 9
INFINITE = float("inf")
ROUNDING = 1e-7  # of rates
MOST_SHOWN = 20  # disagreements of a folder
# Columns of a job list that say which places a job can have: jobs with equal values ask alike.
DEMAND = ("gpu_type", "gpu_memory", "gpu_share", "cpus", "host_memory", "vc", "place", "priority", "user")
# The columns of jobs.csv that are looked at: a million jobs have to fit the memory.
LOOKED_AT = set("""replica job_id model state gpus servers iterations iterations_done preemptions submit_s start_s
    finish_s queueing_s jct_s compute_gpu_s communication_s contended_s outcome held_s waited_s overhead_s lost_gpu_s
    interruptions covered_failures away_s restart_s redone_s measured restarts rho mean_gpus resizes""".split())
WAITS, RUNS, AWAY, ENDED, REJECTED = "waits", "runs", "is away from its GPUs", "has ended", "was rejected"
# Events: the states of the job in which each may come, and the state after it.
STEPS = {"arrives": ((None,), WAITS), "queues": ((AWAY,), WAITS), "promised": ((WAITS,), WAITS),
         "starts": ((WAITS, AWAY), RUNS), "adapts": ((RUNS,), RUNS), "preempted": ((RUNS,), AWAY),
         "resized": ((RUNS,), AWAY), "interrupted": ((RUNS,), AWAY), "fails": ((RUNS,), AWAY), "ends": ((RUNS,), ENDED),
         "rejected": ((None, WAITS), REJECTED)}


class Unreadable(Exception):
    """A file isn't what the documents say."""


def ns(text):
    """Seconds as whole nanoseconds; None of an empty field."""
    if not text:
        return None
    if text.isdigit():
        return int(text) * SECOND
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    whole, _, part = digits.partition(".")
    if not (whole + part).isdigit() or len(part) > 9:
        raise Unreadable(f"'{text}' is no number of seconds")
    return sign * (int(whole or 0) * SECOND + int(part.ljust(9, "0")))


def shown(time):
    """Nanoseconds as seconds, without trailing zeros."""
    if time is None:
        return "nothing"
    sign, time = ("-", -time) if time < 0 else ("", time)
    return f"{sign}{time // SECOND}.{time % SECOND:09d}".rstrip("0").rstrip(".") + " s"


def plain(name):
    """A text without the apostrophe that guards it against spreadsheets."""
    bare = name.lstrip("'")
    return name[1:] if len(bare) < len(name) and bare[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") else name


def table(path, seed=None, looked_at=None):
    """The rows of a CSV file, of one replica if it is given, as maps of these columns with their lines."""
    with open(path, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    with (gzip.open if is_packed else open)(path, "rt", newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        columns = next(reader, [])
        line = reader.line_num + 1
        for fields in reader:
            if fields and len(fields) != len(columns):
                raise Unreadable(f"{path}:{line}: {len(fields)} fields, the header has {len(columns)}")
            row = {column: plain(field) if field[:1] == "'" else field for column, field in zip(columns, fields)
                   if looked_at is None or column in looked_at}
            row["line"] = line
            if fields and row.get("replica", seed) == seed:
                yield row
            line = reader.line_num + 1


def read_keys(path):
    """The keys of a scenario that the program wrote, as paths with dots: their texts. Entries of lists share a path."""
    keys, above = {"": path.read_text("utf-8")}, []
    for line in keys[""].splitlines():
        found = re.match(r"( *)((?:- )*)([^ :{\[\"'-][^:]*): ?(.*)$", line)
        if not found:
            continue
        indent = len(found[1]) + len(found[2])
        above = [each for each in above if each[0] < indent]
        above.append((indent, found[3]))
        path = ".".join(name for _, name in above)
        keys[path] = keys[path] + " " + found[4] if path in keys else found[4]
        for name, value in re.findall(r"([a-z_]+): ([^,}]+)", found[4] if found[4].startswith("{") else ""):
            keys[f"{path}.{name}"] = value
    return keys


def numbers(text):
    """The GPUs of ranges such as 0-3 8."""
    gpus = []
    for part in text.split():
        first, _, last = part.partition("-")
        gpus.extend(range(int(first), int(last or first) + 1))
    return gpus


class Attempt:
    """A time for which a job had its GPUs."""

    def __init__(self, line, start, gpus, pause, kept):
        self.line, self.start, self.gpus, self.pause, self.kept = line, start, gpus, pause, kept
        self.end = self.how = None

    length = property(lambda self: self.end - self.start)


class Life:
    """What the log says of one job."""

    def __init__(self, name):
        self.name, self.state, self.since, self.attempts, self.causes = name, None, None, [], collections.Counter()
        self.arrives = self.asked = self.promise = self.ended = self.job = None
        self.waited = self.away = self.serves = self.line = 0
        self.given = {}  # the row of the job list; `job` is that of jobs.csv, and it arrives in `line`

    held = property(lambda self: sum(each.length for each in self.attempts))
    gpu_time = property(lambda self: sum(each.length * len(each.gpus) for each in self.attempts))
    paused = property(lambda self: sum(min(each.pause, each.length) for each in self.attempts))


class Check:
    """The checks of one replica of a folder."""

    def __init__(self, folder, keys, seed, figures, listed):
        self.folder, self.keys, self.seed = folder, keys, seed
        self.figures, self.listed = figures, listed
        self.wrong, self.counts, self.unchecked = [], collections.Counter(), {}
        self.skip = self.unchecked.setdefault  # what could not be checked, and why
        self.jobs = list(table(folder / "jobs.csv", seed, LOOKED_AT))
        self.gpus, self.links = (list(table(folder / f"{name}.csv", seed)) for name in ("gpus", "links"))
        self.lives = {row["job_id"]: Life(row["job_id"]) for row in self.jobs}
        self.end = ns(figures["end_s"])
        self.order = {row["job_id"]: at for at, row in enumerate(self.jobs)}
        self.policy = keys.get("policies.scheduling.policy", keys.get("policies.scheduling", ""))
        self.rules()

    # -- reports

    def say(self, file, line, job, instant, text):
        what = (f" job {job}" if job else "") + (f" at {shown(instant)}" if instant is not None else "")
        self.wrong.append(f"{self.folder}/{file}{f':{line}' if line else ''}:{what}: {text}")

    def log(self, line, life, instant, text):
        self.say("certificate.csv", line, life.name, instant, text)

    def equal(self, table, row, column, wanted, time=True):
        """A column must be what the log says."""
        text = row.get(column)
        self.counts["figures"] += 1
        if (ns(text) if time else int(text) if text else None) != wanted:
            self.say(table, row["line"], row.get("job_id"), None,
                     f"{column} is '{text}', the log gives {shown(wanted) if time else wanted}")

    def close(self, row, name, found, wanted, table="jobs.csv"):
        """A figure must be what the rows give, but for rounding; `row` is None for summary.json."""
        self.counts["figures"] += 1
        if (found is None) != (wanted is None) or found is not None and not math.isclose(
                found, wanted, rel_tol=1e-9, abs_tol=1e-9):
            file, line, job = (table, row["line"], row["job_id"]) if row else ("summary.json", 0, "")
            self.say(file, line, job, None, f"{name} is {found}, the rows give {wanted}")

    # -- what the scenario says

    def is_set(self, path, *usual):
        """Whether a key has another value than these."""
        return self.keys.get(path, usual[0]) not in usual

    def rules(self):
        """What follows from the keys of the scenario."""
        keys, is_set = self.keys, self.is_set
        self.parameter = lambda name, usual: keys.get(f"policies.scheduling.{name}", usual)
        self.sharing = is_set("scheduling.sharing.law", "none")
        usual = {"preset": "none", "components": "[]", "spares": "0", "cold_spares": "0"}
        self.fails = is_set("loans.servers", "0") or any(
            is_set(path, usual.get(path[9:], None)) for path in keys if path.startswith("failures."))
        usual = {"scaling.rate": "1", "scaling.durations": "1", "scaling.subset": "1", "scaling.bootstrap": "false",
                 "think_time": "none", "resample.block": "none"}
        self.scaled = any(is_set(f"workload.{key}", value) for key, value in usual.items())  # other jobs than listed
        # Preemptions undo nothing, and time on GPUs is work but for restarts.
        self.saves_all = not (is_set("checkpoints.policy", "continuous") or self.fails or self.sharing)
        self.repeats = is_set("scheduling.retries.failed.times", "recorded")
        # The time of any job may be another than its work.
        self.paces = (any(f"workload.{name}" in keys for name in ("rates", "goodput", "throughputs")) or self.sharing
                      or self.fails or self.repeats or is_set("workload.scatter_penalty", "[]")
                      or re.search(r"\bspeed: (?!1\b(?!\.))|power:\s*\{?[^}]*\blimit: \d", keys[""]))

    @staticmethod
    def is_elastic(life):
        return life.serves or bool(life.job["mean_gpus"] or life.given.get("min_gpus") or life.given.get("max_gpus"))

    def share(self, life):
        """The thousandths of a GPU that the job has; None of a job of iterations, which shares as memory allows, and
        without a list that says it."""
        known = life.asked is not None and life.given
        return round(1000 * float(life.given.get("gpu_share") or 1)) if known else None

    # -- the log

    def read_log(self):
        """Follows each job through its states; a row that has no place there is a disagreement."""
        name, last, over = "certificate.csv", 0, None
        for row in table(self.folder / name, self.seed):
            now, event, life = ns(row["time_s"]), row["event"], self.lives.get(row["job_id"])
            self.counts["rows of the log"] += 1
            wrong = ""
            if now is None or now < last:
                wrong = f"comes after a row of {shown(last)}"
            elif over is not None:
                wrong = "comes after the end of the run"
            elif event == "run ends":
                over = last = now
                wrong = "" if now == self.end else f"the run ends, end_s of summary.json is {shown(self.end)}"
            elif life is None or event not in STEPS:
                wrong = "jobs.csv has no such job" if life is None else f"there is no event '{event}'"
            else:
                last, wrong = now, self.step(life, now, event, row)
            if wrong:
                self.say(name, row["line"], row["job_id"], now, wrong)
        if over is None:
            self.say(name, 0, "", last, "the log has no row for the end of the run")
        for life in self.lives.values():
            if life.state == RUNS:
                life.attempts[-1].end = self.end
            if life.state == WAITS:
                life.waited += self.end - life.since

    @staticmethod
    def step(life, now, event, row):
        """Takes a job from one state to the next; returns the fault in that, or nothing."""
        allowed, after = STEPS[event]
        before, seconds = life.state, ns(row["seconds"])
        wrong = "" if before in allowed else f"{event}, but it {before or 'has not arrived'}"
        if before == RUNS and event != "adapts" and life.attempts:
            life.attempts[-1].end, life.attempts[-1].how = now, event
            life.causes[event] += 1
        if before == WAITS and after != WAITS:
            life.waited += now - life.since
        if event == "queues" and before == AWAY:
            life.away += now - life.since
        if event in ("arrives", "rejected") and life.arrives is None:
            life.arrives, life.asked, life.line, life.serves = now, seconds, row["line"], row["text"] == "serves"
        elif event == "starts":
            gpus = numbers(row["gpus"])
            last = life.attempts[-1] if life.attempts else None
            resized = before == AWAY and last and last.how == "resized" and last.end == now
            wrong = wrong or ("" if before == WAITS or resized else f"starts, but it {before}")
            wrong = wrong or ("" if gpus else "starts on no GPU")
            life.attempts.append(Attempt(row["line"], now, gpus, seconds or 0, life.promise))
        elif event == "promised":
            wrong = wrong or ("" if seconds >= now else f"is promised a place in the past, at {shown(seconds)}")
            life.promise = life.promise or (seconds, row["line"])
        if after == ENDED:
            life.ended = now
        if after != before:
            life.state, life.since = after, now
            life.promise = None if after == WAITS else life.promise
        return wrong

    # -- the laws of the log

    def arrivals(self):
        """Jobs arrive at the times of the job list, and ask for the work and the GPUs that it names."""
        what = "arrivals and work against the job list"
        if not self.listed:
            return self.skip(what, "the jobs were drawn, or the list isn't there")
        if self.scaled:
            return self.skip(what, "workload.scaling, think_time or resample changes them")
        for life in self.lives.values():
            given, submit = life.given, ns(life.given.get("submit_s"))
            self.counts["arrivals"] += 1
            if not given:
                self.say("jobs.csv", life.job["line"], life.name, None, "the job list has no such job")
            elif given.get("gpus") and int(given["gpus"]) != int(life.job["gpus"]):
                self.say("jobs.csv", life.job["line"], life.name, None,
                         f"gpus is {life.job['gpus']}, the job list says {given['gpus']}")
            if submit is not None and not given.get("after") and life.arrives != submit and (
                    life.arrives is not None or submit < self.end):
                self.log(life.line, life, life.arrives, f"arrives, the job list says {shown(submit)}")
            if not given.get("duration_s") or life.asked is None or self.repeats:
                continue
            asked = ns(given["duration_s"]) + sum(map(ns, filter(None, given.get("attempts_s", "").split(";"))))
            if life.asked != asked:
                self.log(life.line, life, life.arrives, f"asks for {shown(life.asked)}, the list for {shown(asked)}")
        return None

    def gangs(self):
        """Each start has as many GPUs as the gang, different ones, that exist."""
        exist = {int(row["gpu"]) for row in self.gpus}
        for life, gang in ((each, int(each.job["gpus"])) for each in self.lives.values()):
            least, most = (int(life.given.get(key) or gang) for key in ("min_gpus", "max_gpus"))
            for each in life.attempts:
                self.counts["starts"] += 1
                line, count, strange = each.line, len(each.gpus), set(each.gpus) - exist
                if len(set(each.gpus)) != count:
                    self.log(line, life, each.start, f"has a GPU twice: {' '.join(map(str, each.gpus))}")
                if strange:
                    self.log(line, life, each.start, f"starts on GPU {min(strange)}, which gpus.csv doesn't have")
                may_change = self.is_elastic(life) and (life.serves or not self.listed or least <= count <= most)
                if count != gang and not may_change:
                    self.log(line, life, each.start, f"starts on {count} GPUs, its gang has {gang}")

    def one_holder(self):
        """No GPU is given twice, but to jobs that may share it."""
        most = int(self.keys.get("scheduling.sharing.most", 2)) if self.sharing else 1
        edges = sorted(((at, begins, gpu, life, each) for life in self.lives.values() for each in life.attempts
                        if each.length > 0 for gpu in each.gpus
                        for at, begins in ((each.start, 1), (each.end, 0))), key=lambda edge: edge[:2])
        holds = collections.defaultdict(dict)
        for now, begins, gpu, life, each in edges:
            on = holds[gpu]
            if not begins:
                on.pop(life.name, None)
                continue
            on[life.name] = self.share(life)
            self.counts["GPUs given"] += 1
            timed = [part for part in on.values() if part is not None]
            if timed and len(timed) < len(on) or sum(timed) > 1000 and len(timed) > most:
                self.log(each.line, life, now, f"gets GPU {gpu}, which {min(set(on) - {life.name})} has")

    def promises(self):
        """EASY and conservative backfilling start no job later than they promised first, if estimates hold."""
        if self.policy not in ("easy", "conservative"):
            return None
        if why := self.why_unforeseen():
            return self.skip("promises of backfilling", why)
        for life in self.lives.values():
            for each in life.attempts:
                self.counts["promises"] += each.kept is not None
                if each.kept is not None and each.start > each.kept[0]:
                    self.log(each.line, life, each.start,
                             f"starts, line {each.kept[1]} promises {shown(each.kept[0])}")
        return None

    def why_unforeseen(self):
        """Why a plan may not hold; empty if estimates are never too short."""
        if not self.listed or not self.saves_all or self.scaled:
            return "jobs were drawn, or failures, checkpoints, sharing or scaling change how long they take"
        usual = {"checkpoints.restart_cost": "0s", "checkpoints.start_up.mean": "0s", "scheduling.quantum": "0s",
                 "workload.scatter_penalty": "[]", "measure.from": "0s"}
        if changed := [path for path, value in usual.items() if self.is_set(path, value)]:
            return f"{changed[0]} is {self.keys[changed[0]]}"
        for life in self.lives.values():
            given, limit = life.given, ns(life.given.get("limit_s"))
            if life.asked is None or any(map(given.get, ("attempts_s", "outcome", "batch_rule", "place", "min_gpus"))):
                return "jobs take other times than policies know"
            limit = limit if self.parameter("use_limit", "true") == "true" else None
            if limit and limit < life.asked and not self.is_set("scheduling.kill_at_limit", "false") or (
                    not limit and float(self.parameter("estimate_factor", 1)) < 1):
                return "estimates are too short"
        return ""

    def orders(self):
        """FIFO, SJF and SRTF: no job starts while one waits that comes before it and asks alike, or any if strict."""
        name, lives = self.policy, [life for life in self.lives.values() if life.arrives is not None]
        if name not in ("fifo", "sjf", "srtf"):
            return None
        queues = self.is_set("cluster.vcs", "[]") or self.is_set("cluster.types", "[]")
        alters = any(life.causes["fails"] or self.is_elastic(life) or life.given.get("place")
                     or life.given.get("batch_rule") for life in lives)
        paced = name != "fifo" and (self.is_set("workload.scatter_penalty", "[]") or any(
            life.asked is None or life.given.get("attempts_s") for life in lives))
        if queues or alters or paced or not self.saves_all:
            return self.skip(f"the order of {name}", "failures, attempts, types, virtual clusters, places or "
                             "iterations make orders of their own")
        strict = self.parameter("strict", "true" if name == "fifo" else "false") == "true" and not any(
            self.parameter(key, "false") == "true" for key in ("migrate", "preemptive", "rewalk"))
        ties = name == "fifo" and not self.is_set("scheduling.ties", "submission")
        changes = [(at, kind, self.order[life.name], each) for life in lives
                   for at, kind, each in self.changes_of(life)]
        waiting, heaps = {}, collections.defaultdict(list)
        for now, group in itertools.groupby(sorted(changes, key=lambda change: change[:2]), lambda change: change[0]):
            started = []
            for _, starts, at, each in group:
                life = self.lives[self.jobs[at]["job_id"]]
                if starts:
                    started.append((at, life, each, waiting.pop(at, None)))
                else:
                    waiting[at] = self.rank(life, now)
                    heapq.heappush(heaps[() if strict else self.asks(life)], (waiting[at], at))
            for at, life, each, own in started:
                self.counts["starts in order"] += 1
                heap = heaps[() if strict else self.asks(life)]
                while heap and waiting.get(heap[0][1]) != heap[0][0]:
                    heapq.heappop(heap)
                if heap and own is not None and (heap[0] if ties else heap[0][:1]) < ((own, at) if ties else (own,)):
                    self.log(each.line, life, now, f"starts with {shown(own)}, and "
                             f"{self.jobs[heap[0][1]]['job_id']} with {shown(heap[0][0])} waits, by {name}")
        return None

    @staticmethod
    def changes_of(life):
        """When a job began to wait (0) and started (1)."""
        since = life.arrives
        for each in life.attempts:
            yield since, 0, None
            yield each.start, 1, each
            since = each.end
        if life.state == WAITS:
            yield since, 0, None

    @staticmethod
    def asks(life):
        return tuple(life.given.get(column, "") for column in DEMAND) + (life.job["gpus"], life.job["model"])

    def rank(self, life, now):
        """What the policy orders by."""
        if self.policy != "srtf":
            return life.arrives if self.policy == "fifo" else life.asked
        return life.asked - sum(max(0, each.length - each.pause) for each in life.attempts if each.end <= now)

    # -- the results

    def rows_of_jobs(self):
        """jobs.csv has what the log gives."""
        server = {int(row["gpu"]): row["server"] for row in self.gpus}
        states = {None: {"submitted"}, RUNS: {"running"}, WAITS: {"queued", "preempted"},
                  AWAY: {"queued", "given_up"}, ENDED: {"finished"}, REJECTED: {"failed"}}
        for life in self.lives.values():
            row, starts = life.job, life.attempts
            times = {"start_s": starts[0].start if starts else None, "held_s": life.held, "waited_s": life.waited,
                     "jct_s": None if life.ended is None else life.ended - (life.arrives or 0),
                     "queueing_s": starts[0].start - (life.arrives or 0) if starts else None}
            if row["state"] == "given_up" and row["finish_s"]:
                times["away_s"] = life.away + ns(row["finish_s"]) - life.since
            else:
                times["finish_s"] = life.ended
                times["away_s"] = life.away
            if life.arrives is not None:
                times["submit_s"] = life.arrives
            counts = {"preemptions": life.causes["preempted"], "interruptions": life.causes["interrupted"],
                      "resizes": life.causes["resized"], "restarts": max(0, len(starts) - 1),
                      "servers": len({server.get(gpu) for gpu in starts[-1].gpus}) if starts else None}
            for column, wanted in {**times, **counts}.items():
                self.equal("jobs.csv", row, column, wanted, column in times)
            if row["state"] not in states[life.state]:
                self.say("jobs.csv", row["line"], life.name, None,
                         f"state is {row['state']}, by the log it {life.state or 'never arrived'}")
            if row["mean_gpus"] and life.held:
                self.close(row, "mean_gpus", float(row["mean_gpus"]), life.gpu_time / life.held)
            self.work(life, row)

    def work(self, life, row):
        """Time on GPUs is work, what was undone, checkpoints and restarts; a job that finished has done its work."""
        held, overhead, redone, restart = (ns(row[f"{name}_s"]) for name in ("held", "overhead", "redone", "restart"))
        for part, name, whole in ((restart, "restart_s", overhead), (overhead + redone, "overhead_s + redone_s", held)):
            if not 0 <= part <= whole:
                self.say("jobs.csv", row["line"], life.name, None, f"{name} is {shown(part)} of {shown(whole)}")
        succeeds = row["outcome"] not in ("failed", "timeout")
        if self.saves_all:
            for column in ("overhead_s", "restart_s"):
                self.equal("jobs.csv", row, column, life.paused)
            if life.asked is not None and not life.causes["fails"] and succeeds:
                self.equal("jobs.csv", row, "redone_s", 0)
        elif restart > life.paused:
            self.say("jobs.csv", row["line"], life.name, None,
                     f"restart_s is {shown(restart)}, the pauses of the log add up to {shown(life.paused)}")
        if row["state"] != "finished" or not succeeds:
            return
        iterates = not life.serves and (life.asked is None or life.given.get("iterations"))
        if iterates and row["iterations_done"] != row["iterations"]:
            self.say("jobs.csv", row["line"], life.name, None,
                     f"finished with {row['iterations_done']} of {row['iterations']} iterations")
        if life.asked is None:
            return
        if self.paces or self.is_elastic(life) or life.given.get("batch_rule"):
            self.skip("the work of some jobs with durations", "types, places, other jobs, numbers of GPUs, failures or "
                      "repeated attempts change how long it takes")
            return
        self.counts["amounts of work"] += 1
        if held - overhead - redone != life.asked:
            self.say("jobs.csv", row["line"], life.name, None, "held_s - overhead_s - redone_s is "
                     f"{shown(held - overhead - redone)}, its work is {shown(life.asked)}")
        self.equal("jobs.csv", row, "compute_gpu_s", life.asked * int(row["gpus"]))

    def rows_of_gpus(self):
        """busy_s and jobs of each GPU; none has more than the time of the run, of which nothing is lost."""
        held, placed, parts = collections.Counter(), collections.Counter(), collections.Counter()
        whole = all(self.share(life) == 1000 for life in self.lives.values() if life.attempts) and not self.sharing
        covers = any(int(life.job["covered_failures"] or 0) for life in self.lives.values())
        spans = sorted((each.start, each.end, gpu) for life in self.lives.values() for each in life.attempts
                       for gpu in each.gpus)
        reached = collections.Counter()
        for start, end, gpu in spans:
            placed[gpu] += 1
            held[gpu] += max(0, end - max(start, reached[gpu]))
            reached[gpu] = max(reached[gpu], end)
        for row in self.gpus:
            gpu, busy, down = int(row["gpu"]), ns(row["busy_s"]), ns(row["down_s"])
            self.equal("gpus.csv", row, "jobs", placed[gpu], time=False)
            if whole and not covers:
                self.equal("gpus.csv", row, "busy_s", held[gpu])
            elif busy > held[gpu]:
                self.say("gpus.csv", row["line"], "", None, f"busy_s is {shown(busy)}, jobs had it for "
                         f"{shown(held[gpu])}")
            if not covers and (down < 0 or down + held[gpu] > self.end):
                self.say("gpus.csv", row["line"], "", None, f"down_s is {shown(down)}, and jobs had it for "
                         f"{shown(held[gpu])} of a run of {shown(self.end)}")
            parts["idle"] += self.end - held[gpu]
        if not whole or covers:
            return self.skip("busy_s of GPUs to the nanosecond, and the sum of all GPU time",
                             "jobs of iterations or parts of GPUs compute for a part of their time on GPUs")
        for life in self.lives.values():
            row, width = life.job, len(life.attempts[0].gpus) if life.attempts else 0
            if self.is_elastic(life):
                parts["of jobs that change"] += life.gpu_time
                continue
            overhead, restart, redone = (ns(row[f"{name}_s"]) for name in ("overhead", "restart", "redone"))
            for name, time in (("useful", ns(row["held_s"]) - overhead - redone), ("undone", redone),
                               ("checkpoints", overhead - restart), ("restarts", restart)):
                parts[name] += time * width
        self.counts["sums of GPU time"] += 1
        if sum(parts.values()) != self.end * len(self.gpus):
            told = ", ".join(f"{name} {shown(value)}" for name, value in parts.items())
            self.say("jobs.csv", 0, "", None, f"GPU time: {told} are {shown(sum(parts.values()))}, all GPUs have "
                     f"{shown(self.end * len(self.gpus))}")
        return None

    def summary(self):
        """summary.json has what the rows give."""
        is_window = self.is_set("measure.from", "0s") or self.is_set("measure.until", "none")
        for name, wanted in summary_of(self.jobs, self.gpus, self.links, self.end, is_window).items():
            self.close(None, name, number(self.figures.get(name)), wanted)
        for name, ratio in (("avg_jct_s", "jct_by_bound"), ("makespan_s", "makespan_by_bound")):
            figure, bound, times = (number(self.figures.get(key)) for key in (name, f"bound_{name}", ratio))
            if figure is None or bound is None:
                continue
            self.close(None, ratio, times, figure / bound if bound > 0 else None)
            if figure < bound * (1 - 1e-9):
                self.say("summary.json", 0, "", None, f"{name} is {figure}, below its bound {bound}")
        if any(row["transfers"] != "0" for row in self.links):
            self.skip("the length of iterations", "the log has no graphs of them")

    def all(self):
        for row in self.jobs:
            life = self.lives[row["job_id"]]
            life.job, life.given = row, self.listed.get(row["job_id"], {}) if self.listed else {}
        self.read_log()
        for law in (self.arrivals, self.gangs, self.one_holder, self.promises, self.orders, self.rows_of_jobs,
                    self.rows_of_gpus, self.summary, Traffic(self).run):
            law()
        return self


class Meter:
    """What a job, an interface or a route has had: time in use, time in use by several, transfers and bytes."""
    needed = INFINITE  # no sums before this instant are asked for

    def __init__(self):
        self.now, self.users, self.several, self.past = 0, 0, 0, [(0, 0, 0, (0, 0, 0, 0))]

    def at(self, time):
        """The sums at an instant."""
        last = -1 if self.past[-1][0] <= time else bisect.bisect_right(self.past, (time, INFINITE)) - 1
        now, users, several, (used, shared, count, size) = self.past[last]
        return used + (time - now) * (users > 0), shared + (time - now) * (several > 0), count, size

    def move(self, now, users=0, several=0, count=0, size=0):
        """More or fewer use it from now on. False if this instant was leapt over."""
        is_free, self.now = now >= self.now, max(now, self.now)
        used, shared, counted, sent = self.at(self.now)
        self.users, self.several = self.users + users, self.several + several
        if len(self.past) > 99:
            del self.past[:bisect.bisect_right(self.past, (min(Meter.needed, self.now), INFINITE)) - 1]
        self.past.append((self.now, self.users, self.several, (used, shared, counted + count, sent + size)))
        return is_free

    def repeat(self, begin, end, times):
        """What came after `begin` until `end` comes so often again."""
        sums = (each + (each - before) * times for before, each in zip(self.at(begin), self.at(end)))
        self.now = end + (end - begin) * times
        self.past.append((self.now, self.users, self.several, tuple(sums)))


class Part:
    """Bytes that a transfer moves over the same links."""
    __slots__ = ("line", "route", "start", "end", "how", "rest", "first", "size", "sent", "rate", "since", "ready",
                 "slow")

    def __init__(self, row, route):
        self.line, self.route, self.how, self.rest = row["line"], route, row["text"], bool(row["bytes"])
        self.start, self.end = ns(row["starts_s"]), ns(row["ends_s"])
        self.size = float(row["bytes"]) if self.rest else route.size
        self.first = route.is_first and not self.rest
        self.ready = self.start if self.rest else self.start + route.start_up
        self.since, self.sent, self.rate, self.slow = self.start, 0, None, False

    def left_for(self, now):
        """The nanoseconds since it began to send at its rate."""
        return max(0, now - max(self.since, self.ready))


class Route:
    """What a job sends over the same places: (lane, number) of a link or an interface, each with its share."""

    def __init__(self, row):
        more = dict(word.split("=") for word in row["text"].split())
        self.job, self.lane, self.size = row["job_id"], more["lane"], float(row["bytes"])
        self.start_up = ns(row["starts_s"])
        self.message, self.is_first = float(more.get("message", row["bytes"])), "follows" not in more
        self.alone, self.cap, self.penalty = (float(each) for each in (
            row["rates"] or 0, more.get("cap", 0), more.get("penalty", 0)))
        self.priority, self.servers, self.most = int(more.get("priority", 0)), numbers(row["servers"]), None
        self.touches = [(self.lane, server) for server in self.servers]
        uses = (use.partition(":") for use in row["links"].split())
        self.uses = {("link", int(link)): float(share or 1) for link, _, share in uses}
        if self.lane == "inside":
            self.touches = [("inside", self.job, more.get("gpu"))]


class Traffic:
    """The transfers of a run: whether links carry them fairly, and what they add up to."""

    def __init__(self, check):
        self.check, self.routes, self.links, self.events = check, {}, {}, []
        self.meters, self.on = collections.defaultdict(Meter), collections.defaultdict(dict)
        self.used, self.open = collections.defaultdict(dict), collections.defaultdict(set)  # by job: places, parts
        self.paced = check.fails or check.is_set("network.interference", "") or check.is_set(
            "network.interference.network", "0")
        tick = re.match(r"([\d.]+) ?(ns|us|ms|s)$", check.keys.get("network.tick", "0s"))
        self.tick = max(1, int(float(tick[1]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[tick[2]]))
        self.server = {int(row["gpu"]): int(row["server"]) for row in check.gpus}
        self.changes, self.moved, self.states, self.is_simple = False, False, {}, True

    def say(self, part, now, text):
        self.check.say("transfers.csv", part.line, part.route.job, now, text)

    def read(self):
        for row in table(self.check.folder / "transfers.csv", self.check.seed):
            event, number, begin, line = row["event"], int(row["number"]), ns(row["starts_s"]), row["line"]
            if event == "link":
                more = dict(word.split("=") for word in row["text"].split())
                factors = [float(each) for each in more.get("factors", "1").split(";")]
                self.links["link", number] = [float(row["rates"]), factors, float(more.get("penalty", 0))]
                self.is_simple = self.is_simple and max(factors) == factors[0] and "-" not in more.get("penalty", "")
            elif event == "route":
                self.routes[number] = Route(row)
            elif event == "changes":
                self.events.append((begin, 0, line, None, (("link", number), float(row["rates"]))))
                self.changes = True
            elif event == "repeats":
                self.events.append((ns(row["ends_s"]), 4, line, None, (begin, number, row["job_id"])))
            else:
                part = Part(row, self.routes[number])
                self.moved = self.moved or part.rest or part.how == "moved"
                self.events += [(part.start, 1, line, part, None), (part.end, 3, line, part, None)]
                for at, _, rate in (word.rpartition("=") for word in row["rates"].split()):
                    self.events.append((ns(at) if at else part.start, 2, line, part, float(rate)))
                self.check.counts["transfers"] += part.first
                self.holds(part)

    def holds(self, part):
        """A job sends only while it has its GPUs, among their servers."""
        life = self.check.lives.get(part.route.job)
        for each in life.attempts if life else ():
            if each.start <= part.start and part.end <= each.end:
                if strange := set(part.route.servers) - {self.server.get(gpu) for gpu in each.gpus}:
                    self.say(part, part.start, f"sends on server {min(strange)}, where it has no GPU")
                if part.how == "cancelled" and part.end != each.end:
                    self.say(part, part.end, "a transfer is cancelled, and the job goes on")
                return
        self.say(part, part.start, "sends when it has no GPUs")

    def move(self, part, now, places, users, **more):
        """More or fewer users of places and of the job."""
        for place in places:
            self.used[part.route.job][place] = now
            if not self.meters[place].move(now, users, **more):
                self.say(part, now, f"uses {place[0]} {place[1]} in a time that was leapt over")

    def on_servers(self, part, now, begins, **more):
        """Puts a part on interfaces or takes it off; those with two are used by several."""
        for place in part.route.touches:
            here = self.on[place]
            several = int(begins and len(here) == 1) - int(not begins and len(here) == 2)
            here.update({part: None}) if begins else here.pop(part, None)
            self.move(part, now, [("server", place[1])], 1 if begins else -1, several=several, **more)

    def starts(self, part, now, _):
        route = part.route
        self.open[route.job].add(part)
        self.move(part, now, [("job", route.job)], 1)
        self.on_servers(part, now, True, count=int(part.first), size=route.message * part.first)
        return route.touches

    def sends(self, part, now, rate):
        part.sent += part.left_for(now) * (part.rate or 0) / SECOND
        if part.rate is None:
            for place in part.route.uses:
                self.on[place][part] = None
        part.rate, part.since = rate, now
        if part.route.lane == "links":
            self.slows(part, now, rate < part.route.alone * (1 - 1e-9))
        return part.route.uses

    def slows(self, part, now, slow):
        if slow != part.slow:
            part.slow = slow
            self.move(part, now, [("job", part.route.job)], 0, several=1 if slow else -1)

    def ends(self, part, now, _):
        route, rate = part.route, part.rate or 0
        length, left = part.left_for(now), part.size - part.sent
        if not part.how and math.isfinite(rate):
            excess = length - left * SECOND / rate if rate else now - part.ready if not part.size else -INFINITE
            rounding = min(0.3, 1e-6 + 1e-10 * (now - part.start))
            if not -rounding <= excess < self.tick + rounding:
                self.say(part, now, f"ends, its {part.size:.12g} bytes take {-excess:.9g} ns longer" if excess < 0 else
                         f"ends, its {part.size:.12g} bytes take {excess:.9g} ns less")
        sent = part.size if not part.how else part.sent + length * rate / SECOND
        self.slows(part, now, False)
        for place in route.uses:
            self.on[place].pop(part, None)
        self.move(part, now, [("route", id(route))], 0, size=sent)
        self.on_servers(part, now, False)
        self.move(part, now, [("job", route.job)], -1)
        self.open[route.job].discard(part)
        return [*route.uses, *route.touches]

    def repeat(self, begin, end, times, jobs):
        """These jobs repeat so often what they did; what they send moves behind that."""
        open_parts = [part for job in jobs for part in self.open[job]]
        places = {place for job in jobs for place, last in self.used[job].items() if last > begin}
        places.update(place for part in open_parts for place in (("job", part.route.job), *(
            ("server", server) for server in part.route.servers)))
        for place in places:
            self.meters[place].repeat(begin, end, times)
        for part in open_parts:
            part.since += (end - begin) * times
            part.ready += (end - begin) * times

    def state(self, place):
        """Load and capacity of a link, and the largest rate of each priority on it."""
        if place not in self.states:
            capacity, factors, penalty = self.links[place]
            here, levels = self.on[place], {}
            count = max(1, len(here))
            for part in here:
                levels[part.route.priority] = max(part.rate, levels.get(part.route.priority, 0))
            self.states[place] = (sum(part.rate * part.route.uses[place] for part in here), levels, capacity * factors[
                min(count, len(factors)) - 1] / (1 + (count - 1) / count * penalty))
        return self.states[place]

    def most(self, route):
        """The rate of a part that is alone on all its links."""
        if route.most is None or self.changes:
            route.most = min([self.links[place][0] * self.links[place][1][0] / share for place, share in
                              route.uses.items()] + [route.cap or INFINITE])
        return route.most

    def is_limited(self, part):
        """Whether a part sends as fast as its cap, or a full link on which none of its priority is faster, allows."""
        route, most = part.route, part.rate * (1 + ROUNDING)
        if 0 < route.cap <= most or self.is_simple and self.most(route) <= most:
            return True
        states = (self.state(place) for place in route.uses if not self.is_simple or len(self.on[place]) > 1)
        return any(load >= capacity * (1 - ROUNDING) and levels[route.priority] <= most and all(
            level <= ROUNDING * capacity for other, level in levels.items() if other > route.priority)
            for load, levels, capacity in states)

    def fair(self, now, touched):
        """Holds what is on these places to the rule by which they are shared."""
        for place in touched:
            self.states.pop(place, None)
        parts = {part: None for place in touched for part in self.on[place] if part.rate is not None}
        for place in touched if self.links else ():
            if place in self.links and len(self.on[place]) > self.is_simple:
                load, _, capacity = self.state(place)
                if load > capacity * (1 + ROUNDING):
                    self.say(next(iter(self.on[place])), now,
                             f"link {place[1]} carries {load:.9g} of {capacity:.9g} bytes a second")
        for part in parts:
            route = part.route
            if route.lane == "links":
                if self.is_simple and part.rate > self.most(route) * (1 + ROUNDING):
                    self.say(part, now, f"sends {part.rate:.9g} bytes a second, its links carry {self.most(route):.9g}")
                elif not self.is_limited(part):
                    self.say(part, now, f"sends {part.rate:.9g} bytes a second, and no link or cap forbids more")
                continue
            ways = max((len(self.on[place]) for place in route.touches), default=1)
            self.slows(part, now, ways > 1 and route.penalty > -1)
            wanted = route.alone / (ways + (ways - 1) * route.penalty)
            if route.alone and not math.isclose(part.rate, wanted, rel_tol=1e-9) and not (
                    self.paced and part.rate < wanted):
                self.say(part, now, f"sends {part.rate:.9g} bytes a second, one of {ways} has {wanted:.9g}")

    def run(self):
        """Goes through all instants, and compares what has been carried with the results."""
        self.read()
        self.events.sort(key=lambda event: event[:3])
        begins = [event[4][0] for event in self.events if event[1] == 4]  # of repetitions, in the order of their ends
        needed = list(itertools.accumulate(reversed(begins), min, initial=INFINITE))
        steps = {1: self.starts, 2: self.sends, 3: self.ends}
        for now, group in itertools.groupby(self.events, key=lambda event: event[0]):
            Meter.needed, touched, repeated = needed[-1], {}, collections.defaultdict(list)
            for _, order, _, part, value in group:
                if order == 0:
                    self.links[value[0]][0] = value[1]
                    touched[value[0]] = None
                elif order == 4:
                    repeated[value[:2]].append(value[2])
                else:
                    touched.update(dict.fromkeys(steps[order](part, now, value)))
            self.fair(now, touched)
            for (begin, times), jobs in repeated.items():
                self.repeat(begin, now, times, jobs)
                del needed[-len(jobs):]
        self.results()

    def results(self):
        """jobs.csv, links.csv and fabric.csv have what transfers add up to."""
        check, end = self.check, self.check.end
        if self.moved or self.changes:
            check.skip("sums of transfers over links and jobs", "links change, and transfers wait for routes")
            return
        for life in check.lives.values():
            for column, wanted in zip(("communication_s", "contended_s"), self.meters["job", life.name].at(end)):
                if life.job[column]:
                    check.equal("jobs.csv", life.job, column, wanted)
        for row in check.links:
            for column, wanted in zip(("busy_s", "contended_s", "transfers", "bytes"),
                                      self.meters["server", int(row["server"])].at(end)):
                check.equal("links.csv", row, column, int(wanted), column.endswith("_s"))
        path, carried = check.folder / "fabric.csv", collections.Counter()
        for route in self.routes.values() if path.exists() else ():
            size = self.meters["route", id(route)].at(end)[3]
            carried.update({place: share * size for place, share in route.uses.items()})
        for number, row in enumerate(table(path, check.seed) if path.exists() else ()):
            place = "link", number
            for column, wanted in (("bytes", carried[place]), ("bandwidth_Bps", self.links[place][0])):
                check.close({**row, "job_id": ""}, column, float(row[column]), wanted, "fabric.csv")


def number(value):
    return None if value is None else float(value)


def percentile(values, share):
    if not values:
        return None
    values = sorted(values)
    place = share * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def summary_of(rows, gpus, links, end, is_window):
    """The figures of summary.json that follow from the rows."""
    jobs = [row for row in rows if row["measured"] == "1"]
    done = [row for row in jobs if row["state"] == "finished"]

    def mean(values):
        return math.fsum(values) / len(values) if values else None

    def seconds(which, column):
        return [ns(row[column]) / SECOND for row in which if row[column]]

    def total(column):
        return sum(int(row[column] or 0) for row in jobs)
    states = collections.Counter(row["state"] for row in jobs)
    times, rhos = seconds(done, "jct_s"), [float(row["rho"]) for row in jobs if row["rho"]]
    made = {"jobs": len(jobs), "finished": len(done), "failed": states["failed"], "given_up": states["given_up"],
            "not_submitted": states["submitted"], "unfinished": states["queued"] + states["preempted"]
            + states["running"], "killed": sum(row["outcome"] == "timeout" for row in done),
            "failed_outcome": sum(row["outcome"] == "failed" for row in done), "avg_jct_s": mean(times),
            "median_jct_s": percentile(times, 0.5), "p95_jct_s": percentile(times, 0.95),
            "max_jct_s": max(times, default=None), "avg_queueing_s": mean(seconds(done, "queueing_s")),
            "avg_waiting_s": mean(seconds(done, "waited_s")), "preemptions": total("preemptions"),
            "restarts": total("restarts"), "lost_gpu_s": sum(seconds(jobs, "lost_gpu_s")), "avg_rho": mean(rhos),
            "max_rho": max(rhos, default=None), "unfair_share": mean([float(rho > 1) for rho in rhos]),
            "jain_index": sum(1 / rho for rho in rhos) ** 2 / (len(rhos) * sum(rho ** -2 for rho in rhos))
            if rhos and min(rhos) > 0 else None}
    first = min((ns(row["submit_s"]) for row in jobs if row["submit_s"]), default=None)
    made["makespan_s"] = (max(ns(row["finish_s"]) for row in done) - first) / SECOND if done else None
    if is_window or not jobs or first is None:
        return made
    unfinished = made["unfinished"] + made["not_submitted"]
    ends = [ns(row["finish_s"]) for row in jobs if row["finish_s"]]
    length = ((end if unfinished else max(ends, default=0)) - first) / SECOND
    if length > 0 and gpus:
        made["gpu_utilisation"] = sum(seconds(gpus, "busy_s")) / (length * len(gpus))
    if length > 0 and links:
        made["network_utilisation"] = sum(seconds(links, "busy_s")) / (length * len(links))
    sent = sum(seconds(rows, "communication_s"))
    made["contended_share"] = sum(seconds(rows, "contended_s")) / sent if sent > 0 else 0
    return made


def job_list(folder, keys):
    """The rows of the job list by job; None if the jobs come from elsewhere, or the file isn't there."""
    name = keys.get("workload.jobs", "").strip("'")
    path = folder / (json.loads(name) if name[:1] == '"' else name)
    rows = list(table(path)) if path.is_file() else []
    return {row["job_id"]: row for row in rows} if rows and "job_id" in rows[0] else None


def check_folder(folder):
    """Checks of all replicas of a folder."""
    folder = pathlib.Path(folder)
    files = ("certificate.csv", "transfers.csv", "jobs.csv", "gpus.csv", "links.csv", "summary.json", "scenario.yaml")
    missing = [name for name in files if not (folder / name).exists()]
    if missing:
        raise Unreadable(f"{folder} has no {missing[0]}; `contend run --certificate -o {folder}` writes it")
    keys = read_keys(folder / "scenario.yaml")
    summary = json.loads((folder / "summary.json").read_text("utf-8"), parse_float=str, parse_int=str)
    listed = job_list(folder, keys)
    return [Check(folder, keys, replica["seed"], replica, listed).all() for replica in summary["replicas"]]


def digest_of(folder):
    """The digest of the run of a folder, or the SHA-256 of the digests of several, one a line."""
    manifest = json.loads((pathlib.Path(folder) / "manifest.json").read_text("utf-8"))
    digests = [replica["digest"] for replica in manifest["replicas"]]
    text = "".join(f"{each}\n" for each in digests)
    return digests[0] if len(digests) == 1 else hashlib.sha256(text.encode()).hexdigest()


def report(folder):
    """Prints what was found in a folder; returns whether everything agrees."""
    checks = check_folder(folder)
    wrong = [text for check in checks for text in check.wrong]
    if len(wrong) > MOST_SHOWN:
        wrong[MOST_SHOWN:] = [f"{folder}: and {len(wrong) - MOST_SHOWN} more disagreements"]
    counts, unchecked = collections.Counter(), {}
    for check in checks:
        counts.update(check.counts)
        unchecked.update(check.unchecked)
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    verdict = f"{sum(len(check.wrong) for check in checks)} disagreements among" if wrong else "checked"
    runs = f"{len(checks)} run{'s' if len(checks) > 1 else ''}"
    print(*wrong, f"{folder}: {verdict} {sum(len(check.jobs) for check in checks)} jobs of {runs}: {told}", *(
        f"{folder}: not checked: {what}: {why}" for what, why in unchecked.items()), sep="\n")
    if not wrong:
        print(f"{folder}: certified by contend-check {VERSION}, digest {digest_of(folder)}")
    return not wrong


def main(folders):
    folders = folders[folders[:1] == ["--"]:]
    if not folders or folders[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if folders else 2
    agree = True
    for folder in folders:
        try:
            agree = report(folder) and agree
        except (Unreadable, OSError, KeyError, ValueError) as error:
            print(f"contend-check: {folder}: {error}", file=sys.stderr)
            return 2
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
