"""Draws the network of a scenario: its fidelity, and at `flow` a small topology, its routing and what changes in it."""

ALGORITHMS = ["ring", "bidirectional-ring", "halving-doubling", "binomial-tree", "double-binary-tree", "hierarchical",
              "hierarchical-leader", "parameter-server", "pairwise"]


def network(drawer):
    """Adds the keys of the network to the keys of the drawer."""
    fidelity = drawer.one_of(analytic=3, contention=4, flow=4)
    if drawer.placement == "vclos":
        fidelity = "flow"
    drawer.keys["network.fidelity"] = drawer.fidelity = fidelity
    if fidelity == "flow":
        flow(drawer)
    else:
        alpha_beta(drawer)
    if drawer.chance(0.12):
        drawer.keys["network.interference"] = 0.15


def alpha_beta(drawer):
    keys = drawer.keys
    keys["network.nic"] = drawer.pick(["1Gbps", "10Gbps", "100Gbps"])
    keys["network.alpha"] = drawer.pick(["0s", "20us", "1ms"])
    if drawer.chance(0.5):
        keys["network.inside.bandwidth"], keys["network.inside.alpha"] = "100Gbps", "5us"
    if drawer.chance(0.3):
        algorithm = ALGORITHMS[drawer.seed % len(ALGORITHMS)]
        keys["network.formula"] = drawer.pick([algorithm, "measured"])
    if keys.get("network.formula") == "measured":
        for key in ("nic", "inside.bandwidth", "inside.alpha"):
            keys.pop(f"network.{key}", None)
        keys["network.beta"] = drawer.pick(["0.8ns/B", "0.08ns/B"])
    elif drawer.chance(0.15) and not drawer.types:
        keys["network.islands"] = [{"servers": max(1, len(drawer.servers) // 2), "nic": "200Gbps", "alpha": "2us"}]
    elif drawer.chance(0.1):
        keys["network.many_senders.free"] = 2
    if drawer.chance(0.1):
        keys["network.gamma"] = "0.01ns/B"
    if drawer.chance(0.1):
        keys["network.tick"] = "1ms"
    if drawer.fidelity == "contention" and drawer.chance(0.3):
        keys["network.contention_penalty"] = drawer.pick([0, 0.5, -0.3])
    if drawer.fidelity == "contention" and drawer.chance(0.15):
        keys["network.delays"] = True


def flow(drawer):
    keys, servers = drawer.keys, len(drawer.servers)
    per_server = max(per for per, _ in drawer.servers)
    keys["network.nic"] = drawer.pick(["10Gbps", "100Gbps"])
    keys["network.alpha"] = drawer.pick(["0s", "10us"])
    nics = server(drawer, per_server)
    planned = drawer.placement == "vclos"
    keys["network.fabric"] = leaf_spine(drawer) if planned else fabric(drawer, servers, nics)
    kind = keys["network.fabric"]["kind"]
    routings = ["shortest-path", "ecmp", "spraying", "ethereal"]
    keys["network.routing"] = "planned" if planned else drawer.pick(routings + ["planned"] * 3)
    if keys["network.routing"] == "planned":
        if drawer.chance(0.5):
            keys["network.planning.order"] = drawer.pick(["arrival", "intensity"])
        if drawer.chance(0.4) and not planned:
            keys["network.planning.levels"] = drawer.random.randint(1, 8)
        if drawer.chance(0.2):
            keys["network.planning.shifts"] = True
    if drawer.chance(0.5):
        keys["network.collectives"] = drawer.pick(["auto"] + ALGORITHMS)
    if drawer.chance(0.2):
        keys["network.efficiency"] = [1.0, 0.9, 0.8]
    if drawer.chance(0.15):
        keys["network.step_overhead"] = "3us"
    if drawer.seed % 7 == 3:
        keys["network.in_flight"] = "8KiB"
    if drawer.chance(0.15):
        keys["network.delays"] = True
    keys["network.link_interval"] = drawer.pick(["0s", "1s", "10s"])
    if kind == "leaf-spine" and drawer.chance(0.3):
        spines = keys["network.fabric"]["spines"]
        drawer.tables["links.csv"] = [
            {"time_s": f"{at:.3f}", "link": f"spine{drawer.random.randrange(spines)}", "factor": factor}
            for at, factor in ((drawer.random.uniform(0, 5), 0.5), (drawer.random.uniform(5, 30), 1))]
        keys["network.events"] = "links.csv"


def server(drawer, per_server):
    """Chooses the inside of a server; returns the number of its interfaces."""
    kinds = ["plain", "plain", "pcie", "nvswitch"]
    if per_server == 8 and not drawer.types:
        kinds += ["dgx-1v", "dgx-a100", "hgx-h100-4", "hybrid-cube-mesh"]
    kind = drawer.pick(kinds)
    chosen, nics = {"kind": kind}, {"dgx-1v": 4, "dgx-a100": 8, "hgx-h100-4": 4}.get(kind, 1)
    if kind in ("pcie", "nvswitch", "hybrid-cube-mesh") and per_server > 1:
        chosen["nics"] = nics = drawer.pick([1, 2])
    drawer.keys["network.server"] = chosen
    return nics


def leaf_spine(drawer):
    between = drawer.random.randint
    return {"kind": "leaf-spine", "servers_per_leaf": between(1, 4), "spines": between(1, 3)}


def fabric(drawer, servers, nics):
    pick, between = drawer.pick, drawer.random.randint
    kind = pick(["single-switch", "leaf-spine", "leaf-spine", "rail-optimised", "fat-tree", "clos", "dragonfly",
                 "torus", "ring", "dumbbell", "fully-connected", "custom"])
    if kind == "leaf-spine":
        chosen = leaf_spine(drawer)
        if drawer.chance(0.4):
            chosen["oversubscription"] = pick([1, 2])
        return chosen
    if kind == "rail-optimised":
        return {"kind": kind, "servers_per_leaf": between(1, servers), "spines": between(1, 2)}
    if kind == "fat-tree":
        return {"kind": kind, "ports": 4 if servers * nics <= 16 else 6 if servers * nics <= 54 else 8}
    if kind == "clos":
        return {"kind": kind, "servers_per_leaf": between(1, 3), "leaves_per_pod": 2, "aggregations_per_pod": 2,
                "cores": 2}
    if kind == "dragonfly":
        return {"kind": kind, "routers_per_group": 2, "servers_per_router": max(1, -(-servers // 6)), "global_links": 1}
    if kind == "torus":
        first = next((n for n in (4, 3, 2) if servers % n == 0 and servers // n > 1), 0)
        return {"kind": kind, "dimensions": [first, servers // first]} if first else {"kind": "ring"}
    if kind == "custom":
        links = [{"from": f"server{n}", "to": f"s{n % 2}"} for n in range(servers)]
        return {"kind": kind, "graph": {"nodes": ["s0", "s1"],
                                        "links": links + [{"from": "s0", "to": "s1", "bandwidth": "25Gbps"}]}}
    return {"kind": kind}
