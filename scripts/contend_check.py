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
ROUNDING = 1e-7  # of rates
MOST_SHOWN = 20  # disagreements of a folder
FILES = ("certificate.csv", "transfers.csv", "jobs.csv", "gpus.csv", "links.csv", "summary.json", "scenario.yaml")
GUARD = re.compile(r"'(?='*[=+@\t\r\n-])")  # the apostrophe before texts that a spreadsheet would run
# Columns of a job list that say which places a job can have.
DEMAND = ("gpu_type", "gpu_memory", "gpu_share", "cpus", "host_memory", "vc", "place", "priority", "user")
# The columns of jobs.csv that are looked at: a million jobs have to fit the memory.
LOOKED_AT = set("""replica job_id model state gpus servers iterations iterations_done preemptions submit_s start_s
    finish_s queueing_s jct_s compute_gpu_s communication_s contended_s outcome held_s waited_s overhead_s lost_gpu_s
    interruptions covered_failures away_s restart_s redone_s measured restarts rho mean_gpus resizes""".split())
# Keys of the scenario, each with the value that changes nothing.
USUAL = dict(word.split("=") for word in """scheduling.sharing.law=none loans.servers=0 failures.preset=none
    failures.components=[] failures.spares=0 failures.cold_spares=0 workload.scaling.rate=1 workload.scaling.durations=1
    workload.scaling.subset=1 workload.scaling.bootstrap=false workload.think_time=none workload.resample.block=none
    workload.scatter_penalty=[] checkpoints.policy=continuous checkpoints.restart_cost=0s checkpoints.start_up.mean=0s
    scheduling.retries.failed.times=recorded scheduling.quantum=0s scheduling.kill_at_limit=false
    scheduling.ties=submission cluster.vcs=[] cluster.types=[] measure.from=0s measure.until=none
    network.interference= network.interference.network=0 policies.scheduling.use_limit=true
    policies.scheduling.migrate=false policies.scheduling.preemptive=false policies.scheduling.rewalk=false""".split())
WAITS, RUNS, AWAY, ENDED, REJECTED = "waits", "runs", "is away from its GPUs", "has ended", "was rejected"
# Events: the states of the job in which each may come, and the state after it.
STEPS = {"arrives": ((None,), WAITS), "queues": ((AWAY,), WAITS), "promised": ((WAITS,), WAITS),
         "starts": ((WAITS, AWAY), RUNS), "adapts": ((RUNS,), RUNS), "preempted": ((RUNS,), AWAY),
         "resized": ((RUNS,), AWAY), "interrupted": ((RUNS,), AWAY), "fails": ((RUNS,), AWAY), "ends": ((RUNS,), ENDED),
         "rejected": ((None, WAITS), REJECTED)}
# The states of jobs.csv in which the log may leave a job.
STATES = {None: ("submitted",), RUNS: ("running",), WAITS: ("queued", "preempted"), AWAY: ("queued", "given_up"),
          ENDED: ("finished",), REJECTED: ("failed",)}


def ns(text):
    """Seconds as whole nanoseconds; None of an empty field."""
    if not text:
        return None
    if text.isdigit():
        return int(text) * SECOND
    whole, _, part = text.removeprefix("-").partition(".")
    if not (whole + part).isdigit() or len(part) > 9:
        raise ValueError(f"'{text}' is no number of seconds")
    size = int(whole or 0) * SECOND + int(part.ljust(9, "0"))
    return -size if text[0] == "-" else size


def shown(time):
    """Nanoseconds as seconds, without trailing zeros."""
    if time is None:
        return "nothing"
    whole, part = divmod(abs(time), SECOND)
    return f"{'-' if time < 0 else ''}{whole}.{part:09d}".rstrip("0").rstrip(".") + " s"


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
                raise ValueError(f"{path}:{line}: {len(fields)} fields, the header has {len(columns)}")
            row = {column: field[1:] if field[:1] == "'" and GUARD.match(field) else field
                   for column, field in zip(columns, fields) if looked_at is None or column in looked_at}
            row["line"] = line
            if fields and row.get("replica", seed) == seed:
                yield row
            line = reader.line_num + 1


def read_keys(text):
    """The keys of a scenario that the program wrote, as paths with dots: their texts. Entries of lists share a path."""
    keys, above = {"": text}, []
    for blanks, dashes, name, value in re.findall(r"^( *)((?:- )*)([^ :{\[\"'\n-][^:\n]*): ?(.*)$", text, re.MULTILINE):
        indent = len(blanks) + len(dashes)
        above = [each for each in above if each[0] < indent] + [(indent, name)]
        path = ".".join(each for _, each in above)
        keys[path] = f"{keys[path]} {value}" if path in keys else value
        for inner, its in re.findall(r"([a-z_]+): ([^,}]+)", value if value[:1] == "{" else ""):
            keys[f"{path}.{inner}"] = its
    return keys


def numbers(text):
    """The GPUs of ranges such as 0-3 8."""
    ranges = (part.partition("-") for part in text.split())
    return [gpu for first, _, last in ranges for gpu in range(int(first), int(last or first) + 1)]


def words(text):
    """Words such as lane=links, as a map."""
    return dict(word.split("=") for word in text.split())


class Attempt:
    """A time for which a job had its GPUs. The place promised to it is a time and a line, or None."""

    def __init__(self, name, line, begin, gpus, pause, promise):
        self.name, self.line, self.begin, self.gpus, self.pause, self.promise = name, line, begin, gpus, pause, promise
        self.end = self.how = None

    length = property(lambda self: self.end - self.begin)


class Life:
    """What the log says of one job that has this row in jobs.csv and this one in the job list."""

    def __init__(self, job, given):
        self.name, self.job, self.given, self.attempts = job["job_id"], job, given, []
        self.state = self.since = self.promise = self.begin = self.asked = self.ended = None
        self.waited = self.away = self.serves = self.line = 0  # it arrives at `begin` in `line`
        self.causes = collections.Counter()  # why it lost its GPUs

    held = property(lambda self: sum(each.length for each in self.attempts))
    gpu_time = property(lambda self: sum(each.length * len(each.gpus) for each in self.attempts))
    paused = property(lambda self: sum(min(each.pause, each.length) for each in self.attempts))
    # By jobs.csv: the time on GPUs, and its parts.
    times = property(lambda self: [ns(self.job[f"{name}_s"]) for name in ("held", "overhead", "redone", "restart")])
    # Jobs that ask alike can have places alike.
    asks = property(lambda self: (self.job["gpus"], self.job["model"], *(self.given.get(name, "") for name in DEMAND)))
    is_elastic = property(lambda self: self.serves or bool(
        self.job["mean_gpus"] or self.given.get("min_gpus") or self.given.get("max_gpus")))

    # Thousandths of a GPU that it has; None of a job of iterations, which shares as memory allows, and without a list.
    share = property(lambda self: round(1000 * float(self.given.get("gpu_share") or 1)) if (
        self.asked is not None and self.given) else None)

    def step(self, now, event, row):
        """Takes the job from one state to the next; returns the fault in that, or nothing."""
        allowed, after = STEPS[event]
        before, seconds, last = self.state, ns(row["seconds"]), self.attempts[-1] if self.attempts else None
        wrong = "" if before in allowed else f"{event}, but it {before or 'has not arrived'}"
        if before == RUNS and event != "adapts" and last:
            last.end, last.how = now, event
            self.causes[event] += 1
        self.waited += now - self.since if before == WAITS and after != WAITS else 0
        self.away += now - self.since if before == AWAY and event == "queues" else 0
        if event in ("arrives", "rejected") and self.begin is None:
            self.begin, self.asked, self.line, self.serves = now, seconds, row["line"], row["text"] == "serves"
        elif event == "starts":
            gpus = numbers(row["gpus"])
            if before == AWAY and not (last and last.how == "resized" and last.end == now):
                wrong = f"starts, but it {before}"
            wrong = wrong or ("" if gpus else "starts on no GPU")
            self.attempts.append(Attempt(self.name, row["line"], now, gpus, seconds or 0, self.promise))
        elif event == "promised":
            wrong = wrong or ("" if seconds >= now else f"is promised a place in the past, at {shown(seconds)}")
            self.promise = self.promise or (seconds, row["line"])
        if after == ENDED:
            self.ended = now
        if after != before:
            self.state, self.since = after, now
            self.promise = None if after == WAITS else self.promise
        return wrong


# What policies order jobs by.
RANKS = {"fifo": lambda life, now: life.begin, "sjf": lambda life, now: life.asked, "srtf": lambda life, now: life.asked
         - sum(max(0, each.length - each.pause) for each in life.attempts if each.end <= now)}


class Check:
    """The checks of one replica of a folder."""

    def __init__(self, folder, keys, figures, listed):
        self.folder, self.keys, self.figures, self.listed, self.seed = folder, keys, figures, listed, figures["seed"]
        self.wrong, self.counts, self.unchecked, self.held = [], collections.Counter(), {}, collections.Counter()
        self.jobs = list(table(folder / "jobs.csv", self.seed, LOOKED_AT))
        self.gpus, self.links = (list(table(folder / f"{name}.csv", self.seed)) for name in ("gpus", "links"))
        self.lives = {row["job_id"]: Life(row, listed.get(row["job_id"], {})) for row in self.jobs}
        self.end, is_set = ns(figures["end_s"]), self.is_set
        self.policy = keys.get("policies.scheduling.policy", keys.get("policies.scheduling", ""))
        self.sharing = is_set("scheduling.sharing.law")
        self.fails = is_set("loans.servers", *(path for path in keys if path.startswith("failures.")))
        self.scaled = is_set(*(path for path in USUAL if re.match(r"workload\.(scaling|think|resample)", path)))
        # Preemptions undo nothing, and time on GPUs is work but for restarts.
        self.saves_all = not (is_set("checkpoints.policy") or self.fails or self.sharing)
        self.repeats = is_set("scheduling.retries.failed.times")
        # The time of any job may be another than its work.
        self.paces = (any(f"workload.{name}" in keys for name in ("rates", "goodput", "throughputs")) or self.sharing
                      or self.fails or self.repeats or is_set("workload.scatter_penalty")
                      or re.search(r"\bspeed: (?!1\b(?!\.))|power:\s*\{?[^}]*\blimit: \d", keys[""]))

    def is_set(self, *paths):
        """Whether one of these keys has a value that changes something."""
        return any(self.keys.get(path, USUAL.get(path)) != USUAL.get(path) for path in paths)

    # -- reports

    def say(self, file, line, job, now, text):
        what = (f" job {job}" if job else "") + (f" at {shown(now)}" if now is not None else "")
        self.wrong.append(f"{self.folder}/{file}{f':{line}' if line else ''}:{what}: {text}")

    def log(self, begins, text):
        """A disagreement with the begin of an attempt or a life."""
        self.say("certificate.csv", begins.line, begins.name, begins.begin, text)

    def row(self, row, text, file="jobs.csv"):
        self.say(file, row.get("line"), row.get("job_id"), None, text)

    def skips(self, what, why, is_so=True):
        """Notes what can't be checked, and why, if that is so; returns whether it is."""
        if is_so:
            self.unchecked.setdefault(what, why)
        return is_so

    def equal(self, row, column, wanted, read=ns, file="jobs.csv"):
        """A field must be what follows: times and whole numbers exactly, other numbers but for rounding."""
        text = row.get(column)
        found = read(text) if text else None
        self.counts["figures"] += 1
        if found == wanted:
            return
        if read is not float:
            self.row(row, f"{column} is '{text}', the log gives {shown(wanted) if read is ns else wanted}", file)
        elif None in (found, wanted) or not math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9):
            self.row(row, f"{column} is {found}, the rows give {wanted}", file)

    # -- the laws of the log

    def read_log(self):
        """Follows each job through its states; a row that has no place there is a disagreement."""
        name, last, over = "certificate.csv", 0, None
        for row in table(self.folder / name, self.seed):
            now, event, life, wrong = ns(row["time_s"]), row["event"], self.lives.get(row["job_id"]), ""
            self.counts["rows of the log"] += 1
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
                last, wrong = now, life.step(now, event, row)
            if wrong:
                self.say(name, row["line"], row["job_id"], now, wrong)
        if over is None:
            self.say(name, 0, "", last, "the log has no row for the end of the run")
        for life in self.lives.values():
            if life.state == RUNS:
                life.attempts[-1].end = self.end
            life.waited += self.end - life.since if life.state == WAITS else 0

    def arrivals(self):
        """Jobs arrive at the times of the job list, and ask for the work and the GPUs that it names."""
        why = ("workload.scaling, think_time or resample changes them" if self.listed else
               "the jobs were drawn, or the list isn't there")
        if self.skips("arrivals and work against the job list", why, self.scaled or not self.listed):
            return
        for life in self.lives.values():
            given, submit = life.given, ns(life.given.get("submit_s"))
            self.counts["arrivals"] += 1
            if not given:
                self.row(life.job, "the job list has no such job")
            elif given.get("gpus") and int(given["gpus"]) != int(life.job["gpus"]):
                self.row(life.job, f"gpus is {life.job['gpus']}, the job list says {given['gpus']}")
            if submit not in (None, life.begin) and not given.get("after") and (
                    life.begin is not None or submit < self.end):
                self.log(life, f"arrives, the job list says {shown(submit)}")
            if given.get("duration_s") and life.asked is not None and not self.repeats:
                asked = ns(given["duration_s"]) + sum(map(ns, filter(None, given.get("attempts_s", "").split(";"))))
                if life.asked != asked:
                    self.log(life, f"asks for {shown(life.asked)}, the list for {shown(asked)}")

    def gangs(self):
        """Each start has as many GPUs as the gang, different ones, that exist."""
        exist = {int(row["gpu"]) for row in self.gpus}
        for life, gang in ((each, int(each.job["gpus"])) for each in self.lives.values()):
            least, most = (int(life.given.get(key) or gang) for key in ("min_gpus", "max_gpus"))
            for each in life.attempts:
                self.counts["starts"] += 1
                count, strange = len(each.gpus), set(each.gpus) - exist
                if len(set(each.gpus)) != count:
                    self.log(each, f"has a GPU twice: {' '.join(map(str, each.gpus))}")
                if strange:
                    self.log(each, f"starts on GPU {min(strange)}, which gpus.csv doesn't have")
                if count != gang and not (
                        life.is_elastic and (life.serves or not self.listed or least <= count <= most)):
                    self.log(each, f"starts on {count} GPUs, its gang has {gang}")

    def one_holder(self):
        """No GPU is given twice, but to jobs that may share it. Sums up for how long each has been given."""
        most = int(self.keys.get("scheduling.sharing.most", 2)) if self.sharing else 1
        edges = sorted(((at, begins, gpu, life, each) for life in self.lives.values() for each in life.attempts
                        if each.length > 0 for gpu in each.gpus
                        for at, begins in ((each.begin, 1), (each.end, 0))), key=lambda edge: edge[:2])
        holds = collections.defaultdict(dict)
        for now, begins, gpu, life, each in edges:
            on, was_held = holds[gpu], bool(holds[gpu])
            if begins:
                on[life.name] = life.share
                self.counts["GPUs given"] += 1
                timed = [share for share in on.values() if share is not None]
                if timed and len(timed) < len(on) or sum(timed) > 1000 and len(timed) > most:
                    self.log(each, f"gets GPU {gpu}, which {min(set(on) - {life.name})} has")
            else:
                on.pop(life.name, None)
            self.held[gpu] += now * (was_held - bool(on))  # from the first holder to the last

    def promises(self):
        """EASY and conservative backfilling start no job later than they promised first, if estimates hold."""
        plans = self.policy in ("easy", "conservative")
        if not plans or self.skips("promises of backfilling", why := self.why_unforeseen(), why != ""):
            return
        for each in (each for life in self.lives.values() for each in life.attempts if each.promise):
            self.counts["promises"] += 1
            latest, line = each.promise
            if each.begin > latest:
                self.log(each, f"starts, line {line} promises {shown(latest)}")

    def why_unforeseen(self):
        """Why a plan may not hold; empty if estimates are never too short."""
        if not self.listed or not self.saves_all or self.scaled:
            return "jobs were drawn, or failures, checkpoints, sharing or scaling change how long they take"
        for path in ("checkpoints.restart_cost", "checkpoints.start_up.mean", "scheduling.quantum",
                     "workload.scatter_penalty", "measure.from"):
            if self.is_set(path):
                return f"{path} is {self.keys[path]}"
        for life in self.lives.values():
            given, limit = life.given, ns(life.given.get("limit_s"))
            if life.asked is None or any(map(given.get, ("attempts_s", "outcome", "batch_rule", "place", "min_gpus"))):
                return "jobs take other times than policies know"
            limit = limit if not self.is_set("policies.scheduling.use_limit") else None
            if limit and limit < life.asked and not self.is_set("scheduling.kill_at_limit") or (
                    not limit and float(self.keys.get("policies.scheduling.estimate_factor", 1)) < 1):
                return "estimates are too short"
        return ""

    def orders(self):
        """FIFO, SJF and SRTF: no job starts while one waits that comes before it and asks alike, or any if strict."""
        name, lives = self.policy, [life for life in self.lives.values() if life.begin is not None]
        if name not in RANKS:
            return
        alters = any(life.causes["fails"] or life.is_elastic or life.given.get("place") or life.given.get("batch_rule")
                     for life in lives) or self.is_set("cluster.vcs", "cluster.types") or not self.saves_all
        paced = name != "fifo" and (self.is_set("workload.scatter_penalty") or any(
            life.asked is None or life.given.get("attempts_s") for life in lives))
        if self.skips(f"the order of {name}", "failures, attempts, types, virtual clusters, places or iterations make "
                      "orders of their own", alters or paced):
            return
        usual, moves = "true" if name == "fifo" else "false", ("migrate", "preemptive", "rewalk")
        is_strict = self.keys.get("policies.scheduling.strict", usual) == "true" and not self.is_set(
            *(f"policies.scheduling.{key}" for key in moves))
        compared = 2 if name == "fifo" and not self.is_set("scheduling.ties") else 1  # the second one is the submission
        changes = []  # in an instant jobs begin to wait (0), those that start leave the queue (1), and start (2)
        for at, life in enumerate(lives):
            waits = [life.begin, *(each.end for each in life.attempts)]
            changes += [(since, 0, at, None) for since in (waits if life.state == WAITS else waits[:-1])]
            changes += [(each.begin, step, at, each) for each in life.attempts for step in (1, 2)]
        waiting, own, heaps = {}, {}, collections.defaultdict(list)
        for now, step, at, each in sorted(changes, key=lambda change: change[:2]):
            heap = heaps[() if is_strict else lives[at].asks]
            if step == 0:
                waiting[at] = RANKS[name](lives[at], now)
                heapq.heappush(heap, (waiting[at], at))
            elif step == 1:
                own[each] = waiting.pop(at, None)
            else:
                self.counts["starts in order"] += 1
                while heap and waiting.get(heap[0][1]) != heap[0][0]:
                    heapq.heappop(heap)
                if heap and own[each] is not None and heap[0][:compared] < (own[each], at)[:compared]:
                    self.log(each, f"starts with {shown(own[each])}, and {lives[heap[0][1]].name} with "
                             f"{shown(heap[0][0])} waits, by {name}")

    # -- the results

    def rows_of_jobs(self):
        """jobs.csv has what the log gives."""
        server = {int(row["gpu"]): row["server"] for row in self.gpus}
        for life in self.lives.values():
            row, arrived, starts, causes = life.job, life.begin or 0, life.attempts, life.causes
            times = {"start_s": starts[0].begin if starts else None, "held_s": life.held, "waited_s": life.waited,
                     "jct_s": None if life.ended is None else life.ended - arrived,
                     "queueing_s": starts[0].begin - arrived if starts else None, "away_s": life.away}
            if row["state"] == "given_up" and row["finish_s"]:
                times["away_s"] += ns(row["finish_s"]) - life.since
            else:
                times["finish_s"] = life.ended
            if life.begin is not None:
                times["submit_s"] = life.begin
            counts = {"preemptions": causes["preempted"], "interruptions": causes["interrupted"],
                      "resizes": causes["resized"], "restarts": max(0, len(starts) - 1),
                      "servers": len({server.get(gpu) for gpu in starts[-1].gpus}) if starts else None}
            for read, figures in ((ns, times), (int, counts)):
                for column, wanted in figures.items():
                    self.equal(row, column, wanted, read)
            if row["state"] not in STATES[life.state]:
                self.row(row, f"state is {row['state']}, by the log it {life.state or 'never arrived'}")
            if row["mean_gpus"] and life.held:
                self.equal(row, "mean_gpus", life.gpu_time / life.held, float)
            self.work(life, row)

    def work(self, life, row):
        """Time on GPUs is work, what was undone, checkpoints and restarts; a job that finished has done its work."""
        (held, overhead, redone, restart), paused = life.times, life.paused
        for part, name, whole in ((restart, "restart_s", overhead), (overhead + redone, "overhead_s + redone_s", held)):
            if not 0 <= part <= whole:
                self.row(row, f"{name} is {shown(part)} of {shown(whole)}")
        succeeds = row["outcome"] not in ("failed", "timeout")
        if self.saves_all:
            self.equal(row, "overhead_s", paused)
            self.equal(row, "restart_s", paused)
            if life.asked is not None and not life.causes["fails"] and succeeds:
                self.equal(row, "redone_s", 0)
        elif restart > paused:
            self.row(row, f"restart_s is {shown(restart)}, the pauses of the log add up to {shown(paused)}")
        if row["state"] != "finished" or not succeeds:
            return
        iterates = not life.serves and (life.asked is None or life.given.get("iterations"))
        if iterates and row["iterations_done"] != row["iterations"]:
            self.row(row, f"finished with {row['iterations_done']} of {row['iterations']} iterations")
        if life.asked is None or self.skips(
                "the work of some jobs with durations",
                "types, places, other jobs, numbers of GPUs, failures or repeated attempts change how long it takes",
                self.paces or life.is_elastic or life.given.get("batch_rule")):
            return
        self.counts["amounts of work"] += 1
        if held - overhead - redone != life.asked:
            self.row(row, f"held_s - overhead_s - redone_s is {shown(held - overhead - redone)}, its work is "
                     f"{shown(life.asked)}")
        self.equal(row, "compute_gpu_s", life.asked * int(row["gpus"]))

    def rows_of_gpus(self):
        """busy_s and jobs of each GPU; none has more than the time of the run, of which nothing is lost."""
        lives, parts = self.lives.values(), collections.Counter()
        placed = collections.Counter(gpu for life in lives for each in life.attempts for gpu in each.gpus)
        covers = any(int(life.job["covered_failures"] or 0) for life in lives)
        whole = not covers and not self.sharing and all(life.share == 1000 for life in lives if life.attempts)
        for row in self.gpus:
            gpu, busy, down = int(row["gpu"]), ns(row["busy_s"]), ns(row["down_s"])
            held = self.held[gpu]
            had = f"jobs had it for {shown(held)}"
            self.equal(row, "jobs", placed[gpu], int, "gpus.csv")
            if whole:
                self.equal(row, "busy_s", held, file="gpus.csv")
            elif busy > held:
                self.row(row, f"busy_s is {shown(busy)}, {had}", "gpus.csv")
            if not covers and (down < 0 or down + held > self.end):
                self.row(row, f"down_s is {shown(down)}, and {had} of a run of {shown(self.end)}", "gpus.csv")
            parts["idle"] += self.end - held
        if self.skips("busy_s of GPUs to the nanosecond, and the sum of all GPU time",
                      "jobs of iterations or parts of GPUs compute for a part of their time on GPUs", not whole):
            return
        for life in lives:
            (held, overhead, redone, restart), width = life.times, len(life.attempts[0].gpus) if life.attempts else 0
            parts.update({"of jobs that change": life.gpu_time} if life.is_elastic else {
                "useful": (held - overhead - redone) * width, "undone": redone * width,
                "checkpoints": (overhead - restart) * width, "restarts": restart * width})
        self.counts["sums of GPU time"] += 1
        if sum(parts.values()) != self.end * len(self.gpus):
            told = ", ".join(f"{name} {shown(value)}" for name, value in parts.items())
            self.row({}, f"GPU time: {told} are {shown(sum(parts.values()))}, all GPUs have "
                     f"{shown(self.end * len(self.gpus))}")

    def summary(self):
        """summary.json has what the rows give."""
        is_window = self.is_set("measure.from", "measure.until")
        for name, wanted in summary_of(self.jobs, self.gpus, self.links, self.end, is_window).items():
            self.equal(self.figures, name, wanted, float, "summary.json")
        for name, ratio in (("avg_jct_s", "jct_by_bound"), ("makespan_s", "makespan_by_bound")):
            if self.figures.get(name) is None or self.figures.get(f"bound_{name}") is None:
                continue
            figure, bound = float(self.figures[name]), float(self.figures[f"bound_{name}"])
            self.equal(self.figures, ratio, figure / bound if bound > 0 else None, float, "summary.json")
            if figure < bound * (1 - 1e-9):
                self.row({}, f"{name} is {figure}, below its bound {bound}", "summary.json")
        self.skips("the length of iterations", "the log has no graphs of them",
                   any(row["transfers"] != "0" for row in self.links))

    def all(self):
        for law in (self.read_log, self.arrivals, self.gangs, self.one_holder, self.promises, self.orders,
                    self.rows_of_jobs, self.rows_of_gpus, self.summary, Traffic(self).run):
            law()
        return self


class Meter:
    """What a job, an interface or a route has had: time in use, time in use by several, transfers and bytes."""
    needed = math.inf  # no sums before this instant are asked for

    def __init__(self):
        self.now, self.users, self.several, self.past = 0, 0, 0, [(0, 0, 0, (0, 0, 0, 0))]

    def last(self, time):
        """The place of the last sums not after an instant."""
        return bisect.bisect_right(self.past, (time, math.inf)) - 1

    def at(self, time):
        """The sums at an instant."""
        now, users, several, (used, shared, count, size) = self.past[
            -1 if self.past[-1][0] <= time else self.last(time)]
        return used + (time - now) * (users > 0), shared + (time - now) * (several > 0), count, size

    def move(self, now, users=0, several=0, count=0, size=0):
        """More or fewer use it from now on. False if this instant was leapt over."""
        is_free, self.now = now >= self.now, max(now, self.now)
        used, shared, counted, sent = self.at(self.now)
        self.users, self.several = self.users + users, self.several + several
        if len(self.past) > 99:
            del self.past[:self.last(min(Meter.needed, self.now))]
        self.past.append((self.now, self.users, self.several, (used, shared, counted + count, sent + size)))
        return is_free

    def repeat(self, begin, end, times):
        """What came after `begin` until `end` comes so often again."""
        sums = (each + (each - before) * times for before, each in zip(self.at(begin), self.at(end)))
        self.now = end + (end - begin) * times
        self.past.append((self.now, self.users, self.several, tuple(sums)))


class Route:
    """What a job sends over the same places: (lane, number) of a link or an interface, each with its share."""

    def __init__(self, row):
        more = words(row["text"])
        self.job, self.lane, self.size = row["job_id"], more["lane"], float(row["bytes"])
        self.alone, self.start_up, self.is_first = float(row["rates"] or 0), ns(row["starts_s"]), "follows" not in more
        self.cap, self.penalty, self.priority = (float(more.get(name, 0)) for name in ("cap", "penalty", "priority"))
        self.message, self.servers, self.most = float(more.get("message", self.size)), numbers(row["servers"]), None
        self.touches = [("inside", self.job, more.get("gpu"))] if self.lane == "inside" else [
            (self.lane, server) for server in self.servers]
        uses = (use.partition(":") for use in row["links"].split())
        self.uses = {("link", int(link)): float(share or 1) for link, _, share in uses}


class Part:
    """Bytes that a transfer moves over the same links."""
    __slots__ = "line route start end how rest first size sent rate since ready slow".split()

    def __init__(self, row, route):
        self.line, self.route, self.how, self.rest = row["line"], route, row["text"], bool(row["bytes"])
        self.start, self.end = ns(row["starts_s"]), ns(row["ends_s"])
        self.size, self.first = float(row["bytes"] or route.size), route.is_first and not self.rest
        self.ready = self.start + (0 if self.rest else route.start_up)
        self.since, self.sent, self.rate, self.slow = self.start, 0, None, False

    def left_for(self, now):
        """The nanoseconds since it began to send at its rate."""
        return max(0, now - max(self.since, self.ready))


class Traffic:
    """The transfers of a run: whether links carry them fairly, and what they add up to."""

    def __init__(self, check):
        self.check, self.routes, self.links, self.events, self.states = check, {}, {}, [], {}
        self.meters, self.on = collections.defaultdict(Meter), collections.defaultdict(dict)
        self.used, self.open = collections.defaultdict(dict), collections.defaultdict(set)  # by job: places, parts
        self.paced = check.fails or check.is_set("network.interference", "network.interference.network")
        tick, unit = re.match(r"([\d.]+) ?(ns|us|ms|s)$", check.keys.get("network.tick", "0s")).groups()
        self.tick = max(1, int(float(tick) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]))
        self.server = {int(row["gpu"]): int(row["server"]) for row in check.gpus}
        self.changes, self.moved, self.is_simple = False, False, True

    def say(self, part, now, text):
        self.check.say("transfers.csv", part.line, part.route.job, now, text)

    def read(self):
        for row in table(self.check.folder / "transfers.csv", self.check.seed):
            event, number, begin, line = row["event"], int(row["number"]), ns(row["starts_s"]), row["line"]
            if event == "link":
                more = words(row["text"])
                factors = [float(each) for each in more.get("factors", "1").split(";")]
                self.links["link", number] = [float(row["rates"]), factors, float(more.get("penalty", 0))]
                self.is_simple = self.is_simple and max(factors) == factors[0] and "-" not in more.get("penalty", "")
            elif event == "route":
                self.routes[number] = Route(row)
            elif event == "changes":
                self.events.append((begin, 0, line, ("link", number), float(row["rates"])))
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
            if each.begin <= part.start and part.end <= each.end:
                if strange := set(part.route.servers) - {self.server.get(gpu) for gpu in each.gpus}:
                    self.say(part, part.start, f"sends on server {min(strange)}, where it has no GPU")
                if part.how == "cancelled" and part.end != each.end:
                    self.say(part, part.end, "a transfer is cancelled, and the job goes on")
                return
        self.say(part, part.start, "sends when it has no GPUs")

    def move(self, part, now, place, *users, **more):
        """More or fewer users of a place of the job."""
        self.used[part.route.job][place] = now
        if not self.meters[place].move(now, *users, **more):
            self.say(part, now, f"uses {place[0]} {place[1]} in a time that was leapt over")

    def starts(self, part, now, _):
        route = part.route
        self.open[route.job].add(part)
        self.move(part, now, ("job", route.job), 1)
        for place in route.touches:
            self.move(part, now, ("server", place[1]), 1, int(len(self.on[place]) == 1), part.first,
                      route.message * part.first)
            self.on[place][part] = None
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
            self.move(part, now, ("job", part.route.job), 0, 1 if slow else -1)

    def ends(self, part, now, _):
        route, rate = part.route, part.rate or 0
        length, left = part.left_for(now), part.size - part.sent
        if not part.how and math.isfinite(rate):
            excess = length - left * SECOND / rate if rate else now - part.ready if not part.size else -math.inf
            rounding = min(0.3, 1e-6 + 1e-10 * (now - part.start))
            if not -rounding <= excess < self.tick + rounding:
                self.say(part, now, f"ends, its {part.size:.12g} bytes take {abs(excess):.9g} ns "
                         f"{'longer' if excess < 0 else 'less'}")
        self.slows(part, now, False)
        self.move(part, now, ("route", id(route)), size=part.sent + length * rate / SECOND if part.how else part.size)
        for place in route.touches:
            self.move(part, now, ("server", place[1]), -1, -int(len(self.on[place]) == 2))
        self.move(part, now, ("job", route.job), -1)
        self.open[route.job].discard(part)
        for place in (touched := [*route.uses, *route.touches]):
            self.on[place].pop(part, None)
        return touched

    def repeat(self, begin, end, times, jobs):
        """These jobs repeat so often what they did; what they send moves behind that."""
        places = {place for job in jobs for place, last in self.used[job].items() if last > begin}
        for part in (part for job in jobs for part in self.open[job]):
            places.update({("job", part.route.job), *(("server", server) for server in part.route.servers)})
            part.since += (end - begin) * times
            part.ready += (end - begin) * times
        for place in places:
            self.meters[place].repeat(begin, end, times)

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
                              route.uses.items()] + [route.cap or math.inf])
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
            if place in self.links and len(self.on[place]) > self.is_simple:
                load, _, capacity = self.state(place)
                if load > capacity * (1 + ROUNDING):
                    self.say(next(iter(self.on[place])), now,
                             f"link {place[1]} carries {load:.9g} of {capacity:.9g} bytes a second")
        for part in {part: None for place in touched for part in self.on[place] if part.rate is not None}:
            route, wrong = part.route, ""
            if route.lane == "links":
                if self.is_simple and part.rate > self.most(route) * (1 + ROUNDING):
                    wrong = f"its links carry {self.most(route):.9g}"
                elif not self.is_limited(part):
                    wrong = "and no link or cap forbids more"
            else:
                ways = max((len(self.on[place]) for place in route.touches), default=1)
                self.slows(part, now, ways > 1 and route.penalty > -1)
                wanted = route.alone / (ways + (ways - 1) * route.penalty)
                may_differ = not route.alone or self.paced and part.rate < wanted
                if not math.isclose(part.rate, wanted, rel_tol=1e-9) and not may_differ:
                    wrong = f"one of {ways} has {wanted:.9g}"
            if wrong:
                self.say(part, now, f"sends {part.rate:.9g} bytes a second, {wrong}")

    def run(self):
        """Goes through all instants, and compares what has been carried with the results."""
        self.read()
        self.events.sort(key=lambda event: event[:3])
        begins = [event[4][0] for event in self.events if event[1] == 4]  # of repetitions, in the order of their ends
        needed = list(itertools.accumulate(reversed(begins), min, initial=math.inf))
        steps = {1: self.starts, 2: self.sends, 3: self.ends}
        for now, group in itertools.groupby(self.events, key=lambda event: event[0]):
            Meter.needed, touched, repeated = needed[-1], {}, collections.defaultdict(list)
            for _, order, _, what, value in group:
                if order == 0:
                    self.links[what][0] = value
                    touched[what] = None
                elif order == 4:
                    repeated[value[:2]].append(value[2])
                else:
                    touched.update(dict.fromkeys(steps[order](what, now, value)))
            self.fair(now, touched)
            for (begin, times), jobs in repeated.items():
                self.repeat(begin, now, times, jobs)
                del needed[-len(jobs):]
        self.results()

    def results(self):
        """jobs.csv, links.csv and fabric.csv have what transfers add up to."""
        check, carried, path = self.check, collections.Counter(), self.check.folder / "fabric.csv"
        if check.skips("sums of transfers over links and jobs", "links change, and transfers wait for routes",
                       self.moved or self.changes):
            return
        for row in check.jobs + check.links:
            file, place, used = ("jobs.csv", ("job", row["job_id"]), "communication_s") if "job_id" in row else (
                "links.csv", ("server", int(row["server"])), "busy_s")
            columns = {used: ns, "contended_s": ns, "transfers": int, "bytes": int}
            for (column, read), wanted in zip(columns.items(), self.meters[place].at(check.end)):
                if row.get(column):
                    check.equal(row, column, int(wanted), read, file)
        for route in self.routes.values():
            size = self.meters["route", id(route)].at(check.end)[3]
            carried.update({place: share * size for place, share in route.uses.items()})
        for number, row in enumerate(table(path, check.seed) if path.exists() else ()):
            check.equal(row, "bytes", carried["link", number], float, "fabric.csv")
            check.equal(row, "bandwidth_Bps", self.links["link", number][0], float, "fabric.csv")


def mean(values):
    return math.fsum(values) / len(values) if values else None


def percentile(values, share):
    """A quantile, interpolated linearly; None of no values."""
    values, place = sorted(values), share * (len(values) - 1)
    near = values[max(0, math.floor(place)):][:2]
    return near[0] + (near[-1] - near[0]) * (place % 1) if near else None


def seconds(rows, column):
    return [ns(row[column]) / SECOND for row in rows if row[column]]


def summary_of(rows, gpus, links, end, is_window):
    """The figures of summary.json that follow from the rows."""
    jobs = [row for row in rows if row["measured"] == "1"]
    done = [row for row in jobs if row["state"] == "finished"]
    states, outcomes = (collections.Counter(row[name] for row in which) for name, which in (
        ("state", jobs), ("outcome", done)))
    times, rhos = seconds(done, "jct_s"), [float(row["rho"]) for row in jobs if row["rho"]]
    made = {"jobs": len(jobs), "finished": len(done), "failed": states["failed"], "given_up": states["given_up"],
            "not_submitted": states["submitted"], "killed": outcomes["timeout"], "failed_outcome": outcomes["failed"],
            "unfinished": states["queued"] + states["preempted"] + states["running"], "avg_jct_s": mean(times),
            "median_jct_s": percentile(times, 0.5), "p95_jct_s": percentile(times, 0.95),
            "max_jct_s": max(times, default=None), "avg_queueing_s": mean(seconds(done, "queueing_s")),
            "avg_waiting_s": mean(seconds(done, "waited_s")), "lost_gpu_s": sum(seconds(jobs, "lost_gpu_s")),
            "avg_rho": mean(rhos), "max_rho": max(rhos, default=None), "unfair_share": mean([rho > 1 for rho in rhos]),
            "jain_index": sum(1 / rho for rho in rhos) ** 2 / (len(rhos) * sum(rho ** -2 for rho in rhos))
            if rhos and min(rhos) > 0 else None}
    for column in ("preemptions", "restarts"):
        made[column] = sum(int(row[column] or 0) for row in jobs)
    first = min(seconds(jobs, "submit_s"), default=None)
    made["makespan_s"] = max(seconds(done, "finish_s")) - first if done else None
    if is_window or first is None:
        return made
    last = end / SECOND if made["unfinished"] + made["not_submitted"] else max(seconds(jobs, "finish_s"), default=0)
    for name, used in (("gpu_utilisation", gpus), ("network_utilisation", links)):
        if last > first and used:
            made[name] = sum(seconds(used, "busy_s")) / ((last - first) * len(used))
    sent, contended = (sum(seconds(rows, column)) for column in ("communication_s", "contended_s"))
    made["contended_share"] = contended / sent if sent > 0 else 0
    return made


def check_folder(folder):
    """Checks of all replicas of a folder."""
    folder = pathlib.Path(folder)
    for name in FILES:
        if not (folder / name).exists():
            raise ValueError(f"{folder} has no {name}; `contend run --certificate -o {folder}` writes it")
    keys = read_keys((folder / "scenario.yaml").read_text("utf-8"))
    name = keys.get("workload.jobs", "").strip("'")
    path = folder / (json.loads(name) if name[:1] == '"' else name)
    listed = {row.get("job_id"): row for row in (table(path) if path.is_file() else ())}  # empty: jobs were drawn
    summary = json.loads((folder / "summary.json").read_text("utf-8"), parse_float=str, parse_int=str)
    return [Check(folder, keys, replica, {} if None in listed else listed).all() for replica in summary["replicas"]]


def report(folder):
    """Prints what was found in a folder; returns the exit code."""
    checks, counts, unchecked = check_folder(folder), collections.Counter(), {}
    wrong = [text for check in checks for text in check.wrong]
    for check in checks:
        counts.update(check.counts)
        unchecked.update(check.unchecked)
    lines = wrong[:MOST_SHOWN]
    if len(wrong) > MOST_SHOWN:
        lines.append(f"{folder}: and {len(wrong) - MOST_SHOWN} more disagreements")
    verdict = f"{len(wrong)} disagreements among" if wrong else "checked"
    runs = f"{sum(len(check.jobs) for check in checks)} jobs of {len(checks)} run{'s' if len(checks) > 1 else ''}"
    lines.append(f"{folder}: {verdict} {runs}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    lines += [f"{folder}: not checked: {what}: {why}" for what, why in unchecked.items()]
    if not wrong:
        manifest = json.loads((pathlib.Path(folder) / "manifest.json").read_text("utf-8"))
        digest, *others = (replica["digest"] for replica in manifest["replicas"])
        if others:  # of several runs the digest of their digests, one a line
            digest = hashlib.sha256("\n".join([digest, *others, ""]).encode()).hexdigest()
        lines.append(f"{folder}: certified by contend-check {VERSION}, digest {digest}")
    print("\n".join(lines))
    return 1 if wrong else 0


def main(folders):
    folders = folders[folders[:1] == ["--"]:]
    if not folders or folders[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if folders else 2
    code = 0
    for folder in folders:
        try:
            code = max(code, report(folder))
        except (OSError, KeyError, ValueError) as error:
            print(f"contend-check: {folder}: {error}", file=sys.stderr)
            return 2
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
