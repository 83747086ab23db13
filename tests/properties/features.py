"""What scenarios have really met: not what their keys say, but what their results show."""

import itertools
import re

FOLDING = re.compile(rb'"folding": \{.*?\n      \},', re.S)


def comparable(name, way, texts):
    """What of a file of a run in this way must be the same to the byte as in the plain run: all, but for how many GPUs
    and servers were simulated by themselves, which is fewer where a run leaps."""
    return [text if way == "again" or name != "summary.json" else FOLDING.sub(b"", text) for text in texts]


def met(scenario, found, jobs):
    """The features that this run exercised."""
    return set(itertools.chain(of_policies(scenario, found, jobs), of_jobs(jobs), of_inputs(scenario, found, jobs),
                               of_failures(scenario, found, jobs)))


def differs_from_zero(jobs, column):
    return any(job.row[column] not in ("", "0") for job in jobs)


def true_ones(features):
    """The names of the features whose condition holds."""
    return [name for name, holds in features.items() if holds]


def of_policies(scenario, found, jobs):
    """Policies that ran jobs, the network that carried something, and the network's actions."""
    spec = scenario.spec
    if any(job.row["start_s"] for job in jobs):
        for kind in ("scheduling", "placement"):
            yield f"{kind} {spec['policies'][kind]['policy']}"
    for job in jobs:
        for kind in ("fusion", "compression"):
            if job.row[kind] and job.row["messages"] not in ("", "0") and job.row["state"] == "finished":
                yield f"{kind} {job.row[kind].split(' ')[0]}"
    yield from true_ones({
        "communication held back": differs_from_zero(jobs, "communication_wait_s"),
        "leaps": found.manifest["replicas"][0]["leaps"] > 0,
    })
    if not differs_from_zero(jobs, "communication_s"):
        return
    network = spec["network"]
    yield f"fidelity {network['fidelity']}"
    yield from true_ones({
        "contention": differs_from_zero(jobs, "contended_s"),
        "interference": "interference" in network and differs_from_zero(jobs, "slowed_gpu_s"),
    })
    if network["fidelity"] == "flow":
        yield f"routing {network['routing']}"
        yield from true_ones({
            "fabric": found.fabric, "planning levels": network.get("planning", {}).get("levels", 1) > 1,
            "fabric link down": any(row["down_s"] != "0" or row["reduced_s"] != "0" for row in found.fabric)})


def of_jobs(jobs):
    """What became of jobs."""
    for column in ("preemptions", "interruptions", "resizes", "covered_failures", "left_behind"):
        if any(job.row.count(column) for job in jobs):
            yield column
    for column in ("host_s", "shared_s", "restart_s", "redone_s", "detection_s", "slowed_gpu_s", "lost_to_failures_gpu_s"):
        if differs_from_zero(jobs, column):
            yield column
    states, outcomes = {job.row["state"] for job in jobs}, {job.row["outcome"] for job in jobs}
    yield from true_ones({
        "attempts": any(job.row.count("attempts") > 1 for job in jobs), "killed at limit": "timeout" in outcomes,
        "failed outcome": "failed" in outcomes, "given up": "given_up" in states,
        "refused by policy": "failed" in states,
        "unfinished": states & {"queued", "running", "preempted"},
        "deadlines": any(job.row["deadline_s"] for job in jobs), "after": any(job.row["follows"] for job in jobs),
        "types": len({job.row["server_type"] for job in jobs if job.row["server_type"]}) > 1,
        "parallel plans": any(job.row["tokens_per_second"] for job in jobs),
    })


def of_inputs(scenario, found, jobs):
    """Kinds of jobs and of clusters that took part."""
    spec, ran = scenario.spec, [job for job in jobs if job.row["start_s"]]
    vcs = "vcs" in spec["cluster"]
    workload, rules = spec["workload"], spec.get("scheduling", {})
    law = rules.get("sharing", {}).get("law")
    yield from true_ones({
        "places": any(job.given.get("place") for job in ran),
        "table of rates": any(job.in_table for job in ran) and "rates.csv" in scenario.tables,
        "goodput": any(job.in_table for job in ran) and "goodput.csv" in scenario.tables,
        "regimes": any(job.given.get("batch_rule") for job in ran),
        "virtual clusters": vcs and len({job.vc for job in ran}) > 1,
        "own servers": vcs and any(job.vc == "own" for job in ran),
        "quotas": vcs and any(job.vc == "quota" for job in ran),
        "shares of GPUs": any(job.given.get("gpu_share") not in (None, "", "1") for job in ran),
        "job list": scenario.jobs, "generated mix": "generate" in workload,
        "generated like a trace": "like" in workload,
        "scatter penalty": "scatter_penalty" in workload, "quantum": "quantum" in rules,
        "hosts": "cpus" in spec["cluster"], "tight hosts": "cpus" not in spec["cluster"] and any(
            job.given.get("host_memory") for job in ran), "measured window": "measure" in spec,
        f"law of sharing {law}": law and differs_from_zero(jobs, "shared_s"),
    })


def of_failures(scenario, found, jobs):
    """What failed, was lent or kept back, and what was saved."""
    spec = scenario.spec
    failures, saved = spec.get("failures", {}), spec.get("checkpoints", {})
    interrupted = any(job.row.count("interruptions") for job in jobs)
    costs = differs_from_zero(jobs, "overhead_s")
    yield from true_ones({
        "loans": "loans" in spec and any(gpu["down_s"] != "0" for gpu in found.gpus), "spares": "spares" in failures,
        "planned outages": any(row.get("drain_s") for row in scenario.tables.get("outages.csv", [])),
        "list of outages": "events" in failures, "components that fail": "components" in failures and interrupted,
        "jobs that fail": "jobs" in failures and interrupted, "checkpoint store": "store" in saved and costs,
        f"checkpoints {saved.get('policy', 'continuous')}": costs or differs_from_zero(jobs, "redone_s"),
    })


# What a run of the gate must have met beside all policies of scheduling and placement.
COMMON = {
    "a faster cluster", "a named type", "after", "an idle type", "attempts", "checkpoints asynchronous", "checkpoints continuous", "checkpoints just-in-time",
    "checkpoints synchronous", "communication held back", "components that fail", "contention", "deadlines",
    "detection_s", "fabric", "failed outcome", "fidelity analytic", "fidelity contention", "fidelity flow",
    "generated mix", "goodput", "host_s", "hosts", "interference", "interruptions", "job list", "killed at limit",
    "leaps", "list of outages", "loans", "own servers", "parallel plans", "planned outages",
    "preemptions", "quotas", "redone_s", "resizes", "restart_s", "routing planned", "shared_s", "shares of GPUs",
    "slowed_gpu_s", "spares", "table of rates", "tight hosts", "types", "unfinished", "virtual clusters"}
# What only a long run must have met.
RARE = {
    "checkpoint store", "checkpoints none", "covered_failures", "fabric link down", "generated like a trace",
    "given up", "jobs that fail", "law of sharing factor", "law of sharing pairs", "law of sharing stages", "left_behind",
    "lost_to_failures_gpu_s",
    "measured window", "places", "planning levels", "quantum", "refused by policy", "regimes", "routing ecmp",
    "routing ethereal", "routing shortest-path", "routing spraying", "scatter penalty"}
LONG = 500


def expected(catalogue, count):
    """The features that so many scenarios must have met."""
    names = {f"{kind} {name}" for kind in ("scheduling", "placement") for name in catalogue[kind]} | COMMON
    if count >= LONG:
        names |= RARE | {f"{kind} {name}" for kind in ("fusion", "compression") for name in catalogue[kind]}
    return names
