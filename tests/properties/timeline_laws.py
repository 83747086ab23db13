"""Laws that hold at each instant: from the timeline, which has every task and transfer, and from explanations of jobs.

The timeline has a span for each time that a job with a duration holds a GPU, and for each task of a job of iterations.
"""

import gzip
import json
import pathlib
import re

import results as reader


IDLE = 2400 * 10 ** 9  # reallocate_s and round_s of policies that divide time, by default, and a little
LAST_SUBMISSION = 900 * 10 ** 9  # of a list, with the jobs that follow others

# Methods that don't do the same in every iteration.
PHASED = {"acp-sgd", "apm-squeeze", "async-average", "co2", "decentralized", "diloco", "local-sgd", "onebit-adam",
          "q-adam", "saps"}


class Span:
    """Something from `start` to `end`, in nanoseconds."""

    def __init__(self, start, end, job, **more):
        self.start, self.end, self.job = start, end, job
        self.__dict__.update(more)


def microseconds(text):
    whole, _, part = text.partition(".")
    return int(whole) * 1000 + int(part or 0)


class Timeline:
    """Spans by GPU, by further lane of a job's GPU and by interface, of a file that `contend run --timeline` wrote."""

    def __init__(self, path, found):
        data = pathlib.Path(path).read_bytes()
        if str(path).endswith(".gz"):
            data = gzip.decompress(data)
        events = json.loads(data, parse_float=str)["traceEvents"]
        names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "thread_name"}
        servers = {event["pid"] for event in events if event["ph"] == "M" and event["name"] == "process_name"
                   and re.fullmatch(r"server\d+", event["args"]["name"])}
        known = {int(gpu["gpu"]) for gpu in found.gpus}
        self.gpus = {gpu: [] for gpu in known}
        self.links, self.lanes, self.strays = {}, {}, []
        for event in events:
            if event["ph"] != "X":
                continue
            start, args = microseconds(event["ts"]), event["args"]
            span = Span(start, start + microseconds(event["dur"]), args["job"], args=args)
            name = names.get((event["pid"], event["tid"]), "")
            if event["cat"] == "transfer":
                self.links.setdefault(name.split(" ")[0], []).append(span)
            elif event["pid"] in servers:
                gpu, lane = re.match(r"GPU (\d+)", name), re.fullmatch(r"GPU (\d+) (\S+) of job (\d+)", name)
                if lane and int(lane[1]) in known and int(lane[3]) == span.job and lane[2] == event["cat"]:
                    self.lanes.setdefault((span.job, int(lane[1]), lane[2]), []).append(span)
                elif gpu and not lane and int(gpu[1]) in known:
                    self.gpus[int(gpu[1])].append(span)
                else:
                    self.strays.append(name)
        self.server_of = {int(gpu["gpu"]): gpu.count("server") for gpu in found.gpus}
        self.by_job = {}
        for gpu, spans in self.gpus.items():
            spans.sort(key=lambda span: (span.start, span.end))
            for span in spans:
                self.by_job.setdefault(span.job, {}).setdefault(gpu, []).append(span)


def union(spans):
    """The time in which at least one of the spans is, and that in which at least two are."""
    edges = sorted([(span.start, 1) for span in spans] + [(span.end, -1) for span in spans], key=lambda edge: edge)
    once = twice = count = last = 0
    for at, step in edges:
        once += (at - last) * (count > 0)
        twice += (at - last) * (count > 1)
        count, last = count + step, at
    return once, twice


def one_holder(scenario, found, jobs, timeline):
    """A GPU does one thing at a time, and jobs with a duration share it only as `scheduling.sharing` has it."""
    sharing = scenario.spec.get("scheduling", {}).get("sharing", {})
    most = sharing.get("most", 2)
    if timeline.strays:
        yield f"spans on threads that are no GPU: {timeline.strays[:3]}"
    for gpu, spans in timeline.gpus.items():
        running = []
        for span in spans:
            running = [other for other in running if other.end > span.start]
            for other in running:
                if span.start == span.end:
                    continue
                both = jobs[span.job].timed and jobs[other.job].timed and span.job != other.job
                if not both:
                    yield f"GPU {gpu}: {jobs[span.job].name} and {jobs[other.job].name} at {span.start} ns"
                elif jobs[span.job].share == 1 and jobs[other.job].share == 1 and (
                        "law" not in sharing or span.job not in other.args.get("beside", [])
                        or other.job not in span.args.get("beside", [])):
                    yield f"GPU {gpu}: {jobs[span.job].name} beside {jobs[other.job].name} at {span.start} ns"
            running.append(span)
            together = {each.job for each in running if each.start < each.end}
            parts = sum(jobs[job].share for job in together)
            if len(together) > (most if "law" in sharing else 10 ** 6) or "law" not in sharing and parts > 1 + 1e-9:
                yield f"GPU {gpu}: {sorted(jobs[job].name for job in together)} at {span.start} ns"


def gangs(scenario, found, jobs, timeline):
    """A job holds as many GPUs as its gang has, for the time that jobs.csv says, from its start to its end."""
    redundant = "redundancy" in scenario.spec.get("failures", {})
    for job in jobs:
        gpus = timeline.by_job.get(job.number, {})
        partly = job.given.get("gpu_share") not in (None, "", "1") or "like" in scenario.spec["workload"]
        if not job.timed or partly and not gpus:
            continue
        spans = [span for each in gpus.values() for span in each]
        total = sum(span.end - span.start for span in spans)
        runs = job.row["state"] == "running"  # a span is written when it ends
        covered = job.row.count("covered_failures")  # it goes on with fewer GPUs than it holds
        if not job.elastic and not runs and not covered and total != job.time("held_s") * job.gpus:
            yield f"{job.name}: its spans add up to {total} ns, held_s is {job.row['held_s']} on {job.gpus} GPUs"
        first = min((span.start for span in spans), default=None)
        if spans and first != job.time("start_s"):
            yield f"{job.name}: start_s is {job.row['start_s']}, its first span begins at {first} ns"
        if spans and job.row["state"] == "finished" and job.row["attempts"] == "1":  # a repeated one may have no time
            last = max(span.end for span in spans)
            if job.time("finish_s") != last and not job.row.count("interruptions") and not job.time("away_s"):
                yield f"{job.name}: finish_s is {job.row['finish_s']}, its last span ends at {last} ns"
        at_once = {}
        for gpu, each in gpus.items():
            for span in each:
                at_once.setdefault((span.start, span.end), set()).add(gpu)
        if job.elastic or scenario.spec.get("scheduling", {}).get("sharing") or redundant:
            continue
        for (start, end), on in at_once.items():
            if len(on) != job.gpus and start != end:
                yield f"{job.name}: {len(on)} GPUs from {start} to {end} ns, its gang has {job.gpus}"


def iterations(scenario, found, jobs, timeline):
    """A job of iterations computes on all of its GPUs, each operation of an iteration once on each, none left out."""
    for job in jobs:
        if job.timed or job.elastic or job.row["state"] != "finished":
            continue
        gpus = timeline.by_job.get(job.number, {})
        causes = ("preemptions", "interruptions", "covered_failures", "left_behind")
        undone = any(map(job.row.count, causes))
        if not undone and len(gpus) != job.gpus:
            yield f"{job.name}: computed on {len(gpus)} GPUs, its gang has {job.gpus}"
        for gpu, spans in gpus.items():
            seen = {span.args["iteration"] for span in spans}
            if not undone and len(seen) < job.row.count("iterations"):
                yield f"{job.name}: {len(seen)} of {job.row['iterations']} iterations have tasks on GPU {gpu}"
        total = sum(span.end - span.start for each in gpus.values() for span in each)
        planned = job.time("compute_gpu_s") + job.time("slowed_gpu_s")
        if not undone and not job.row.count("dropped_gpu_s") and total != planned:
            yield f"{job.name}: its tasks took {total} ns, compute_gpu_s + slowed_gpu_s is {planned} ns"


def launches(scenario, found, jobs, timeline):
    """A host launches one operation after the other, and host_s is the sum. Launches that are in time share a task, so
    tasks of the host may take different times."""
    undone = ("preemptions", "interruptions", "resizes", "covered_failures", "left_behind")
    for (number, gpu, lane), spans in timeline.lanes.items():
        once, twice = union(spans)
        if twice:
            yield f"{jobs[number].name}: its {lane} of GPU {gpu} does two things at once for {twice} ns"
    for job in jobs:
        total = sum(span.end - span.start for (number, _, lane), spans in timeline.lanes.items()
                    if number == job.number and lane == "host" for span in spans)
        counted = job.time("host_s") if job.row["host_s"] else 0
        if total != counted:
            yield f"{job.name}: host_s is {counted} ns, its launches took {total} ns"
        if total and not any(map(job.row.count, undone)) and job.row["state"] == "finished":
            hosts = {gpu for number, gpu, lane in timeline.lanes if number == job.number and lane == "host"}
            gpus = round(job.row.number("mean_gpus")) if job.elastic else job.gpus
            if len(hosts) != gpus:
                yield f"{job.name}: {len(hosts)} hosts launch for {gpus} GPUs"


def busy(scenario, found, jobs, timeline):
    """busy_s of a GPU is the time of its spans; tasks that were cut have no span."""
    if any(job.given.get("gpu_share") not in (None, "") for job in jobs) or "like" in scenario.spec["workload"]:
        return  # jobs with parts of GPUs aren't drawn
    undone = ("preemptions", "interruptions", "resizes", "covered_failures", "left_behind")
    cut = {job.number for job in jobs if job.row["state"] == "running" or job.row.count("covered_failures")
           or not job.timed and any(map(job.row.count, undone))}
    for gpu in found.gpus:
        spans = timeline.gpus[int(gpu["gpu"])]
        once, _ = union(spans)
        if once != gpu.time("busy_s") and not cut:
            yield f"GPU {gpu['gpu']}: busy_s is {gpu['busy_s']}, its spans cover {once} ns"


def transfers(scenario, found, jobs, timeline):
    """What links.csv says of an interface is what its transfers do."""
    undone = ("interruptions", "preemptions", "resizes", "covered_failures")
    if any(job.row["state"] == "running" or any(map(job.row.count, undone)) for job in jobs if not job.timed):
        return  # transfers that were cut aren't drawn
    served = any(entry.get("exchange") == "parameter-server" for entry in scenario.spec.get("training", {}).values())
    for link in found.links:
        spans = timeline.links.get(link["link"], [])
        if link.count("transfers") != len(spans):
            yield f"{link['link']}: {link['transfers']} transfers, the timeline has {len(spans)}"
        if link.count("bytes") != sum(span.args["bytes"] for span in spans):
            yield f"{link['link']}: {link['bytes']} bytes, the timeline has {sum(s.args['bytes'] for s in spans)}"
        once, twice = union(spans)
        if served:  # pushes and pulls don't meet
            twice = min(twice, link.time("contended_s"))
        if (link.time("busy_s"), link.time("contended_s")) != (once, twice):
            yield (f"{link['link']}: busy {link['busy_s']}, contended {link['contended_s']}, the timeline {once}, "
                   f"{twice} ns")
    for job in jobs:
        spans = [span for each in timeline.links.values() for span in each if span.job == job.number]
        if job.row["communication_s"] and union(spans)[0] > job.time("communication_s"):
            yield f"{job.name}: communication_s {job.row['communication_s']}, its transfers cover {union(spans)[0]} ns"


def is_hierarchical(method):
    """Whether the method has messages that stay inside servers."""
    return method.get("hierarchical") or method.get("policy") in ("hierarchical", "hitopk")


def traffic(scenario, found, jobs, timeline):
    """A job whose iterations are alike sends as many transfers and bytes in each, as many as `messages` says."""
    training = scenario.spec.get("training", {})
    for job in jobs:
        entry = training.get(job.row["model"], {})
        alike = not PHASED & {entry.get("compression", {}).get("policy")} and "parallel" not in entry
        whole = not any(map(job.row.count, ("preemptions", "interruptions", "resizes", "covered_failures")))
        if job.timed or not alike or not whole or job.row["state"] != "finished" or not job.row["messages"]:
            continue
        for link, spans in timeline.links.items():
            by_iteration = {}
            for span in spans:
                if span.job == job.number:
                    count, size = by_iteration.get(span.args["iteration"], (0, 0))
                    by_iteration[span.args["iteration"]] = count + 1, size + span.args["bytes"]
            if not by_iteration:
                continue
            if len(set(by_iteration.values())) > 1 or len(by_iteration) != job.row.count("iterations"):
                yield f"{job.name}: transfers and bytes on {link} by iteration: {by_iteration}"
            count, inside = next(iter(by_iteration.values()))[0], is_hierarchical(entry.get("compression", {}))
            if count > job.row.count("messages") or count != job.row.count("messages") and not inside:
                yield f"{job.name}: messages is {job.row['messages']}, on {link} it has {by_iteration} by iteration"


def whose(scenario, found, jobs, timeline):
    """Jobs run on servers of their virtual cluster and of types that they may use, and quotas hold at each instant."""
    servers = reader.Servers(scenario)
    demands = scenario.spec["workload"].get("demands_types", True)
    edges = {}
    for number, gpus in timeline.by_job.items():
        job = jobs[number]
        for gpu, spans in gpus.items():
            server = timeline.server_of[gpu]
            if servers.vcs and not servers.may_use(job, server):
                yield f"{job.name} of virtual cluster '{job.vc}' ran on server {server} of '{servers.owner[server]}'"
            if demands and job.given.get("gpu_type", servers.type[server]) != servers.type[server]:
                yield f"{job.name} asked for {job.given['gpu_type']} and ran on server {server}, {servers.type[server]}"
            vc = servers.vc_of(job)
            if vc in servers.quotas and vc not in servers.borrows:
                for span in spans:
                    edges.setdefault(vc, []).extend([(span.end, 0, gpu, number), (span.start, 1, gpu, number)])
    for vc, each in edges.items():
        holds = {}
        for at, begins, gpu, number in sorted(each):
            holds[gpu, number] = holds.get((gpu, number), 0) + (1 if begins else -1)
            used = len([1 for count in holds.values() if count > 0])
            if used > servers.quotas[vc]:
                yield f"virtual cluster {vc} has {used} GPUs at {at} ns, its quota is {servers.quotas[vc]}"
                break


def amount(text):
    """A number of CPUs, or of GiB."""
    return float(str(text or 0).removesuffix("GiB"))


def hosts(scenario, found, jobs, timeline):
    """On no server do the GPUs that jobs hold ask for more CPUs or memory than it has, at any instant."""
    for name, column in (("cpus", "cpus"), ("host_memory", "host_memory")):
        if name not in scenario.spec["cluster"]:
            continue
        limit, edges = amount(scenario.spec["cluster"][name]), []
        for number, gpus in timeline.by_job.items():
            each = amount(jobs[number].given.get(column))
            for gpu, spans in gpus.items():
                for span in spans if each else []:
                    edges += [(span.end, 0, gpu, number, each), (span.start, 1, gpu, number, each)]
        holds, used = {}, {}
        for at, begins, gpu, number, each in sorted(edges):
            before = holds.get((gpu, number), 0)
            holds[gpu, number] = before + (1 if begins else -1)
            server = timeline.server_of[gpu]
            used[server] = used.get(server, 0) + each * ((holds[gpu, number] > 0) - (before > 0))
            if used[server] > limit + 1e-6:
                yield f"server {server}: jobs hold {used[server]} of {name} at {at} ns, it has {limit}"
                return


def outages(scenario, found, jobs, timeline):
    """No GPU works while a listed outage has it, and down_s counts that time."""
    failures = scenario.spec.get("failures", {})
    rows = scenario.tables.get("outages.csv", []) if "events" in failures else []
    servers = {}
    for row in rows:
        down, up = reader.ns(row["down_s"]), reader.ns(row["up_s"])
        servers.setdefault(int(row["component"].removeprefix("server")), []).append(Span(down, up, None, row=row))
    for gpu in found.gpus:
        out = servers.get(gpu.count("server"), [])
        clipped = [Span(min(span.start, found.end), min(span.end, found.end), None) for span in out]
        if union(clipped)[0] > gpu.time("down_s") + (0 if "redundancy" not in failures else found.end):
            yield f"GPU {gpu['gpu']}: down_s is {gpu['down_s']}, listed outages take {union(clipped)[0]} ns"
        if "redundancy" in failures:
            continue
        for span in timeline.gpus[int(gpu["gpu"])]:
            for outage in out:
                if span.start < outage.end and span.end > outage.start and span.start < span.end:
                    yield (f"GPU {gpu['gpu']}: {jobs[span.job].name} ran from {span.start} to {span.end} ns in the "
                           f"outage from {outage.start} to {outage.end} ns")


def lent(scenario, found, jobs, timeline):
    """No more of the lent servers are in use than are lent at that instant."""
    loans = scenario.spec.get("loans", {})
    if "events" not in loans or "lent.csv" not in scenario.tables:
        return
    first = max(gpu.count("server") for gpu in found.gpus) + 1 - loans["servers"]
    times = [(reader.ns(row["time_s"]), int(row["lent"])) for row in scenario.tables["lent.csv"]]
    edges = [(at, 1, "lent", number) for at, number in times]
    for gpu, spans in timeline.gpus.items():
        if timeline.server_of[gpu] >= first:
            edges += [(span.end, 0, timeline.server_of[gpu], -1) for span in spans if span.start < span.end]
            edges += [(span.start, 2, timeline.server_of[gpu], 1) for span in spans if span.start < span.end]
    uses, number = {}, 0
    for at, kind, what, change in sorted(edges, key=lambda edge: edge[:2]):
        if kind == 1:
            number = change
            continue
        uses[what] = uses.get(what, 0) + change
        used = [server for server, count in uses.items() if count > 0]
        if kind == 2 and len(used) > number:
            yield f"servers {sorted(used)} are in use at {at} ns, {number} are lent"
            return


def gets_on(scenario, found, jobs, timeline):
    """While jobs wait, not all GPUs are idle for longer than any policy takes from one decision to the next."""
    waits = [job.name for job in jobs if job.row["state"] in ("queued", "preempted")]
    runs = any(job.row["state"] == "running" for job in jobs)
    down = sum(gpu.time("down_s") for gpu in found.gpus)
    is_there = "loans" not in scenario.spec and 2 * down < len(found.gpus) * found.end
    if not waits or runs or not is_there or found.end < LAST_SUBMISSION + IDLE:
        return
    last = max((span.end for spans in timeline.gpus.values() for span in spans), default=0)
    if max(last, LAST_SUBMISSION) < found.end - IDLE:
        yield f"{waits[:3]} wait, though nothing has run since {last} ns"


TIMELINE_LAWS = [one_holder, gangs, gets_on, iterations, launches, busy, transfers, traffic, whose, hosts, outages, lent]


def explained(scenario, job, told):
    """What `contend explain --json` says of a job adds up to its row."""
    row, end = job.row, told["end"]
    waits = [(reader.ns(wait["from_s"]), reader.ns(wait["to_s"])) for wait in told["waits"]]
    attempts = told["attempts"]
    spans = [(reader.ns(each["from_s"]), reader.ns(each["to_s"]) if each["to_s"] is not None else end)
             for each in attempts]
    if sum(to - at for at, to in waits) != job.time("waited_s") or reader.ns(told["waited_s"]) != job.time("waited_s"):
        yield f"{job.name}: its waits add up to {sum(to - at for at, to in waits)} ns, waited_s is {row['waited_s']}"
    if sum(to - at for at, to in spans) != job.time("held_s"):
        yield f"{job.name}: its attempts add up to {sum(to - at for at, to in spans)} ns, held_s is {row['held_s']}"
    line = sorted(waits + spans)
    for (_, before), (after, _) in zip(line, line[1:]):
        if after < before:
            yield f"{job.name}: it waits and runs, or runs twice, at {after} ns"
    if attempts and len(attempts) != row.count("restarts") + 1:
        yield f"{job.name}: {len(attempts)} attempts, {row['restarts']} restarts"
    for each in attempts:
        if each["ended_by"] == "preempted" and each["to_s"] == each["from_s"]:
            yield f"{job.name}: it starts and is preempted at {each['from_s']} s"
    for word, column in (("preempted", "preemptions"), ("resized", "resizes"), ("interrupted", "interruptions")):
        count = sum(1 for each in attempts if each["ended_by"] == word)
        if count != row.count(column):
            yield f"{job.name}: {count} attempts were {word}, {column} is {row[column]}"
    servers = reader.Servers(scenario)
    for each in attempts:
        gpus = sum(on["gpus"] for on in each["servers"])
        if not job.elastic and gpus != job.gpus:
            yield f"{job.name}: {gpus} GPUs from {each['from_s']} s on, its gang has {job.gpus}"
        for on in each["servers"]:
            if on["gpus"] > servers.gpus[on["server"]] or servers.vcs and not servers.may_use(job, on["server"]):
                yield f"{job.name}: {on['gpus']} GPUs on server {on['server']} from {each['from_s']} s on"


def reserved(scenario, jobs, job, told):
    """No job starts later than its first reservation, where no estimate of a duration is too short."""
    start, kept = job.time("start_s"), told["reservations"]
    if start is None or not kept or reader.is_an_estimate_short(scenario, jobs):
        return
    if start > reader.ns(kept[0]["first"]["start_s"]):
        yield f"{job.name}: starts at {job.row['start_s']}, and was promised {kept[0]['first']['start_s']}"


def together(scenario, jobs, told):
    """All jobs, explained: on no server jobs with a duration hold more GPUs than it has, and quotas hold at each
    instant.

    Jobs of iterations share GPUs as long as their memory fits, so they count for quotas only.
    """
    servers = reader.Servers(scenario)
    most = scenario.spec.get("scheduling", {}).get("sharing", {}).get("most", 2) if "sharing" in scenario.spec.get(
        "scheduling", {}) else 1
    edges = []
    for job, one in zip(jobs, told):
        vc = servers.vc_of(job)
        for each in one["attempts"]:
            start = reader.ns(each["from_s"])
            end = one["end"] if each["to_s"] is None else reader.ns(each["to_s"])
            for on in each["servers"] if start < end else []:
                for at, sign in ((end, -1), (start, 1)):
                    if job.timed:
                        edges.append((at, sign, ("server", on["server"]), sign * on["gpus"] * job.share))
                    if vc in servers.quotas and vc not in servers.borrows:
                        edges.append((at, sign, ("quota", vc), sign * on["gpus"]))
    used = {}
    for at, _, (kind, name), change in sorted(edges, key=lambda edge: edge[:2]):
        used[kind, name] = used.get((kind, name), 0) + change
        limit = servers.gpus[name] * most if kind == "server" else servers.quotas[name]
        if used[kind, name] > limit + 1e-6:
            yield f"{kind} {name} has {used[kind, name]} GPUs at {at} ns, its limit is {limit}"
            return
