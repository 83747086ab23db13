"""Laws that hold of the tables and figures of every run, from the pages of docs/ alone: nothing here knows the engine.

A law is a function that yields what breaks it, in words.
"""

import math

import results as reader

LENT_BY = 600 * 10 ** 9  # schedules of loans repeat or end before
FAIR = {"finish-time-fairness", "gandiva-fair", "max-min", "max-min-agnostic", "max-min-water-filling"}
ANYWHERE = {"first-fit", "random", "spread"}  # a gang has a place wherever as many GPUs are free
ROUNDS_FOR_A_TURN = 4  # for each job that is there
STATES = {"finished", "given_up", "failed", "submitted", "queued", "running", "preempted"}
AT_MOST = [("restart_s", "overhead_s"), ("overhead_s", "held_s"), ("redone_s", "held_s"), ("detection_s", "away_s"),
           ("lost_to_failures_gpu_s", "lost_gpu_s"), ("lost_to_second_order_gpu_s", "lost_gpu_s"),
           ("contended_s", "communication_s"), ("shared_s", "held_s"), ("lost_to_sharing_s", "shared_s")]


def order(scenario, found, jobs):
    """submit <= start <= finish <= end of the run; the sums of times; parts within their wholes."""
    for job in jobs:
        row, name = job.row, job.name
        submit, start, finish = (job.time(f"{column}_s") for column in ("submit", "start", "finish"))
        if row["state"] not in STATES:
            yield f"{name}: the state is {row['state']}"
        if (row["state"] in ("finished", "given_up")) != (finish is not None):
            yield f"{name}: {row['state']} with finish_s '{row['finish_s']}'"
        if row["state"] == "submitted":
            submit = None  # it would have come later
        known = [time for time in (submit, start, finish, found.end) if time is not None]
        if known != sorted(known):
            yield f"{name}: submit, start, finish and end of the run are {known}"
        if start is not None and job.time("queueing_s") != start - submit:
            yield f"{name}: queueing_s is not start - submit"
        if start is not None and job.time("queueing_s") > job.time("waited_s"):
            yield f"{name}: waited_s is less than the first wait"
        if job.time("jct_s") != (finish - submit if row["state"] == "finished" else None):
            yield f"{name}: jct_s is not finish - submit"
        if finish is not None:
            parts = [job.time(f"{column}_s") for column in ("waited", "held", "away")]
            if finish - submit != sum(parts):
                yield f"{name}: finish - submit is {finish - submit}, waited + held + away is {parts}"
        for part, whole in AT_MOST:
            if job.time(part) is not None and job.time(part) > job.time(whole):
                yield f"{name}: {part} {row[part]} is more than {whole} {row[whole]}"
        for column, text in row.items():
            quicker = column == "slowed_gpu_s" and "jitter" in scenario.spec.get("failures", {})
            if column.endswith("_s") and text.startswith("-") and not quicker:
                yield f"{name}: {column} is negative: {text}"
        if job.given and "after" not in job.given and "think_time" not in scenario.spec["workload"]:
            if submit is not None and submit != reader.ns(job.given["submit_s"]):
                yield f"{name}: submitted at {row['submit_s']}, the list says {job.given['submit_s']}"


def afterwards(scenario, found, jobs):
    """A job with `after` is submitted think_s after the last of these jobs has ended."""
    by_name = {job.name: job for job in jobs}
    for job in jobs:
        if not job.given.get("after"):
            continue
        before = [by_name[name] for name in job.given["after"].split(";") if name in by_name]
        ends = [each.time("finish_s") for each in before]
        if None in ends:
            if job.time("submit_s") is not None and all(each.row["state"] != "failed" for each in before):
                yield f"{job.name}: submitted though a job before it has not ended"
        elif job.time("submit_s") is None:
            if found.end > max(ends) + (reader.ns(job.given.get("think_s", "")) or 0):
                yield f"{job.name}: not submitted though all jobs before it have ended"
        elif job.time("submit_s") != max(ends) + (reader.ns(job.given.get("think_s", "")) or 0):
            yield f"{job.name}: submitted at {job.row['submit_s']}, not after {job.given['after']}"


def everybody(scenario, found, jobs):
    """All jobs of the list are there, in its order."""
    if scenario.jobs and [job.name for job in jobs] != [row["job_id"] for row in scenario.jobs]:
        yield f"jobs.csv has {[job.name for job in jobs]}"
    generate = scenario.spec["workload"].get("generate")
    if generate and len(jobs) != sum(generate["sizes"].values()):
        yield f"{len(jobs)} jobs were generated"


def starts(scenario, found, jobs):
    """Each start of a job that has ended, but the first, has a cause: a preemption, failure, attempt or resize."""
    for job in jobs:
        row = job.row
        if row["state"] not in ("finished", "given_up"):
            continue
        causes = sum(row.count(name) for name in ("preemptions", "interruptions", "resizes", "attempts")) - 1
        last = int(row["state"] == "given_up")  # an interruption after which it didn't start again
        if row.count("restarts") != causes - last:
            yield f"{job.name}: {row['restarts']} restarts, but {causes - last} reasons for one"
    if "redundancy" not in scenario.spec.get("failures", {}) and all(not job.elastic for job in jobs):
        placed = sum(gpu.count("jobs") for gpu in found.gpus)
        needed = sum(job.gpus * (job.row.count("restarts") + 1) for job in jobs if job.row["start_s"])
        if placed != needed:
            yield f"{placed} placements on GPUs, but starts of gangs need {needed}"


def work(scenario, found, jobs):
    """A finished job has done its work, and its time on GPUs is that work, what was undone, and overheads."""
    spec = scenario.spec
    sharing = spec.get("scheduling", {}).get("sharing", {}).get("law")
    scatter = spec["workload"].get("scatter_penalty")
    redundant = "redundancy" in spec.get("failures", {})
    speeds = {kind["name"]: kind.get("speed", 1) for kind in spec["cluster"].get("types", [])}
    factor = spec["workload"].get("scaling", {}).get("durations", 1)
    for job in jobs:
        row = job.row
        held, overhead, redone = (job.time(f"{column}_s") for column in ("held", "overhead", "redone"))
        ends_well = row["state"] == "finished" and row["outcome"] not in ("timeout", "failed")
        if row.count("iterations_done") > row.count("iterations"):
            yield f"{job.name}: {row['iterations_done']} of {row['iterations']} iterations are done"
        told = not job.timed or job.given.get("iterations")
        if ends_well and told and row.count("iterations_done") != row.count("iterations"):
            yield f"{job.name}: finished with {row['iterations_done']} of {row['iterations']} iterations"
        if row["iteration_s"] and job.time("iteration_s") != held // row.count("iterations_done"):
            yield f"{job.name}: iteration_s is not held_s by iterations_done"
        if row["effective"]:
            whole = held + job.time("waited_s") + job.time("away_s")
            if not math.isclose(row.number("effective"), (held - overhead - redone) / whole, abs_tol=1e-9):
                yield f"{job.name}: effective is {row['effective']}"
        if not job.timed or job.elastic:
            continue
        if not sharing and job.time("lost_gpu_s") != redone * job.gpus:
            yield f"{job.name}: lost_gpu_s {row['lost_gpu_s']} is not redone_s {row['redone_s']} x {job.gpus}"
        if not ends_well or job.in_table or not job.given or redundant or job.given.get("batch_rule"):
            continue
        planned = reader.ns(job.given["duration_s"])
        planned += sum(map(reader.ns, filter(None, job.given.get("attempts_s", "").split(";"))))
        once = factor == 1 and "retries" not in spec.get("scheduling", {})
        if once and job.time("compute_gpu_s") != planned * job.gpus:
            yield f"{job.name}: compute_gpu_s is {row['compute_gpu_s']}, its work is {planned} ns on {job.gpus} GPUs"
        if scatter or sharing or any(speed != 1 for speed in speeds.values()) or factor != 1:
            continue
        useful = held - overhead - redone
        if useful * job.gpus != job.time("compute_gpu_s"):
            yield f"{job.name}: useful time is {useful} ns, compute_gpu_s is {row['compute_gpu_s']}"


def placed(scenario, found, jobs):
    """Jobs are on servers of types that they may use, and within their numbers of GPUs and servers."""
    servers = reader.Servers(scenario)
    table_types = {}
    for name in ("rates.csv", "goodput.csv"):
        for row in scenario.tables.get(name, []):
            table_types.setdefault(row["model"], set()).add(row["type"])
    for job in jobs:
        kind = job.row["server_type"]
        most = len(servers.gpus) if job.elastic else min(len(servers.gpus), job.gpus)
        if job.row.count("servers") > most:
            yield f"{job.name}: {job.gpus} GPUs on {job.row['servers']} servers"
        if kind and job.given.get("gpu_type") and kind != job.given["gpu_type"]:
            yield f"{job.name}: asked for {job.given['gpu_type']}, ran on {kind}"
        if kind and job.in_table and kind not in table_types[job.row["model"]]:
            yield f"{job.name}: {job.row['model']} has no row for {kind}, where it ran"
        if job.row["mean_gpus"]:
            least, most = (int(job.given.get(f"{which}_gpus") or job.gpus) for which in ("min", "max"))
            if not least - 1e-9 <= job.row.number("mean_gpus") <= most + 1e-9 and job.elastic:
                yield f"{job.name}: mean_gpus {job.row['mean_gpus']} is not within {least} to {most}"


def gpu_time(scenario, found, jobs):
    """No GPU is busy and out of service longer than the run, and the sums over GPUs are those over jobs."""
    redundant = "redundancy" in scenario.spec.get("failures", {})
    for gpu in found.gpus:
        busy, down = gpu.time("busy_s"), gpu.time("down_s")
        if not 0 <= busy <= found.end or not 0 <= down <= found.end or busy + down > found.end:
            yield f"GPU {gpu['gpu']}: busy {gpu['busy_s']} s and down {gpu['down_s']} s of a run of {found.end} ns"
    timed_alone = all(job.timed and not job.elastic and job.share == 1 for job in jobs) and not redundant
    timed_alone = timed_alone and "like" not in scenario.spec["workload"]  # its jobs may have parts of GPUs
    if timed_alone and "sharing" not in scenario.spec.get("scheduling", {}):
        busy, held = sum(gpu.time("busy_s") for gpu in found.gpus), sum(job.time("held_s") * job.gpus for job in jobs)
        if busy != held:
            yield f"GPUs were busy for {busy} ns, jobs held them for {held} ns"
    if found.types:
        if sum(row.time("busy_gpu_s") for row in found.types) != sum(gpu.time("busy_s") for gpu in found.gpus):
            yield "busy_gpu_s of types.csv is not the sum of busy_s of gpus.csv"
        if sum(row.count("jobs") for row in found.types) != sum(gpu.count("jobs") for gpu in found.gpus):
            yield "jobs of types.csv is not the sum of jobs of gpus.csv"
    for link in found.links:
        if not 0 <= link.time("contended_s") <= link.time("busy_s") <= found.end:
            yield f"{link['link']}: busy {link['busy_s']}, contended {link['contended_s']}, in a run of {found.end} ns"


def shared(scenario, found, jobs):
    """sharing.csv adds up to the columns of jobs.csv."""
    sums = {}
    for row in found.sharing:
        time, lost = sums.get(row["job_id"], (0, 0))
        sums[row["job_id"]] = (time + row.time("shared_s"), lost + row.time("lost_s"))
    for job in jobs:
        if sums.get(job.row["job_id"], (0, 0)) != (job.time("shared_s"), job.time("lost_to_sharing_s")):
            yield f"{job.name}: shared_s and lost_to_sharing_s aren't the sums of sharing.csv"


def fabric(scenario, found, jobs):
    """No link carries more than it can, and the bytes of a link are the bytes of its jobs."""
    by_link = {}
    for row in found.fabric_jobs:
        by_link[row["link"]] = by_link.get(row["link"], 0) + row.number("bytes")
    for link in found.fabric:
        size = link.number("bytes")
        if not math.isclose(size, by_link.get(link["link"], 0), rel_tol=1e-9, abs_tol=1):
            yield f"{link['link']}: {size} bytes, its jobs sent {by_link.get(link['link'], 0)}"
        could = link.number("bandwidth_Bps") * link.time("busy_s") * 1e-9
        if size > could * (1 + 1e-9) + 1e-3 * link.number("bandwidth_Bps") * 1e-6:
            yield f"{link['link']}: {size} bytes in a busy time of {link['busy_s']} s"
        if not 0 <= link.number("utilisation") <= 1 + 1e-9 or link.time("busy_s") > found.end:
            yield f"{link['link']}: utilisation {link['utilisation']}, busy {link['busy_s']}"
    for row in found.fabric_utilisation:
        if not 0 <= row.number("utilisation") <= 1 + 1e-6:
            yield f"{row['link']} from {row['start_s']} s on: utilisation {row['utilisation']}"


def promises(scenario, found, jobs):
    """A job that `elasticflow` has admitted meets its deadline, to the microsecond, where it can foresee everything."""
    if scenario.spec["policies"]["scheduling"]["policy"] != "elasticflow" or not reader.nothing_unforeseen(scenario, jobs):
        return
    for job in jobs:
        finish, deadline = job.time("finish_s"), job.time("deadline_s")
        if job.row["state"] == "finished" and deadline is not None and finish > deadline + 1000:
            yield f"{job.name}: admitted, due at {job.row['deadline_s']}, and ends at {job.row['finish_s']}"


def refused(scenario, found, jobs):
    """A job that needs servers which nobody ever lends is refused, and doesn't wait for ever."""
    if "loans" not in scenario.spec or found.end < 2 * LENT_BY:
        return
    servers = reader.Servers(scenario)
    there = {gpu.count("server") for gpu in found.gpus if gpu.time("down_s") < found.end}
    for job in jobs:
        if job.row["state"] != "queued" or job.row["start_s"] or job.time("submit_s") > found.end - LENT_BY:
            continue
        kind = job.given.get("gpu_type")
        usable = {server for server, name in enumerate(servers.type) if not kind or name == kind}
        if not usable & there:
            yield f"{job.name}: waits for servers of type {kind}, none of which is ever lent"


def turns(scenario, found, jobs):
    """Under rounds that give every job a share, none waits long for its first time as long as no job comes or ends."""
    policies, rules = scenario.spec["policies"], scenario.spec.get("scheduling", {})
    policy = policies["scheduling"]
    spoilers = {"attempts_s", "place", "after", "batch_rule", "gpu_share"}
    placement = policies["placement"]["policy"]
    if (policy["policy"] not in FAIR or placement == "consolidated-or-wait" or "retries" in rules
            or "kill_at_limit" in rules or {"failures", "loans", "measure"} & set(scenario.spec)
            or "vcs" in scenario.spec["cluster"] or policy.get("entities", "none") != "none" or not scenario.jobs
            or any(job.elastic or any(job.given.get(column) for column in spoilers) for job in jobs)):
        return
    round_ns, until_shares = (int(policy.get(key, usual) * 10 ** 9) for key, usual in
                              (("round_s", 360), ("reallocate_s", 1920)))
    here = [job for job in jobs if job.row["state"] not in ("failed", "submitted")]
    events = sorted({at for job in here for at in (job.time("submit_s"), job.time("finish_s")) if at is not None})
    for job in here:
        if job.gpus > 1 and placement not in ANYWHERE:
            continue  # enough GPUs may be free, and yet none together
        first = job.time("start_s") if job.row["start_s"] else found.end
        times = [job.time("submit_s"), *(at for at in events if job.time("submit_s") < at < first), first]
        for begin, end in zip(times, times[1:]):
            present = sum(1 for other in here if other.time("submit_s") <= begin
                          and not (other.row["finish_s"] and other.time("finish_s") <= begin))
            if end - begin > until_shares + (2 + ROUNDS_FOR_A_TURN * present) * round_ns:
                yield f"{job.name}: has no turn from {begin} to {end} ns, while the same {present} jobs are there"


ROW_LAWS = [order, promises, refused, turns, afterwards, starts, work, placed, gpu_time, shared, fabric]
