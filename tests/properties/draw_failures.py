"""Draws what fails, what is lent or kept back, and what is saved."""


def withheld(drawer):
    """Draws how many servers are lent or kept as spares, so that no job needs them; returns whether anything fails."""
    alike = len({per for per, _ in drawer.servers}) == 1  # what fails or is lent is counted in servers
    fails = alike and drawer.chance(0.55)
    free = alike and "own" not in drawer.owners and len(drawer.servers) > 2
    wanted = 0.5 if drawer.scheduling == "lyra" else 0.6 if drawer.placement == "own-first" else 0.1
    if free and not drawer.law and not drawer.by_share and drawer.chance(wanted):
        loans(drawer)
        drawer.kept = drawer.keys["loans.servers"]
    elif free and fails and drawer.chance(0.35):
        drawer.keys["failures.spares"] = drawer.kept = 1
        if drawer.chance(0.4):
            drawer.keys["failures.spare_delay"] = "3s"
        if drawer.chance(0.4) and len(drawer.servers) > 3:
            drawer.keys["failures.cold_spares"], drawer.keys["failures.cold_delay"] = 1, "5s"
            drawer.kept = 2
    return fails


def law_of(drawer, low, high):
    mean = f"{drawer.random.uniform(low, high):.1f}s"
    return drawer.pick([{"mean": mean}, {"mean": mean}, {"law": "constant", "mean": mean},
                      {"law": "weibull", "mean": mean, "shape": 0.7},
                      {"law": "lognormal", "mean": mean, "sigma": 1.0}])


def timed(drawer):
    """Whether any job has a duration, from the list or by a table."""
    return any("duration_s" in row or row.get("model") in drawer.models for row in drawer.tables.get("jobs.csv", []))


def failures(drawer):
    keys, servers = drawer.keys, len(drawer.servers)
    may_slow = bool(drawer.iterating) and not timed(drawer) and "network.interference" not in keys
    slow = may_slow and drawer.chance(0.5)
    if drawer.chance(0.6):
        component = {"name": "part", "of": drawer.pick(["gpu", "server", "domain"]), "fails": law_of(drawer, 40, 900),
                     "repair": law_of(drawer, 2, 60)}
        if component["of"] == "domain":
            component["servers"] = drawer.random.randint(1, servers)
        if slow and component["of"] != "domain":
            where = ["slows"] if drawer.fidelity == "flow" else ["slows", "slows_network"]
            component[drawer.pick(where)] = drawer.pick([1.3, 2.5])
        elif component["of"] == "gpu":
            component["drains"] = drawer.chance(0.5)
        if drawer.chance(0.3):
            component["found_by"] = "slowdown" if slow and len(component) > 4 and "slows" in str(component) else (
                drawer.pick(["exit-code", "heartbeat", "timeout"]))
            if component["found_by"] == "slowdown":
                keys["failures.detectors.slow_for"] = "2s"
        keys["failures.components"] = [component]
    if drawer.chance(0.3):
        keys["failures.jobs"] = law_of(drawer, 30, 400)
    if drawer.chance(0.5) or "failures.components" not in keys and "failures.jobs" not in keys:
        outages(drawer)
    keys["failures.repair"] = law_of(drawer, 2, 60)
    for key, values in (("failures.detection", ["1s", "2500ms"]), ("failures.diagnosis", ["2s"]),
                        ("failures.gang", ["hold", "release"]), ("failures.position", ["original", "new"]),
                        ("failures.retries", [0, 1, 3]), ("failures.detectors.timeout", ["10s"]),
                        ("failures.detectors.heartbeat", ["2s"]), ("failures.hangs", [0.5])):
        if drawer.chance(0.5) and (key != "failures.hangs" or "failures.jobs" in keys):
            keys[key] = drawer.pick(values)
    leaves_behind = any("backup_workers" in drawer.entries[name] for name in drawer.entries)
    if drawer.chance(0.12) and slow or may_slow and leaves_behind:
        keys["failures.jitter"] = 0.2
    if slow and "slows" in str(keys.get("failures.components")) and drawer.chance(0.3):
        keys["failures.mitigation.microbatches"] = "500ms"
        keys["failures.mitigation.restart"] = "2s"
    if drawer.chance(0.15) and not (drawer.law or drawer.by_share or drawer.elastic):
        keys["failures.redundancy.cover"] = "replicas"
        keys["failures.redundancy.step_cost"] = drawer.pick([1, 1.1])
        keys["failures.redundancy.failover"] = drawer.pick(["0s", "2s"])
        keys["failures.redundancy.rejoin"] = drawer.pick(["0s", "1s"])


def outages(drawer):
    rows = []
    planned = drawer.chance(0.4)
    for _ in range(drawer.random.randint(1, 4)):
        server = drawer.random.randrange(len(drawer.servers))
        down = drawer.random.uniform(1, 200)
        row = {"component": f"server{server}", "down_s": f"{down:.3f}",
               "up_s": f"{down + drawer.random.uniform(0.5, 60):.3f}"}
        if planned:
            row["drain_s"] = f"{drawer.random.uniform(0, down):.3f}" if drawer.chance(0.7) else ""
        rows.append(row)
    drawer.tables["outages.csv"] = rows
    drawer.keys["failures.events"] = "outages.csv"


def checkpoints(drawer):
    keys = drawer.keys
    if drawer.chance(0.6):
        keys["checkpoints.restart_cost"] = drawer.pick(["500ms", "1s", "3s", "10s"])
    policy = drawer.one_of(continuous=3, synchronous=3, asynchronous=2, **{"just-in-time": 1, "none": 1})
    if policy == "continuous":
        return
    keys["checkpoints.policy"] = policy
    if policy == "just-in-time":
        keys["checkpoints.cost"] = "500ms"
    if policy not in ("synchronous", "asynchronous"):
        return
    if drawer.iterating and not timed(drawer) and (
            "workload.like" not in keys and drawer.chance(0.6)):
        keys["checkpoints.iterations"] = drawer.random.randint(1, 6)
        if drawer.chance(0.7):
            keys["checkpoints.cost"] = "10ms"
        return
    elif drawer.chance(0.15) and ("failures.components" in keys or "failures.jobs" in keys):
        keys["checkpoints.period"], keys["checkpoints.cost"] = "optimal", "500ms"
    else:
        keys["checkpoints.period"] = drawer.pick(["2s", "10s", "30s"])
    killed = keys.get("scheduling.kill_at_limit") or drawer.law or drawer.by_share
    if drawer.chance(0.4) and not killed and "failures.redundancy.cover" not in keys:
        keys["checkpoints.size"], keys["checkpoints.store"] = "1GB", drawer.pick(["10GB/s", "50GB/s"])
        return
    if drawer.chance(0.7):
        keys["checkpoints.cost"] = drawer.pick(["100ms", "1s"])
    if policy == "asynchronous" and drawer.chance(0.6):
        keys["checkpoints.persist"] = drawer.pick(["500ms", "1500ms"])


def loans(drawer):
    keys = drawer.keys
    keys["loans.servers"] = lent = drawer.random.randint(1, len(drawer.servers) // 2)
    keys["loans.reclaim"] = drawer.pick(["least-cost", "fewest-jobs", "last", "random"])
    if drawer.chance(0.6):
        times = sorted(drawer.random.sample(range(1, 300), drawer.random.randint(1, 5)))
        drawer.tables["lent.csv"] = [{"time_s": at, "lent": drawer.random.randint(0, lent)} for at in [0, *times]]
        keys["loans.events"] = "lent.csv"
    else:
        keys["loans.every"], keys["loans.period"] = "10s", "2min"
