"""Scenarios that differ from a drawn one only in what must change nothing for its jobs."""

import copy
import math

import draw

IDLE_SERVERS = 2


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


def of(scenario):
    """Yields the variants of a scenario, as (name, scenario). Where servers fail or are lent their number means
    something; at `flow` a fabric has as many as it has."""
    spec = scenario.spec
    if "types" in spec["cluster"]:
        return
    changes = {"a named type": named}
    counts = {"failures", "loans"} & set(spec) or spec["network"]["fidelity"] == "flow"
    if scenario.jobs and not counts and spec["policies"]["scheduling"]["policy"] not in draw.ONE_TYPE | draw.SHARES:
        changes["an idle type"] = beside_idle
    for name, change in changes.items():
        other = copy.deepcopy(scenario)
        change(other)
        yield name, other


def differences(jobs, others):
    """What differs between the rows of jobs.csv, in words, but for the names of types; figures are sums in the order of
    types, so that their last digits may differ."""
    for one, two in zip(jobs, others, strict=True):
        for column, text in one.items():
            if text == two[column] or column == "server_type":
                continue
            if column == "rho" and math.isclose(float(text), float(two[column]), rel_tol=1e-12):
                continue
            yield f"{one['job_id']}: {column} is {text}, and then {two[column]}"
