"""Scenarios that differ from a drawn one only in what must change nothing for its jobs."""

import copy
import decimal
import math

import draw

IDLE_SERVERS = 2
FASTER = 4  # a power of two, so that times at that speed are whole nanoseconds where they were
PACE = 10 ** 9  # parts of a pace, the time for a second of work

# Columns of jobs.csv that a variant changes: work in seconds at speed 1, of which a faster cluster does more.
UNEQUAL = {"a faster cluster": {"compute_gpu_s"}}


def named(scenario):
    """The type of all servers gets a name."""
    cluster = scenario.spec["cluster"]
    cluster["types"] = [{"name": "own", **{key: cluster.pop(key) for key in ("servers", "gpus_per_server")}}]


def beside_idle(scenario):
    """All jobs ask for the type of the servers, and servers of another type come behind them."""
    named(scenario)
    types = scenario.spec["cluster"]["types"]
    types.append({**types[0], "name": "other", "servers": IDLE_SERVERS})
    for row in scenario.jobs:
        row["gpu_type"] = "own"


def counts_in_work(scenario):
    """Whether nothing but durations and periods of checkpoints says how much work there is. Left out are scenarios
    with iterations or tables, whose speeds are told in other words; speeds whose paces the engine rounds, or at which
    a run that is cut after a whole number of nanoseconds has done half of one, as it has with a penalty for servers
    that is no whole number; factors of durations, also for estimates, whose products it rounds; think times, which it works out of durations on the clock; and periods that
    follow from failures, which come on the clock."""
    spec, workload = scenario.spec, scenario.spec["workload"]
    factor = spec["policies"]["scheduling"].get("estimate_factor", 1)
    timed = scenario.jobs and all(row.get("duration_s") and not row.get("iterations") for row in scenario.jobs)
    speeds = [kind.get("speed", 1) for kind in spec["cluster"].get("types", [])]
    return (timed and all(speed % 1 == 0 and PACE % (FASTER * speed) == 0 for speed in speeds) and factor % 1 == 0
            and not {"throughputs", "goodput", "regimes", "think_time"} & set(workload)
            and all(float(each) % 1 == 0 for each in workload.get("scatter_penalty", []))
            and "durations" not in workload.get("scaling", {})
            and spec.get("checkpoints", {}).get("period") != "optimal")


def faster(scenario):
    """All servers are so many times as fast, and all jobs have so many times as much work."""
    spec = scenario.spec
    if "types" not in spec["cluster"]:
        named(scenario)
    for kind in spec["cluster"]["types"]:
        kind["speed"] = FASTER * kind.get("speed", 1)
    for row in scenario.jobs:
        for column in ("duration_s", "attempts_s"):
            if row.get(column):
                row[column] = ";".join(str(FASTER * decimal.Decimal(each)) for each in row[column].split(";"))
    if "period" in spec.get("checkpoints", {}):
        spec["checkpoints"]["period"] = f"{FASTER * int(spec['checkpoints']['period'].removesuffix('s'))}s"


def of(scenario):
    """Yields the variants of a scenario, as (name, scenario). Where servers fail or are lent their number means
    something; at `flow` a fabric has as many as it has."""
    spec = scenario.spec
    changes = {}
    if "types" not in spec["cluster"]:
        changes["a named type"] = named
        counts = {"failures", "loans"} & set(spec) or spec["network"]["fidelity"] == "flow"
        if scenario.jobs and not counts and spec["policies"]["scheduling"]["policy"] not in draw.ONE_TYPE | draw.SHARES:
            changes["an idle type"] = beside_idle
    if counts_in_work(scenario):
        changes["a faster cluster"] = faster
    for name, change in changes.items():
        other = copy.deepcopy(scenario)
        change(other)
        yield name, other


def differences(jobs, others, unequal=()):
    """What differs between the rows of jobs.csv, in words, but for the names of types and the columns `unequal`;
    figures are sums in the order of types, so that their last digits may differ."""
    for one, two in zip(jobs, others, strict=True):
        for column, text in one.items():
            if text == two[column] or column == "server_type" or column in unequal:
                continue
            if column == "rho" and text and two[column] and math.isclose(float(text), float(two[column]), rel_tol=1e-12):
                continue
            yield f"{one['job_id']}: {column} is {text}, and then {two[column]}"
