"""The figures of a run, computed again from the rows of its tables."""

import math
import re

import results as reader


def mean(values):
    return sum(values) / len(values) if values else None


def percentile(values, share):
    if not values:
        return None
    values = sorted(values)
    place = share * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def seconds(job, column):
    return job.time(column) * 1e-9


def figures_over(jobs):
    """The figures that every group of jobs has."""
    done = [job for job in jobs if job.row["state"] == "finished"]
    completion = [seconds(job, "jct_s") for job in done]
    counts = {state: sum(job.row["state"] == state for job in jobs) for state in ("failed", "given_up", "submitted")}
    return {
        "jobs": len(jobs), "finished": len(done), "failed": counts["failed"], "given_up": counts["given_up"],
        "not_submitted": counts["submitted"], "unfinished": len(jobs) - len(done) - sum(counts.values()),
        "killed": sum(job.row["outcome"] == "timeout" for job in done),
        "failed_outcome": sum(job.row["outcome"] == "failed" for job in done),
        "avg_jct_s": mean(completion), "median_jct_s": percentile(completion, 0.5),
        "p95_jct_s": percentile(completion, 0.95), "max_jct_s": max(completion, default=None),
        "avg_queueing_s": mean([seconds(job, "queueing_s") for job in done]),
        "avg_waiting_s": mean([seconds(job, "waited_s") for job in done]),
    }


def figures(scenario, found, jobs):
    """The figures of the whole run."""
    measured = [job for job in jobs if job.row["measured"] == "1"]
    made = figures_over(measured)
    done = [job for job in measured if job.row["state"] == "finished"]
    made["preemptions"] = sum(job.row.count("preemptions") for job in measured)
    made["restarts"] = sum(job.row.count("restarts") for job in measured)
    made["lost_gpu_s"] = sum(seconds(job, "lost_gpu_s") for job in measured)
    if done:
        first = min(job.time("submit_s") for job in measured if job.time("submit_s") is not None)
        made["makespan_s"] = (max(job.time("finish_s") for job in done) - first) * 1e-9
    rhos = [job.row.number("rho") for job in measured if job.row["rho"]]
    made["avg_rho"], made["max_rho"] = mean(rhos), max(rhos, default=None)
    made["unfair_share"] = mean([float(rho > 1) for rho in rhos])
    if rhos:
        made["jain_index"] = sum(1 / rho for rho in rhos) ** 2 / (len(rhos) * sum(rho ** -2 for rho in rhos))
    due = [job for job in measured if job.row["deadline_s"] and job.row["state"] != "submitted"]
    made["deadlines_met"] = mean([float(met_deadline(job)) for job in due])
    costs = [job.row.number("cost") for job in measured if job.row["cost"]]
    made["cost"] = sum(costs) if costs else None
    transfer = sum(seconds(job, "communication_s") for job in jobs if job.row["communication_s"])
    contended = sum(seconds(job, "contended_s") for job in jobs if job.row["contended_s"])
    if "measure" not in scenario.spec:
        made["contended_share"] = contended / transfer if transfer else 0
        if not made["unfinished"] and not made["not_submitted"] and made.get("makespan_s"):
            ends = [job.time("finish_s") for job in measured if job.time("finish_s") is not None]
            length = (max(ends) - first) * 1e-9
            made["gpu_utilisation"] = sum(gpu.time("busy_s") for gpu in found.gpus) * 1e-9 / (length * len(found.gpus))
            busy = sum(link.time("busy_s") for link in found.links) * 1e-9
            made["network_utilisation"] = busy / (length * len(found.links))
    if found.figure("interruptions") is not None:
        made["interruptions"] = sum(job.row.count("interruptions") for job in measured)
        if made["interruptions"]:
            made["interruption_mean_s"] = sum(seconds(job, "held_s") for job in measured) / made["interruptions"]
    return made


def met_deadline(job):
    """By then, and with success: a job that was killed or failed has met nothing."""
    if job.row["state"] != "finished" or job.row["outcome"] in ("timeout", "failed"):
        return False
    return job.time("finish_s") <= job.time("deadline_s")


def differs(wanted, value):
    if wanted is None or value is None:
        return (wanted is None) != (value is None)
    return not math.isclose(wanted, value, rel_tol=1e-9, abs_tol=1e-9)


def summary(scenario, found, jobs):
    """summary.json has the figures that follow from the rows."""
    for name, wanted in figures(scenario, found, jobs).items():
        if differs(wanted, found.figure(name)):
            yield f"{name} is {found.figure(name)}, the rows give {wanted}"
    for share in ("goodput", "effective_time", "gpu_utilisation", "network_utilisation", "jain_index"):
        value = found.figure(share)
        if value is not None and not -1e-12 <= value <= 1 + 1e-9:
            yield f"{share} is {value}"
    for name, ratio in (("avg_jct_s", "jct_by_bound"), ("makespan_s", "makespan_by_bound")):
        figure, bound, times = (found.figure(key) for key in (name, f"bound_{name}", ratio))
        if (bound is None) != (figure is None) or differs(figure / bound if bound else None, times):
            yield f"{ratio} is {times}, {figure} by {bound}"
        if times is not None and times < 1 - 1e-9:
            yield f"{name} is {figure}, below its bound {bound}"


def size_group(job):
    return 1 << (job.gpus - 1).bit_length()


def groups(scenario, found, jobs):
    """The groups of summary.json have the figures that follow from their rows."""
    keys = {"vc": lambda job: job.row["vc"], "user": lambda job: job.row["user"], "model": lambda job: job.row["model"],
            "outcome": lambda job: job.row["outcome"]}
    measured = [job for job in jobs if job.row["measured"] == "1"]
    for grouping, key in keys.items():
        for group in found.replica.get("groups", {}).get(grouping, []):
            members = [job for job in measured if reader.plain_name(key(job)) == reader.plain_name(str(group["value"]))]
            for name, wanted in figures_over(members).items():
                value = group.get(name)
                if differs(wanted, None if value is None else float(value)):
                    yield f"{grouping} {group['value']}: {name} is {value}, the rows give {wanted}"
        named = found.replica.get("groups", {}).get(grouping)
        if named and sum(int(group["jobs"]) for group in named) != len(measured):
            yield f"the groups by {grouping} don't have all jobs"


PRINTED = {"average JCT": "avg_jct_s", "makespan": "makespan_s", "average queueing": "avg_queueing_s",
           "average waiting": "avg_waiting_s", "preemptions": "preemptions", "restarts": "restarts"}


def printed(found, text):
    """What `contend run` prints is what summary.json has, to its digits."""
    counts = re.search(r"^  jobs +(\d+) finished, (\d+) failed, (\d+) unfinished", text, re.M)
    if not counts:
        yield "no line `jobs`"
        return
    for name, count in zip(("finished", "failed"), counts.groups()):
        if int(count) != found.figure(name):
            yield f"{count} {name} are printed, {found.figure(name):g} are in summary.json"
    for label, name in PRINTED.items():
        line = re.search(rf"^  {label} +([-0-9.e+]+)", text, re.M)
        value = found.figure(name)
        if line and value is not None and not math.isclose(float(line[1]), value, rel_tol=1e-4, abs_tol=1e-4):
            yield f"{label} {line[1]} is printed, summary.json has {value}"


SUMMARY_LAWS = [summary, groups]
