#!/usr/bin/env python3
"""Draws whole scenarios, runs each in four ways, and holds the results to laws.

    scenario_property_test.py PROGRAM [--seed N] [--count M] [--keep FOLDER]

Each seed is a scenario (draw.py). It runs plain, with --no-leap, with --timeline and plain again: exit codes, digests
and result files must be equal, whatever the way. Jobs run as before if the type of all servers gets a name, or idle
servers of another type come beside them, or all servers are four times as fast for four times as much work
(variants.py). Then checkers that know nothing of the engine hold the files to laws
(row_laws.py, summary_laws.py, timeline_laws.py), jobs are explained, and at the end the features that the scenarios
really met are counted: one that none of them met is a failure, too. A scenario that `contend check` refuses is drawn
again. Before all that the checkers are held against results that were falsified, so that they can't check nothing.

A scenario that breaks a law is made smaller as long as it breaks the law, and written to FOLDER/seed-N, or to
build/properties/seed-N, with the command that repeats it. CONTEND_EFFORT multiplies the number of scenarios (50).
"""

import argparse
import collections
import copy
import csv
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

try:
    import yaml
except ImportError:
    print("scenario_property: skipped, because Python has no yaml")
    sys.exit(77)
sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.append(str(pathlib.Path(__file__).parents[2] / "scripts"))

import contend_check
import draw
import falsify
import features
import results as reader
import row_laws
import summary_laws
import timeline_laws
import variants

COUNT = 50
SECONDS = 60  # the most processor time of a run, so that a busy machine makes no difference
WAIT = 20 * SECONDS  # and the longest time on the clock, for a run that waits for something that never comes
ATTEMPTS = 40
EVENTS = 40000  # a run with more is drawn again: --no-leap and --timeline execute all of them
ALLOWED_CODES = {0, 4}  # ok, and jobs that did not finish
WAYS = [("plain", []), ("no-leap", ["--no-leap"]), ("timeline", ["--timeline", "timeline.json"]), ("again", [])]
CERTIFIED = ["--certificate"]  # in each way
IN_VAIN = "undid all work since the last checkpoint"  # docs/models/scheduling.md, "In vain"
MEMORY_FAULTS = ("Sanitizer", "runtime error", "internal error", "please report")


class Broken(Exception):
    """A scenario breaks a law."""

    def __init__(self, law, text):
        super().__init__(f"{law}: {text}")
        self.law = law


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))


def guarded(value):
    """A field with the apostrophe that keeps spreadsheets from running it."""
    return "'" + value if isinstance(value, str) and value.startswith(("=", "+", "@", "'")) else value


def write(scenario, folder):
    """Writes the scenario and its tables."""
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(scenario.spec, sort_keys=False, default_flow_style=None, width=120)
    (folder / "scenario.yaml").write_text(text, encoding="utf-8")
    for name, rows in scenario.tables.items():
        columns = list(dict.fromkeys(column for row in rows for column in row))
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, columns, lineterminator="\n")
            table.writeheader()
            for row in rows:
                table.writerow({column: guarded(value) for column, value in row.items()})


class Unfit(Exception):
    """A run has more events than are wanted here, or was ended because its preemptions undo all work."""


class Judge:
    """Runs scenarios in a folder and judges their results."""

    def __init__(self, program, folder):
        self.program, self.folder = str(pathlib.Path(program).resolve()), folder
        self.seconds = collections.Counter()

    def call(self, words, law):
        """Runs the program; a crash, a hang or a message of a sanitizer breaks `law`."""
        began = time.monotonic()
        try:
            done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, timeout=WAIT,
                                  preexec_fn=limit_time)
        except subprocess.TimeoutExpired:
            raise Broken(law, f"contend {' '.join(words)} takes longer than {WAIT} s") from None
        self.seconds[law] += time.monotonic() - began
        if done.returncode == -signal.SIGXCPU:
            raise Broken(law, f"contend {' '.join(words)} takes more than {SECONDS} s of a processor")
        said = done.stderr + done.stdout[:2000]
        if done.returncode < 0 or done.returncode >= 64 or any(word in said for word in MEMORY_FAULTS):
            raise Broken(law, f"contend {' '.join(words)} ends with {done.returncode}: {done.stderr.strip()[-600:]}")
        return done

    def prepare(self, scenario):
        for each in list(self.folder.iterdir()):
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        write(scenario, self.folder)

    def refusal(self, scenario):
        """Why `contend check` refuses the scenario; empty if it doesn't."""
        self.prepare(scenario)
        done = self.call(["check", "scenario.yaml"], "check")
        if done.returncode == 0:
            return ""
        if done.returncode != 3 or not done.stderr.strip():
            raise Broken("check", f"ends with {done.returncode}: {done.stderr.strip()[-600:]}")
        return done.stderr.strip()

    def run_all_ways(self, scenario):
        """Runs the scenario in all ways, whose results must be equal. Returns the results and output of the first way."""
        first = None
        for way, options in WAYS:
            quiet = [] if way == "plain" else ["-q"]
            done = self.call(["run", "scenario.yaml", "-o", way, *quiet, *CERTIFIED, *options], f"run {way}")
            if done.returncode == 3 and IN_VAIN in done.stderr:
                raise Unfit
            if done.returncode not in ALLOWED_CODES:
                raise Broken("run", f"{way}: ends with {done.returncode}: {done.stderr.strip()[-600:]}")
            if first is None:
                first, code, printed = reader.Results(self.folder / way), done.returncode, done.stdout
                replica = first.manifest["replicas"][0]
                if replica["events"] + replica["leapt_events"] > EVENTS:
                    raise Unfit
                continue
            if done.returncode != code:
                raise Broken("exit codes", f"{code} plain, {done.returncode} {way}")
            self.compare(way)
        return first, code, printed

    def compare(self, way):
        plain, other = self.folder / "plain", self.folder / way
        manifests = [json.loads((each / "manifest.json").read_text(encoding="utf-8")) for each in (plain, other)]
        one, two = (each["replicas"][0] for each in manifests)
        if one["digest"] != two["digest"]:
            raise Broken(f"equal {way}", f"digests {one['digest']} and {two['digest']}{self.difference(plain, other)}")
        for name in reader.FILES:
            texts = [(each / name).read_bytes() if (each / name).exists() else b"" for each in (plain, other)]
            texts = features.comparable(name, way, texts)
            if texts[0] != texts[1]:
                raise Broken(f"equal {way}", f"{name} differs{self.difference(plain, other, name)}")
        if way == "again" and {**one, "wall_s": 0} != {**two, "wall_s": 0}:
            raise Broken(f"equal {way}", f"manifests {one} and {two}")
        if way != "timeline" and one["events"] + one["leapt_events"] != two["events"] + two["leapt_events"]:
            raise Broken("events", f"{one['events']} + {one['leapt_events']} plain, {two['events']} + "
                                   f"{two['leapt_events']} {way}")

    def run_variants(self, scenario, found, code):
        """Runs the variants of the scenario, in which jobs must run as before. Returns the names of the variants."""
        ran = set()
        for name, other in variants.of(scenario):
            folder = name.replace(" ", "-")
            write(other, self.folder / folder)
            done = self.call(["run", f"{folder}/scenario.yaml", "-o", f"{folder}/results", "-q"], "run variant")
            if done.returncode != code:
                raise Broken(name, f"{code} plain, then {done.returncode}: {done.stderr.strip()[-600:]}")
            others = reader.Results(self.folder / folder / "results").jobs
            for text in variants.differences(found.jobs, others, variants.UNEQUAL.get(name, ())):
                raise Broken(name, text)
            ran.add(name)
        return ran

    @staticmethod
    def difference(plain, other, name="jobs.csv"):
        """The first line in which two files differ, column by column if they are tables."""
        paths = [each / name for each in (plain, other) if (each / name).exists()]
        texts = [path.read_text(encoding="utf-8").splitlines() for path in paths]
        if len(texts) < 2:
            return "; one of the two is missing"
        for one, two in zip(*texts):
            if one != two:
                fields = zip(texts[0][0].split(","), one.split(","), two.split(","))
                pairs = [f"{column} {a} / {b}" for column, a, b in fields if a != b]
                return f"; {one.split(',')[0]}: {', '.join(pairs[:6])}"
        return ""

    def explanations(self, scenario, found, jobs):
        """Explains the job with the most starts and one by lot; of every fifth seed all jobs."""
        if scenario.seed % 5 == 0:
            told = [self.explanation(scenario, jobs, job, found) for job in jobs]
            for text in timeline_laws.together(scenario, jobs, told):
                raise Broken("explain", text)
            return
        ranked = sorted(jobs, key=lambda job: (-job.row.count("restarts"), job.number))
        chosen = {job.number: job for job in (ranked[0], jobs[scenario.seed % len(jobs)])}
        for job in chosen.values():
            self.explanation(scenario, jobs, job, found)

    def explanation(self, scenario, jobs, job, found):
        """What `contend explain` tells of a job, which keeps the laws, and when the run ends."""
        done = self.call(["explain", "plain", job.name, "--json", "--waits"], "explain")
        if done.returncode != 0 or "other results" in done.stderr:
            raise Broken("explain", f"{job.name}: ends with {done.returncode}: {done.stderr.strip()[-400:]}")
        told = {**json.loads(done.stdout, parse_float=str), "end": found.end}
        for text in timeline_laws.explained(scenario, job, told):
            raise Broken("explain", text)
        for text in timeline_laws.reserved(scenario, jobs, job, told):
            raise Broken("reserved", text)
        return told

    @staticmethod
    def all_broken(scenario, found, timeline):
        """Yields what breaks laws, as (law, text); without all jobs only the first law means anything."""
        jobs = reader.jobs_of(scenario, found)
        if missing := list(row_laws.everybody(scenario, found, jobs)):
            yield "everybody", missing[0]
            return
        for law in row_laws.ROW_LAWS + summary_laws.SUMMARY_LAWS:
            yield from ((law.__name__, text) for text in law(scenario, found, jobs))
        for law in timeline_laws.TIMELINE_LAWS:
            yield from ((law.__name__, text) for text in law(scenario, found, jobs, timeline))

    @staticmethod
    def is_broken(check):
        """Whether a check finds a broken law."""
        try:
            check()
        except Broken:
            return True
        return False

    def judge(self, scenario):
        """Runs and judges a scenario that check accepts. Returns the features that it met; throws Broken."""
        self.prepare(scenario)
        found, code, printed = self.run_all_ways(scenario)
        began = time.monotonic()
        for way in ("plain", "no-leap"):
            for text in (text for check in contend_check.check_folder(self.folder / way) for text in check.wrong):
                raise Broken("certificate", text)
        timeline = timeline_laws.Timeline(self.folder / "timeline.json", found)
        for broken in self.all_broken(scenario, found, timeline):
            raise Broken(*broken)
        self.seconds["laws"] += time.monotonic() - began
        for text in summary_laws.printed(found, printed):
            raise Broken("printed", text)
        finished, all_jobs = found.figure("finished"), found.figure("jobs")
        if (code == 0) != (finished == all_jobs):
            raise Broken("exit code", f"{code}, though {finished:g} of {all_jobs:g} jobs finished")
        jobs = reader.jobs_of(scenario, found)
        self.explanations(scenario, found, jobs)
        return features.met(scenario, found, jobs) | self.run_variants(scenario, found, code)


class Search:
    """Draws, runs and judges one scenario after the other, and counts."""

    def __init__(self, judge, catalogue, left_out):
        self.judge, self.catalogue, self.left_out = judge, catalogue, left_out
        self.refusals, self.met, self.unfit = [], collections.Counter(), 0

    def try_seed(self, seed):
        """Judges the first scenario of this seed that check accepts and that isn't unfit. Returns (scenario, Broken)
        if it breaks a law."""
        for attempt in range(ATTEMPTS):
            scenario = draw.draw(seed, attempt, self.catalogue, self.left_out)
            try:
                reason = self.judge.refusal(scenario)
                if not reason:
                    self.met.update(self.judge.judge(scenario))
                    return None
                self.refusals.append((seed, attempt, reason))
            except Unfit:
                self.unfit += 1
            except Broken as broken:
                return scenario, broken
        return scenario, Broken("drawing", f"check refused {ATTEMPTS} draws; the last: {self.refusals[-1][2]}")


def smaller(scenario):
    """Scenarios with something less, the boldest first: without jobs, keys, rows of other tables, columns of jobs."""
    jobs = scenario.tables.get("jobs.csv", [])
    size = len(jobs) // 2
    while size >= 1:
        for at in range(0, len(jobs), size):
            less = copy.deepcopy(scenario)
            gone = {row["job_id"] for row in jobs[at:at + size]}
            less.tables["jobs.csv"] = [row for row in less.tables["jobs.csv"] if row["job_id"] not in gone]
            for row in less.tables["jobs.csv"]:
                after = [name for name in row.get("after", "").split(";") if name and name not in gone]
                row.update({"after": ";".join(after), "think_s": row.get("think_s", "") if after else ""}
                           if "after" in row else {})
            if less.tables["jobs.csv"]:
                yield less
        size //= 2

    def paths(spec, above=()):
        for name, value in spec.items():
            yield (*above, name)
            if isinstance(value, dict):
                yield from paths(value, (*above, name))
    for path in sorted(paths(scenario.spec), key=len):
        if path[0] in ("schema_version", "name", "seed", "engine") or path == ("workload",):
            continue
        less = copy.deepcopy(scenario)
        at = less.spec
        for name in path[:-1]:
            at = at[name]
        del at[path[-1]]
        yield less
    for name, rows in scenario.tables.items():
        if name != "jobs.csv":
            for at in range(len(rows) if len(rows) <= 12 else 0):
                less = copy.deepcopy(scenario)
                del less.tables[name][at]
                yield less
    for column in dict.fromkeys(column for row in jobs for column in row):
        if column not in ("job_id", "submit_s", "gpus"):
            less = copy.deepcopy(scenario)
            for row in less.tables["jobs.csv"]:
                row.pop(column, None)
            yield less


def shrunk(judge, scenario, law, seconds):
    """The smallest scenario found that breaks the same law, in at most so many seconds, and the broken law."""
    ends, text, found = time.monotonic() + seconds, None, True
    while found and time.monotonic() < ends:
        found = False
        for less in smaller(scenario):
            if time.monotonic() > ends:
                break
            try:
                if not judge.refusal(less):
                    judge.judge(less)
            except Broken as broken:
                if broken.law == law:
                    scenario, text, found = less, str(broken), True
                    break
            except (Unfit, KeyError, IndexError, TypeError, ValueError):
                continue  # the checkers need what was left out
    return scenario, text


def report(judge, scenario, broken, keep, seconds):
    """Says which law a scenario breaks, and writes it, and what became of it, to a folder."""
    folder = keep / f"seed-{scenario.seed}"
    write(scenario, folder)
    less, text = shrunk(judge, scenario, broken.law, seconds)
    print(f"seed {scenario.seed} breaks a law\n  {broken}\n  scenario: {folder}/scenario.yaml", flush=True)
    print(f"  repeat: {sys.argv[0]} {judge.program} --seed {scenario.seed} --count 1")
    if text:
        write(less, folder / "smaller")
        print(f"  smaller: {folder}/smaller/scenario.yaml: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1001, help="the first seed; from 1001 on 50 seeds meet every feature")
    parser.add_argument("--count", type=int, help="scenarios")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for scenarios that break a law")
    parser.add_argument("--shrink", type=float, default=20, help="seconds to make such a scenario smaller")
    parser.add_argument("--with-faults", nargs="*", default=[], metavar="NAME", choices=list(draw.KNOWN_FAULTS),
                        help="also draw what would meet these known faults, which are listed in draw.py")
    parser.add_argument("--refusals", action="store_true", help="print what check refused")
    parser.add_argument("--max-failures", type=int, default=5)
    chosen = parser.parse_args()
    count = chosen.count or COUNT * max(1, int(os.environ.get("CONTEND_EFFORT") or 1))
    keep = chosen.keep or pathlib.Path("build/properties")
    left_out = frozenset(draw.KNOWN_FAULTS) - set(chosen.with_faults)
    listed = subprocess.run([chosen.program, "list", "policies", "--json"], capture_output=True, text=True, check=True)
    catalogue = draw.read_catalogue(json.loads(listed.stdout))
    failures = 0
    with tempfile.TemporaryDirectory(prefix="contend-properties-") as folder:
        judge = Judge(chosen.program, pathlib.Path(folder))
        for text in falsify.faults_of_checkers(judge):
            print(f"the checkers: {text}")
            failures += 1
        search = Search(judge, catalogue, left_out)
        for seed in range(chosen.seed, chosen.seed + count):
            if found := search.try_seed(seed):
                failures += 1
                report(judge, *found, keep, chosen.shrink)
                if failures >= chosen.max_failures:
                    break
    share = len(search.refusals) / (len(search.refusals) + count)
    print(f"{count} scenarios; {len(search.refusals)} draws ({share:.0%}) refused by check, {search.unfit} too large "
          "or in vain. Each feature in so many scenarios:")
    print("  " + ", ".join(f"{name} {number}" for name, number in sorted(search.met.items())))
    if chosen.refusals:
        for seed, attempt, reason in search.refusals:
            print(f"refused {seed}/{attempt}: {reason}")
    spent = ", ".join(f"{name} {seconds:.1f}" for name, seconds in judge.seconds.most_common())
    print(f"seconds: {spent}")
    if count >= COUNT and failures < chosen.max_failures:
        never = features.expected(catalogue, count) - set(search.met)
        if never:
            failures += 1
            print(f"features that no scenario met: {', '.join(sorted(never))}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
