#!/usr/bin/env python3
"""Checks the results of a run by its log, without the program that made them.

    contend-check FOLDER...

FOLDER is one that `contend run --certificate -o FOLDER` wrote. This file knows only the documents (certificate.md,
results.md, scenario.md, job-list.md) and needs nothing but Python. It recomputes from the log (certificate.csv,
transfers.csv and graphs.csv) and the job list what the results say, holds the log to the rules of the scenario, and
prints each disagreement with file, line, job, instant and both values. Exit code 0: everything that was checked
agrees; 1: something doesn't; 2: a file can't be read. What could not be checked is said.
"""

import csv
import gc
import graphlib
import gzip
import hashlib
import heapq
import itertools
import json
import math
import pathlib
import re
import statistics
import sys
from collections import Counter, defaultdict

VERSION = 3
SECOND = 10 ** 9
ROUNDING = 1e-7  # of rates
MOST_SHOWN = 20  # disagreements of a folder
FILES = "certificate.csv transfers.csv jobs.csv gpus.csv links.csv summary.json manifest.json scenario.yaml".split()
GUARD = re.compile(r"'(?='*[=+@\t\r\n-])")  # the apostrophe before texts that a spreadsheet would run
# Columns of a job list that say which places a job can have.
DEMAND = "gpu_type gpu_memory gpu_share cpus host_memory vc place priority user".split()
# The columns of jobs.csv that are looked at: a million jobs have to fit the memory.
LOOKED_AT = set("""replica job_id model state gpus servers iterations iterations_done preemptions submit_s start_s
    finish_s queueing_s jct_s compute_gpu_s communication_s contended_s outcome held_s waited_s overhead_s lost_gpu_s
    interruptions covered_failures away_s restart_s redone_s measured restarts rho mean_gpus resizes slowed_gpu_s
    communication_wait_s""".split())
# Keys of the scenario, each with the value that changes nothing.
USUAL = dict(word.split("=") for word in """scheduling.sharing.law=none loans.servers=0 failures.preset=none
    failures.components=[] failures.spares=0 failures.cold_spares=0 workload.scaling.rate=1 workload.scaling.durations=1
    workload.scaling.subset=1 workload.scaling.bootstrap=false workload.think_time=none workload.resample.block=none
    workload.scatter_penalty=[] checkpoints.policy=continuous checkpoints.restart_cost=0s checkpoints.start_up.mean=0s
    scheduling.retries.failed.times=recorded scheduling.quantum=0s scheduling.kill_at_limit=false
    scheduling.ties=submission cluster.vcs=[] cluster.types=[] measure.from=0s measure.until=none network.tick=0s
    network.interference= network.interference.network=0 policies.scheduling.use_limit=true
    policies.scheduling.migrate=false policies.scheduling.preemptive=false policies.scheduling.rewalk=false""".split())
WAITS, RUNS, AWAY, ENDED, REJECTED = "waits", "runs", "is away from its GPUs", "has ended", "was rejected"
# Events: the states of the job in which each may come, and the state after it.
STEPS = {"arrives": ((None,), WAITS), "queues": ((AWAY,), WAITS), "promised": ((WAITS,), WAITS),
         "starts": ((WAITS, AWAY), RUNS), "adapts": ((RUNS,), RUNS), "ends": ((RUNS,), ENDED),
         **dict.fromkeys(("preempted", "resized", "interrupted", "fails"), ((RUNS,), AWAY)),
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
    return f"{'-' * (time < 0)}{abs(time) // SECOND}.{abs(time) % SECOND:09d}".rstrip("0").rstrip(".") + " s"


def table(path, seed=None, looked_at=None):
    """The rows of a CSV file, of one replica if it is given, as maps of these columns with their file and line."""
    with open(path, "rb") as file:
        unpack = gzip.open if file.read(2) == b"\x1f\x8b" else open
    with unpack(path, "rt", newline="", encoding="utf-8-sig") as file:
        reader, name = csv.reader(file), path.name
        columns, line = next(reader, []), reader.line_num + 1
        for fields in reader:
            if fields and len(fields) != len(columns):
                raise ValueError(f"{path}:{line}: {len(fields)} fields, the header has {len(columns)}")
            row = {column: field[1:] if field[:1] == "'" and GUARD.match(field) else field
                   for column, field in zip(columns, fields) if looked_at is None or column in looked_at}
            if fields and row.get("replica", seed) == seed:
                row["file"], row["line"] = name, line
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
    return dict(word.split("=") for word in text.split())


class Attempt:
    """A time for which a job had its GPUs. The place promised to it is a time and a line, or None."""
    __slots__ = "name line begin gpus pause promise end how".split()

    def __init__(self, *values):
        self.name, self.line, self.begin, self.gpus, self.pause, self.promise = values
        self.end = self.how = None


class Life:
    """What the log says of one job that has this row in jobs.csv and this one in the job list."""

    def __init__(self, job, given):
        self.name, self.job, self.given, self.attempts = job["job_id"], job, given, []
        self.state = self.since = self.promise = self.begin = self.asked = self.ended = None
        self.waited = self.away = self.serves = self.line = 0  # it arrives at `begin` in `line`
        self.causes, self.adapted = Counter(), set()  # why it lost its GPUs, and when it went on in another way

    held = property(lambda self: sum(each.end - each.begin for each in self.attempts))
    gpu_time = property(lambda self: sum((each.end - each.begin) * len(each.gpus) for each in self.attempts))
    paused = property(lambda self: sum(min(each.pause, each.end - each.begin) for each in self.attempts))
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
        before, (allowed, after), seconds = self.state, STEPS[event], ns(row["seconds"])
        last = self.attempts[-1] if self.attempts else None
        wrong = "" if before in allowed else f"{event}, but it {before or 'has not arrived'}"
        if before == RUNS and event != "adapts" and last:
            last.end, last.how = now, event
            self.causes[event] += 1
        self.adapted.update([now] if event == "adapts" else ())
        self.waited += now - self.since if before == WAITS != after else 0
        self.away += now - self.since if before == AWAY and event == "queues" else 0
        if event in ("arrives", "rejected") and self.begin is None:
            self.begin, self.asked, self.line, self.serves = now, seconds, row["line"], row["text"] == "serves"
        elif event == "starts":
            gpus, resizes = numbers(row["gpus"]), last and last.how == "resized" and last.end == now
            wrong = wrong or ("" if before == WAITS or resizes else f"starts, but it {before}") or (
                "" if gpus else "starts on no GPU")
            self.attempts.append(Attempt(self.name, row["line"], now, gpus, seconds or 0, self.promise))
        elif event == "promised":
            wrong = wrong or ("" if seconds >= now else f"is promised a place in the past, at {shown(seconds)}")
            self.promise = self.promise or (seconds, row["line"])
        self.ended = now if after == ENDED else self.ended
        if after != before:
            self.state, self.since = after, now
            self.promise = None if after == WAITS else self.promise
        return wrong


# What policies order jobs by.
RANKS = {"fifo": lambda life, now: life.begin, "sjf": lambda life, now: life.asked, "srtf": lambda life, now: life.asked
         - sum(max(0, each.end - each.begin - each.pause) for each in life.attempts if each.end <= now)}


class Check:
    """The checks of one replica of a folder."""

    def __init__(self, folder, keys, figures, listed):
        self.folder, self.keys, self.figures, self.listed, self.seed = folder, keys, figures, listed, figures["seed"]
        self.wrong, self.counts, self.unchecked, self.held = [], Counter(), {}, Counter()
        self.jobs = list(table(folder / "jobs.csv", self.seed, LOOKED_AT))
        self.gpus, self.links = (list(table(folder / f"{name}.csv", self.seed)) for name in ("gpus", "links"))
        self.server = {int(row["gpu"]): int(row["server"]) for row in self.gpus}
        self.lives = {row["job_id"]: Life(row, listed.get(row["job_id"], {})) for row in self.jobs}
        self.end, self.share_gpus = ns(figures["end_s"]), set()  # names of jobs that had a GPU with another one
        self.policy = keys.get("policies.scheduling.policy", keys.get("policies.scheduling", ""))
        self.sharing = self.is_set("scheduling.sharing.law")
        self.fails = self.is_set("loans.servers", *(path for path in keys if path.startswith("failures.")))
        self.scaled = self.is_set(*(path for path in USUAL if re.match(r"workload\.(scaling|think|resample)", path)))
        # Preemptions undo nothing, and time on GPUs is work but for restarts.
        self.saves_all = not (self.is_set("checkpoints.policy") or self.fails or self.sharing)
        self.repeats = self.is_set("scheduling.retries.failed.times")
        # The time of any job may be another than its work.
        self.paces = (any(f"workload.{name}" in keys for name in ("rates", "goodput", "throughputs")) or self.sharing
                      or self.fails or self.repeats or self.is_set("workload.scatter_penalty")
                      or re.search(r"\bspeed: (?!1\b(?!\.))|power:\s*\{?[^}]*\blimit: \d", keys[""]))

    def is_set(self, *paths):
        """Whether one of these keys has a value that changes something."""
        return any(self.keys.get(path, USUAL.get(path)) != USUAL.get(path) for path in paths)

    # -- reports

    def need(self, holds, at, text, *values, now=None):
        """Notes a disagreement unless that holds."""
        if not holds:
            self.say(at, text, *values, now=now)

    def say(self, at, text, *values, now=None):
        """Notes a disagreement: with a row, at the begin of an attempt or a life, or with a transfer. The text has
        places for the values, words and times in ns."""
        if not isinstance(at, dict):
            file = "transfers.csv" if isinstance(at, Part) else "certificate.csv"
            at, now = {"file": file, "line": at.line, "job_id": at.name}, at.begin if now is None else now
        values = [value if isinstance(value, str) else shown(value) for value in values]
        what = (f" job {at['job_id']}" if at.get("job_id") else "") + (f" at {shown(now)}" if now is not None else "")
        file = at.get("file", "summary.json") + (f":{at['line']}" if at.get("line") else "") + (":" if what else "")
        self.wrong.append(f"{self.folder}/{file}{what}: {text.format(*values)}")

    def skips(self, what, is_so, why):
        """Notes what can't be checked, and why, if that is so; returns whether it is."""
        if is_so:
            self.unchecked.setdefault(what, why)
        return is_so

    def equal(self, row, column, wanted, read=ns):
        """A field must be what follows: times and whole numbers exactly, other numbers but for rounding."""
        text = row.get(column)
        found = read(text) if text else None
        self.counts["figures"] += 1
        if found == wanted:
            return
        self.need(read is float and None not in (found, wanted) and math.isclose(
            found, wanted, rel_tol=1e-9, abs_tol=1e-9), row, "{} is '{}', by log and rows it is {}", column, text or "",
                  wanted if read is ns else str(wanted))

    # -- the laws of the log

    def read_log(self):
        """Follows each job through its states; a row that has no place there is a disagreement."""
        last, over = 0, None
        for row in table(self.folder / "certificate.csv", self.seed):
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
            self.need(not wrong, row, "{}", wrong, now=now)
        self.need(over is not None, {"file": "certificate.csv"}, "the log has no row for the end of the run", now=last)
        for life in self.lives.values():
            if life.state == RUNS:
                life.attempts[-1].end = self.end
            life.waited += self.end - life.since if life.state == WAITS else 0

    def arrivals(self):
        """Jobs arrive at the times of the job list, and ask for the work and the GPUs that it names."""
        if self.skips("arrivals and work against the job list", self.scaled or not self.listed, "jobs were drawn, the "
                      "list isn't there, or workload.scaling, think_time or resample changes them"):
            return
        for life in self.lives.values():
            given, submit, asked = life.given, ns(life.given.get("submit_s")), life.asked
            self.counts["arrivals"] += 1
            self.need(given, life.job, "the job list has no such job")
            gpus, listed = life.job["gpus"], given.get("gpus") or life.job["gpus"]
            self.need(int(gpus) == int(listed), life.job, "gpus is {}, the job list says {}", gpus, listed)
            comes = life.begin is not None or submit is not None and submit < self.end
            self.need(submit in (None, life.begin) or given.get("after") or not comes, life,
                      "arrives, the job list says {}", submit)
            if given.get("duration_s") and asked is not None and not self.repeats:
                work = ns(given["duration_s"]) + sum(map(ns, filter(None, given.get("attempts_s", "").split(";"))))
                self.need(asked == work, life, "asks for {}, the list for {}", asked, work)

    def gangs(self):
        """Each start has as many GPUs as the gang, different ones, that exist."""
        for life, gang in ((each, int(each.job["gpus"])) for each in self.lives.values()):
            least, most = (int(life.given.get(key) or gang) for key in ("min_gpus", "max_gpus"))
            for each in life.attempts:
                self.counts["starts"] += 1
                count, strange = len(each.gpus), set(each.gpus).difference(self.server)
                self.need(len(set(each.gpus)) == count, each, "has a GPU twice")
                if strange:
                    self.say(each, "starts on {}, which gpus.csv doesn't have", f"GPU {min(strange)}")
                if count != gang and not (
                        life.is_elastic and (life.serves or not self.listed or least <= count <= most)):
                    self.say(each, "starts on {} GPUs, its gang has {}", str(count), str(gang))

    def one_holder(self):
        """No GPU is given twice, but to jobs that may share it. Sums up for how long each has been given."""
        most = int(self.keys.get("scheduling.sharing.most", 2)) if self.sharing else 1
        edges = sorted(((at, begins, gpu, life, each) for life in self.lives.values() for each in life.attempts
                        if each.begin < each.end for gpu in each.gpus
                        for at, begins in ((each.begin, 1), (each.end, 0))), key=lambda edge: edge[:2])
        holds = defaultdict(dict)
        for now, begins, gpu, life, each in edges:
            on, was_held = holds[gpu], bool(holds[gpu])
            if begins:
                on[life.name] = life.share
                self.counts["GPUs given"] += 1
                if len(on) > 1:
                    self.share_gpus.update(on)
                timed = [share for share in on.values() if share is not None]
                if timed and len(timed) < len(on) or sum(timed) > 1000 and len(timed) > most:
                    self.say(each, "gets {}, which {} has", f"GPU {gpu}", min(set(on) - {life.name}))
            else:
                on.pop(life.name, None)
            self.held[gpu] += now * (was_held - bool(on))  # from the first holder to the last

    def promises(self):
        """EASY and conservative backfilling start no job later than they promised first, if estimates hold."""
        if self.policy not in ("easy", "conservative"):
            return
        lives, by_limit = self.lives.values(), not self.is_set("policies.scheduling.use_limit")
        changes = not self.listed or not self.saves_all or self.scaled or self.is_set(
            "checkpoints.restart_cost", "checkpoints.start_up.mean", "scheduling.quantum", "workload.scatter_penalty",
            "measure.from") or any(life.asked is None or any(map(life.given.get, (
                "attempts_s", "outcome", "batch_rule", "place", "min_gpus"))) for life in lives)
        limits = [(life, ns(life.given.get("limit_s")) if by_limit else None) for life in lives]
        are_short = any(limit and limit < life.asked for life, limit in limits if not changes) and not self.is_set(
            "scheduling.kill_at_limit") or not all(limit for _, limit in limits) and float(
                self.keys.get("policies.scheduling.estimate_factor", 1)) < 1
        if self.skips("promises of backfilling", changes or are_short, "estimates are too short, jobs were drawn, or "
                      "failures, checkpoints, attempts, places, sharing or scaling change how long they take"):
            return
        for each in (each for life in lives for each in life.attempts if each.promise):
            self.counts["promises"] += 1
            self.need(each.begin <= each.promise[0], each, "starts, line {} promises {}", str(each.promise[1]),
                      each.promise[0])

    def orders(self):
        """FIFO, SJF and SRTF: no job starts while one waits that comes before it and asks alike, or any if strict."""
        name, lives = self.policy, [life for life in self.lives.values() if life.begin is not None]
        if name not in RANKS:
            return
        alters = not self.saves_all or self.is_set("cluster.vcs", "cluster.types") or any(
            life.causes["fails"] or life.is_elastic or life.given.get("place") or life.given.get("batch_rule")
            or name != "fifo" and (life.asked is None or life.given.get("attempts_s")) for life in lives)
        if self.skips(f"the order of {name}", alters or name != "fifo" and self.is_set("workload.scatter_penalty"),
                      "failures, attempts, types, virtual clusters, places or iterations make orders of their own"):
            return
        usual, moves = "true" if name == "fifo" else "false", ("migrate", "preemptive", "rewalk")
        is_strict = self.keys.get("policies.scheduling.strict", usual) == "true" and not self.is_set(
            *(f"policies.scheduling.{key}" for key in moves))
        compared = 2 if name == "fifo" and not self.is_set("scheduling.ties") else 1  # the second one is the submission
        changes = []  # in an instant jobs begin to wait (0), those that start leave the queue (1), and start (2)
        for at, life in enumerate(lives):
            waits = [life.begin, *(each.end for each in life.attempts)][:None if life.state == WAITS else -1]
            changes += [(since, 0, at, None) for since in waits]
            changes += [(each.begin, step, at, each) for each in life.attempts for step in (1, 2)]
        waiting, own, heaps = {}, {}, defaultdict(list)
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
                    self.say(each, "starts with {}, and {} with {} waits, by {}", own[each], lives[heap[0][1]].name,
                             heap[0][0], name)

    # -- the results

    def rows_of_jobs(self):
        """jobs.csv has what the log gives."""
        for life in self.lives.values():
            row, arrived, starts, causes = life.job, life.begin or 0, life.attempts, life.causes
            first = starts[0].begin if starts else None
            times = {"start_s": first, "held_s": life.held, "waited_s": life.waited, "away_s": life.away,
                     "jct_s": life.ended and life.ended - arrived, "queueing_s": first and first - arrived,
                     "finish_s": life.ended, "submit_s": life.begin if life.begin is not None else ns(row["submit_s"])}
            if row["state"] == "given_up" and row["finish_s"]:
                times["finish_s"] = ns(row["finish_s"])
                times["away_s"] += times["finish_s"] - life.since
            counts = {"preemptions": causes["preempted"], "interruptions": causes["interrupted"],
                      "resizes": causes["resized"], "restarts": max(0, len(starts) - 1),
                      "servers": len({self.server.get(gpu) for gpu in starts[-1].gpus}) if starts else None}
            for read, figures in ((ns, times), (int, counts)):
                for column, wanted in figures.items():
                    self.equal(row, column, wanted, read)
            self.need(row["state"] in STATES[life.state], row, "state is {}, by the log it {}", row["state"],
                      life.state or "never arrived")
            if row["mean_gpus"] and life.held:
                self.equal(row, "mean_gpus", life.gpu_time / life.held, float)
            self.work(life, row)

    def work(self, life, row):
        """Time on GPUs is work, what was undone, checkpoints and restarts; a job that finished has done its work."""
        (held, overhead, redone, restart), paused = life.times, life.paused
        for part, name, whole in ((restart, "restart_s", overhead), (overhead + redone, "overhead_s + redone_s", held)):
            self.need(0 <= part <= whole, row, "{} is {} of {}", name, part, whole)
        succeeds = row["outcome"] not in ("failed", "timeout")
        if self.saves_all:
            self.equal(row, "overhead_s", paused)
            self.equal(row, "restart_s", paused)
            if life.asked is not None and not life.causes["fails"] and succeeds:
                self.equal(row, "redone_s", 0)
        self.need(restart <= paused, row, "restart_s is {}, the pauses of the log add up to {}", restart, paused)
        if row["state"] != "finished" or not succeeds:
            return
        iterates = not life.serves and (life.asked is None or life.given.get("iterations"))
        self.need(not iterates or row["iterations_done"] == row["iterations"], row, "finished with {} of {} iterations",
                  row["iterations_done"], row["iterations"])
        varies = self.paces or life.is_elastic or life.given.get("batch_rule")
        if life.asked is None or self.skips("the work of some jobs with durations", varies, "types, places, jobs, "
                                            "numbers of GPUs, failures or attempts change how long it takes"):
            return
        self.counts["amounts of work"] += 1
        work = held - overhead - redone
        self.need(work == life.asked, row, "held_s - overhead_s - redone_s is {}, its work is {}", work, life.asked)
        self.equal(row, "compute_gpu_s", life.asked * int(row["gpus"]))

    def rows_of_gpus(self):
        """busy_s and jobs of each GPU; none has more than the time of the run, of which nothing is lost."""
        lives, parts = self.lives.values(), Counter()
        placed = Counter(gpu for life in lives for each in life.attempts for gpu in each.gpus)
        covers = any(int(life.job["covered_failures"] or 0) for life in lives)
        whole = not covers and not self.sharing and all(life.share == 1000 for life in lives if life.attempts)
        for row in self.gpus:
            gpu, busy, down = int(row["gpu"]), ns(row["busy_s"]), ns(row["down_s"])
            held = self.held[gpu]
            self.equal(row, "jobs", placed[gpu], int)
            if whole:
                self.equal(row, "busy_s", held)
            self.need(busy <= held, row, "busy_s is {}, jobs had it for {}", busy, held)
            self.need(covers or 0 <= down <= self.end - held, row, "down_s is {}, jobs had it for {} of {}", down, held,
                      self.end)
            parts["idle"] += self.end - held
        if self.skips("busy_s of GPUs to the nanosecond, and the sum of all GPU time", not whole,
                      "jobs of iterations or parts of GPUs compute for a part of their time on GPUs"):
            return
        for life in lives:
            (held, overhead, redone, restart), width = life.times, len(life.attempts[0].gpus) if life.attempts else 0
            parts.update({"of jobs that change": life.gpu_time} if life.is_elastic else {
                "useful": (held - overhead - redone) * width, "undone": redone * width,
                "checkpoints": (overhead - restart) * width, "restarts": restart * width})
        self.counts["sums of GPU time"] += 1
        told = ", ".join(f"{name} {shown(value)}" for name, value in parts.items())
        self.need(sum(parts.values()) == self.end * len(self.gpus), {}, "GPU time: {} are {}, all GPUs have {}", told,
                  sum(parts.values()), self.end * len(self.gpus))

    def iterations(self, routes):
        """Jobs that nothing disturbs take as long as the longest paths through the graphs of their iterations."""
        graphs, sent, known, path = defaultdict(list), defaultdict(dict), {}, self.folder / "graphs.csv"
        is_plain = not self.paces and not self.is_set("network.tick")
        for route in routes:
            sent[route.job][route.size] = route.start_up + math.ceil(route.size * SECOND / route.alone) if (
                route.alone and route.lane != "links") else None
        for row in table(path, self.seed):
            if not row["job_id"]:
                graphs[row["graph"]].append(row)
                continue
            life, here, mine = self.lives[row["job_id"]], graphs[row["graph"]], sent[row["job_id"]]  # {}: sends nothing
            times = tuple(ns(op["seconds"]) if op["seconds"] else mine.get(float(op["bytes"])) if mine else 0
                          for op in here)
            is_alone = len(life.attempts) == 1 and life.ended is not None and life.name not in self.share_gpus and all(
                life.job[name] == "0" for name in ("contended_s", "communication_wait_s", "slowed_gpu_s"))
            if not is_plain or not is_alone or life.times[1] > life.paused or self.skips(
                    "iterations of some jobs", None in times, "transfers.csv has no lone message of a size in their graph"):
                continue
            shape = (row["graph"], times, int(row["number"]), int(life.job["iterations"]))
            if shape not in known:
                known[shape] = longest(here, *shape[1:])
            if self.skips("some iterations against their graphs", known[shape] is None, "operations wait for lanes"):
                continue
            self.counts["longest paths"] += 1
            took = life.held - life.paused
            self.need(took == known[shape], life, "its iterations take {}, their longest path {}", took, known[shape])

    def summary(self):
        """summary.json has what the rows give, and nothing is below its bound."""
        for name, wanted in self.summary_of_rows().items():
            self.equal(self.figures, name, wanted, float)
        for name, ratio in (("avg_jct_s", "jct_by_bound"), ("makespan_s", "makespan_by_bound")):
            if self.figures.get(name) is None or self.figures.get(f"bound_{name}") is None:
                continue
            figure, bound = float(self.figures[name]), float(self.figures[f"bound_{name}"])
            self.equal(self.figures, ratio, figure / bound if bound > 0 else None, float)
            self.need(figure >= bound * (1 - 1e-9), {}, "{} is {}, below its bound {}", name, str(figure), str(bound))

    def summary_of_rows(self):
        """The figures of summary.json that follow from the rows."""
        def seconds(rows, column):
            return [ns(row[column]) / SECOND for row in rows if row[column]]
        jobs = [row for row in self.jobs if row["measured"] == "1"]
        done = [row for row in jobs if row["state"] == "finished"]
        states, outcomes = Counter(row["state"] for row in jobs), Counter(row["outcome"] for row in done)
        times, rhos = seconds(done, "jct_s"), [float(row["rho"]) for row in jobs if row["rho"]]
        submits, ends = seconds(jobs, "submit_s"), seconds(jobs, "finish_s")
        squares = sum(rho ** -2 for rho in rhos if rho) * len(rhos)
        made = {"jobs": len(jobs), "finished": len(done), "failed": states["failed"], "given_up": states["given_up"],
                "not_submitted": states["submitted"], "killed": outcomes["timeout"],
                "failed_outcome": outcomes["failed"], "lost_gpu_s": sum(seconds(jobs, "lost_gpu_s")),
                "unfinished": states["queued"] + states["preempted"] + states["running"],
                "median_jct_s": statistics.median(times) if times else None, "max_jct_s": max(times, default=None),
                "p95_jct_s": statistics.quantiles(times * 2 if len(times) == 1 else times, n=20, method="inclusive")[-1]
                if times else None, "max_rho": max(rhos, default=None),
                "jain_index": sum(1 / rho for rho in rhos) ** 2 / squares if rhos and min(rhos) > 0 else None,
                "makespan_s": max(seconds(done, "finish_s")) - min(submits) if done else None}
        for name, values in (("avg_jct_s", times), ("avg_queueing_s", seconds(done, "queueing_s")), ("avg_rho", rhos),
                             ("avg_waiting_s", seconds(done, "waited_s")), ("unfair_share", [rho > 1 for rho in rhos])):
            made[name] = statistics.fmean(values) if values else None
        made.update((name, sum(int(row[name] or 0) for row in jobs)) for name in ("preemptions", "restarts"))
        if self.is_set("measure.from", "measure.until") or not submits:
            return made
        last = self.end / SECOND if made["unfinished"] + made["not_submitted"] else max(ends, default=0)
        for name, used in (("gpu_utilisation", self.gpus), ("network_utilisation", self.links)):
            if last > min(submits) and used:
                made[name] = sum(seconds(used, "busy_s")) / ((last - min(submits)) * len(used))
        sent, contended = (sum(seconds(self.jobs, column)) for column in ("communication_s", "contended_s"))
        return {**made, "contended_share": contended / sent if sent > 0 else 0}


def longest(graph, times, in_flight, iterations):
    """The longest path through so many iterations of a graph whose operations take these times; None if some of them
    wait for a lane. An iteration begins when the one `in_flight` before it has ended."""
    waits = [[(int(number), bool(lag)) for number, _, lag in (each.partition(":") for each in op["after"].split())]
             for op in graph]
    order = [*graphlib.TopologicalSorter({number: [before for before, lag in each if not lag] for number, each in
                                          enumerate(waits)}).static_order()]
    ends, done, busy, alike = [0] * len(graph), [0] * in_flight, Counter(), 0
    for count in range(1, iterations + 1):
        last, ends = ends, list(ends)
        for number in order:
            ends[number] = times[number] + max([done[-in_flight], *((last if lag else ends)[before]
                                                                   for before, lag in waits[number])])
        for begin, end, lane in sorted((end - time, end, op["lane"]) for op, end, time in zip(graph, ends, times)):
            if lane and begin < busy[lane]:
                return None
            busy[lane] = end
        done.append(max(done[-1], *ends))
        gains = {end - before for end, before in zip(ends, last)}
        alike = alike + 1 if gains == {done[-1] - done[-2]} == {done[-2] - done[-3]} else 0
        if alike > in_flight:
            return done[-1] + (done[-1] - done[-2]) * (iterations - count)
    return done[-1]


class Route:
    """What a job sends over the same places: (lane, number) of a link or an interface, each with its share."""

    def __init__(self, row):
        more = words(row["text"])
        self.job, self.lane, self.size = row["job_id"], more["lane"], float(row["bytes"])
        self.alone, self.start_up, self.is_first = float(row["rates"] or 0), ns(row["starts_s"]), "follows" not in more
        self.cap, self.penalty, self.priority = (float(more.get(name, 0)) for name in ("cap", "penalty", "priority"))
        self.message, self.servers = float(more.get("message", self.size)), numbers(row["servers"])
        self.touches = [("inside", self.job, more.get("gpu"))] if self.lane == "inside" else [
            (self.lane, server) for server in self.servers]
        uses = (use.partition(":") for use in row["links"].split())
        self.uses = {("link", int(link)): float(share or 1) for link, _, share in uses}


class Part:
    """Bytes that a transfer moves over the same links."""
    __slots__ = "line name route start end how rest first size sent rate since ready slow".split()

    def __init__(self, row, route):
        self.line, self.name, self.route, self.how, self.rest = row["line"], route.job, route, row["text"], row["bytes"]
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
        self.check, self.need, self.routes, self.links, self.events, self.states = check, check.need, {}, {}, [], {}
        self.on = defaultdict(dict)  # what sends, by place
        self.used, self.open = defaultdict(dict), defaultdict(set)  # by job: places, parts
        self.moves, self.periods = defaultdict(list), defaultdict(set)  # by place: changes of use, what is repeated
        self.paced = check.fails or check.is_set("network.interference", "network.interference.network")
        tick, unit = re.match(r"([\d.]+) ?(ns|us|ms|s)$", check.keys.get("network.tick", "0s")).groups()
        self.tick = max(1, int(float(tick) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]))
        self.changes = self.moved = False

    def read(self):
        """The rows as events, in the order in which those of an instant count."""
        for row in table(self.check.folder / "transfers.csv", self.check.seed):
            event, number, begin, line = row["event"], int(row["number"]), ns(row["starts_s"]), row["line"]
            if event == "link":
                more = words(row["text"])
                factors = [float(each) for each in more.get("factors", "1").split(";")]
                self.links["link", number] = [float(row["rates"]), factors, float(more.get("penalty", 0))]
            elif event == "route":
                self.routes[number] = Route(row)
            elif event == "changes":
                self.events.append((begin, 0, line, ("link", number), float(row["rates"])))
                self.changes = True
            elif event == "repeats":
                self.events.append((ns(row["ends_s"]), 4, line, row["job_id"], (begin, number)))
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
        life = self.check.lives.get(part.name)
        for each in life.attempts if life else ():
            if each.begin <= part.start and part.end <= each.end:
                strange = set(part.route.servers) - {self.check.server.get(gpu) for gpu in each.gpus}
                self.need(not strange, part, "sends on {}, where it has no GPU", f"server {min(strange or [0])}",
                          now=part.start)
                self.need(part.how != "cancelled" or part.end in {each.end, *life.adapted}, part,
                          "a transfer is cancelled, and the job goes on", now=part.end)
                return
        self.need(False, part, "sends when it has no GPUs", now=part.start)

    def move(self, part, now, place, *changes):
        """More or fewer users of a place of the job, users that share it, transfers and bytes."""
        self.used[part.name][place] = now
        self.moves[place].append((now, 0, part, *changes, *(0, 0, 0, 0)[len(changes):]))

    def change(self, place, _, capacity):
        self.links[place][0] = capacity
        return [place]

    def start(self, part, now, _):
        route = part.route
        self.open[part.name].add(part)
        self.move(part, now, ("job", part.name), 1)
        for place in route.touches:
            self.move(part, now, ("server", place[1]), 1, int(len(self.on[place]) == 1), part.first,
                      route.message * part.first)
            self.on[place][part] = None
        return route.touches

    def send(self, part, now, rate):
        part.sent += part.left_for(now) * (part.rate or 0) / SECOND
        if part.rate is None:
            for place in part.route.uses:
                self.on[place][part] = None
        part.rate, part.since = rate, now
        if part.route.lane == "links":
            self.slow(part, now, rate < part.route.alone * (1 - 1e-9))
        return part.route.uses

    def slow(self, part, now, is_slow):
        if is_slow != part.slow:
            part.slow = is_slow
            self.move(part, now, ("job", part.name), 0, 1 if is_slow else -1)

    def finish(self, part, now, _):
        route, rate = part.route, part.rate or 0
        length, left = part.left_for(now), part.size - part.sent
        if not part.how and math.isfinite(rate):
            excess = length - left * SECOND / rate if rate else now - part.ready if not part.size else -math.inf
            rounding = min(0.3, 1e-6 + 1e-10 * (now - part.start))
            self.need(-rounding <= excess < self.tick + rounding, part, "ends, its {} bytes take {} ns {}",
                      f"{part.size:.12g}", f"{abs(excess):.9g}", "longer" if excess < 0 else "less", now=now)
        self.slow(part, now, False)
        self.move(part, now, ("route", id(route)), 0, 0, 0,
                  part.sent + length * rate / SECOND if part.how else part.size)
        for place in route.touches:
            self.move(part, now, ("server", place[1]), -1, -int(len(self.on[place]) == 2))
        self.move(part, now, ("job", part.name), -1)
        self.open[part.name].discard(part)
        for place in (touched := [*route.uses, *route.touches]):
            self.on[place].pop(part, None)
        return touched

    def repeat(self, job, now, period):
        """The job repeats so often what it did after `begin`; what it sends moves behind that."""
        begin, times = period
        places = {place for place, last in self.used[job].items() if last > begin}
        for part in self.open[job]:
            places.update({("job", job), *(("server", server) for server in part.route.servers)})
            part.since += (now - begin) * times
            part.ready += (now - begin) * times
        for place in places if times else ():
            self.periods[place].add((begin, now, times))
        return ()

    def totals(self, place):
        """Time in use and in use by several, transfers and bytes of a place; what is repeated counts as often."""
        users = sharers = used = shared = count = size = last = 0
        weight, factors, moves = 1, {}, self.moves[place]  # periods may lie in longer ones
        for begin, end, times in self.periods[place]:  # in an instant: leapt over until then (-1), moves, from then on
            moves += [(at, order, (begin, end), factor) for at, order, factor in (
                (begin, 1, 1 + times), (end, 1, 0), (end + (end - begin) * times, -1, 1))]
        for now, order, what, *changes in sorted(moves, key=lambda move: move[:2]):
            used += (now - last) * weight * (users > 0)
            shared += (now - last) * weight * (sharers > 0)
            last = now
            if order:
                factors[what] = changes[0]
                weight = math.prod(factors.values())
                continue
            self.need(weight, what, "uses {} in a time that was leapt over", " ".join(map(str, place)), now=now)
            users, sharers = users + changes[0], sharers + changes[1]
            count, size = count + changes[2] * weight, size + changes[3] * weight
        return used, shared, count, size

    def state(self, place):
        """Load and capacity of a link, and the largest rate of each priority on it."""
        if place not in self.states:
            (capacity, factors, penalty), here, levels = self.links[place], self.on[place], {}
            count = max(1, len(here))
            for part in here:
                levels[part.route.priority] = max(part.rate, levels.get(part.route.priority, 0))
            self.states[place] = (sum(part.rate * part.route.uses[place] for part in here), levels, capacity * factors[
                min(count, len(factors)) - 1] / (1 + (count - 1) / count * penalty))
        return self.states[place]

    def is_limited(self, part):
        """Whether a part sends as fast as its cap, or a full link on which none of its priority is faster, allows."""
        route, most = part.route, part.rate * (1 + ROUNDING)
        return 0 < route.cap <= most or any(
            load >= capacity * (1 - ROUNDING) and levels[route.priority] <= most and all(
                level <= ROUNDING * capacity for other, level in levels.items() if other > route.priority)
            for load, levels, capacity in map(self.state, route.uses))

    def fair(self, now, touched):
        """Holds what is on these places to the rule by which they are shared."""
        for place in touched:
            self.states.pop(place, None)
            if place in self.links and self.on[place]:
                load, _, capacity = self.state(place)
                self.need(load <= capacity * (1 + ROUNDING), next(iter(self.on[place])), "{} carries {} of {} bytes a "
                          "second", f"link {place[1]}", f"{load:.9g}", f"{capacity:.9g}", now=now)
        for part in {part: None for place in touched for part in self.on[place] if part.rate is not None}:
            route = part.route
            if route.lane == "links":
                self.need(self.is_limited(part), part, "sends {} bytes a second, and no link or cap forbids more",
                          f"{part.rate:.9g}", now=now)
                continue
            ways = max((len(self.on[place]) for place in route.touches), default=1)
            self.slow(part, now, ways > 1 and route.penalty > -1)
            wanted = route.alone / (ways + (ways - 1) * route.penalty)
            may_differ = not route.alone or self.paced and part.rate < wanted
            self.need(may_differ or math.isclose(part.rate, wanted, rel_tol=1e-9), part, "sends {} bytes a second, one "
                      "of {} has {}", f"{part.rate:.9g}", str(ways), f"{wanted:.9g}", now=now)

    def run(self):
        """Goes through all instants, and compares what has been carried with the results."""
        self.read()
        self.events.sort(key=lambda event: event[:3])
        steps = (self.change, self.start, self.send, self.finish, self.repeat)
        for (now, _), group in itertools.groupby(self.events, key=lambda event: (event[0], event[1] == 4)):
            touched = {}
            for _, order, _, what, value in group:
                touched.update(dict.fromkeys(steps[order](what, now, value)))
            self.fair(now, touched)
        self.results()
        self.check.iterations(self.routes.values())

    def results(self):
        """jobs.csv, links.csv and fabric.csv have what transfers add up to."""
        check, carried, path = self.check, Counter(), self.check.folder / "fabric.csv"
        if check.skips("sums of transfers over links and jobs", self.moved or self.changes,
                       "links change, and transfers wait for routes"):
            return
        for row in check.jobs + check.links:
            place, used = (("job", row["job_id"]), "communication_s") if "job_id" in row else (
                ("server", int(row["server"])), "busy_s")
            columns = {used: ns, "contended_s": ns, "transfers": int, "bytes": int}
            for (column, read), wanted in zip(columns.items(), self.totals(place)):
                if row.get(column):
                    check.equal(row, column, int(wanted), read)
        for route in self.routes.values():
            size = self.totals(("route", id(route)))[3]
            carried.update({place: share * size for place, share in route.uses.items()})
        for number, row in enumerate(table(path, check.seed) if path.exists() else ()):
            check.equal(row, "bytes", carried["link", number], float)
            check.equal(row, "bandwidth_Bps", self.links["link", number][0], float)


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
    checks = [Check(folder, keys, replica, {} if None in listed else listed) for replica in summary["replicas"]]
    for check in checks:
        for law in (check.read_log, check.arrivals, check.gangs, check.one_holder, check.promises, check.orders,
                    check.rows_of_jobs, check.rows_of_gpus, check.summary, Traffic(check).run):
            law()
    return checks


def report(folder):
    """Prints what was found in a folder; returns the exit code."""
    checks, counts, unchecked = check_folder(folder), Counter(), {}
    wrong = [text for check in checks for text in check.wrong]
    for check in checks:
        counts.update(check.counts)
        unchecked.update(check.unchecked)
    more = len(wrong) - MOST_SHOWN
    lines = wrong[:MOST_SHOWN] + ([f"{folder}: and {more} more disagreements"] if more > 0 else [])
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
    gc.disable()  # a search for cycles, of which there are none, takes time with millions of objects
    try:
        return max(map(report, folders))
    except (OSError, LookupError, ValueError) as error:
        print(f"contend-check: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
