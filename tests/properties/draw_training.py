"""Draws entries of `training`: tables of layers, networks of the catalogue, profiles, and models spread over GPUs."""

PROFILES = ["resnet50", "vgg16", "inception-v3", "lstm"]
# Parameters that keep graphs small, or show what the default hides in few iterations.
FUSION = {"threshold": {"mib": [1, 8]}, "ddp": {"mib": [1, 25], "first_mib": [0, 1]},
          "horovod": {"mib": [8], "cycle_ms": [1, 5], "blocking": [False, True]}, "mg-wfbp": {"optimal": [False, True]},
          "omgs": {"optimal": [False, True]}, "asc-wfbp": {"streams": [1, 3]}, "dear": {"mib": [0, 8]},
          "bytescheduler": {"partition": [2000000], "credit": [4000000]}, "p3": {"slice": [2000000]},
          "search": {"evaluations": [20]}}
COMPRESSION = {"top-k": {"density": [0.01]}, "dgc": {"density": [0.001, 0.05]}, "local-sgd": {"period": [2, 8]},
               "onebit-adam": {"warm_up": [0.15, 0.5], "hierarchical": [False, True]},
               "apm-squeeze": {"warm_up": [0.3]},
               "q-adam": {"warm_up": [0.3]}, "power-sgd": {"rank": [2]}, "saps": {"matched": [False]},
               "decentralized": {"all": [False, True]}, "byte-grad": {"hierarchical": [False, True]},
               "hierarchical": {"leaders": [False, True]}}


def with_parameters(drawer, name, usual):
    chosen = {"policy": name}
    for parameter, values in usual.get(name, {}).items():
        if drawer.chance(0.7):
            chosen[parameter] = drawer.pick(values)
    return chosen


def gpus_of(entry):
    """A job of this entry has a multiple of so many GPUs."""
    parallel = entry["parallel"]
    return parallel.get("tensor", 1) * parallel.get("pipeline", 1)


def has_phases(entry):
    """Whether iterations of a job of this entry differ."""
    return entry.get("compression", {}).get("policy") in (
        "acp-sgd", "apm-squeeze", "decentralized", "diloco", "local-sgd", "onebit-adam", "q-adam", "saps")


def layer_table(drawer):
    rows = []
    for number in range(drawer.random.randint(1, 7)):
        shape = drawer.pick(["[512x512]", "[2048x1024]", "[64x3x7x7]", "[4096x4096]"])
        has_weights = number == 0 or drawer.chance(0.8)
        rows.append({"layer": f"layer{number}", "tensors": f"weight={shape}" if has_weights else "",
                     "forward_us": drawer.random.randint(50, 20000), "backward_us": drawer.random.randint(50, 40000)})
    return rows


def entry(drawer, name, index):
    """Draws an entry. Its fusion and its compression are dealt from decks, one of the two with the usual other one."""
    from draw import dealt
    method = dealt(drawer.catalogue["compression"], 2 * drawer.seed + index // 2, "compression")
    shapes = index % 2 == 0 and method in ("power-sgd", "acp-sgd", "lags")  # what a profile as a whole doesn't have
    kind = drawer.one_of(layers=5, catalogue=2, profile=0 if shapes else 2, parallel=0 if shapes else 6)
    if kind == "parallel":
        made = parallel(drawer)
        if made:
            return made
        kind = "layers"
    made = {}
    if kind == "layers":
        drawer.tables[f"{name}.csv"] = layer_table(drawer)
        made["layers"] = f"{name}.csv"
    elif kind == "catalogue":
        made.update({"model": drawer.pick(["alexnet", "lstm-ptb", "vgg16"]), "batch": drawer.pick([4, 16]),
                     "granularity": "layer" if index % 2 else "tensor"})
        if drawer.chance(0.5):
            made["optimizer"] = drawer.pick(["sgd", "momentum", "adam"])
    else:
        made["model"] = f"published-{drawer.pick(PROFILES)}"
    if index % 2 == 0:
        made["compression"] = with_parameters(drawer, method, COMPRESSION)
    else:
        policy = dealt(drawer.catalogue["fusion"], drawer.seed, "fusion")
        made["fusion"] = with_parameters(drawer, policy, FUSION)
        if drawer.chance(0.2) and drawer.keys.get("network.formula") != "measured":
            made["exchange"] = "parameter-server"
            made["colocated"] = drawer.chance(0.5)
        elif drawer.chance(0.15) and policy not in ("horovod", "last-batch"):
            made[drawer.pick(["backup_workers", "gradient_coding"])] = 1
    if drawer.chance(0.15):
        made["accumulate"] = 2
    if drawer.chance(0.1):
        made["input"] = "3ms"
    return made


def launch(drawer, index):
    """How long the host launches an operation, in every third scenario. Draws nothing, so that all else stays."""
    return ["2us", "3ms", "150us"][(drawer.seed // 3 + index) % 3] if drawer.seed % 3 == 1 else None


def parallel(drawer):
    per_server = min(per for per, _ in drawer.servers)
    degrees = {"tensor": drawer.pick([n for n in (1, 2, 4) if n <= per_server]), "pipeline": drawer.pick([1, 2, 2])}
    most = max(drawer.room(""), 1)
    if degrees["tensor"] * degrees["pipeline"] > most or any(owner for owner in drawer.owners):
        return None
    chosen = dict(degrees)
    if degrees["pipeline"] > 1:
        chosen["schedule"] = drawer.pick(["gpipe", "1f1b", "zb-h1", "zb-h2"])
    if drawer.chance(0.3):
        chosen["zero"] = 1
    if drawer.chance(0.3) and degrees["tensor"] > 1:
        chosen["sequence_parallel"] = True
    sizes = {"layers": 4, "hidden": 512, "heads": 8, "feed_forward": 1024, "vocabulary": 8000}
    made = {"transformer": sizes, "device": "A100-40GB", "dtype": "bf16", "batch": 1, "global_batch": 120,
            "sequence": 256, "parallel": chosen}
    # Draws nothing, so that all else stays: who plans the exchange of stages.
    planner = [None, "dear", "horovod", "bytescheduler", "search"][drawer.seed % 5]
    if planner:
        made["fusion"] = {"policy": planner, "evaluations": 20} if planner == "search" else {"policy": planner}
    return made


def entries(drawer):
    """Draws the entries of a scenario, and which models its jobs of iterations train."""
    drawer.entries = {}
    for number in range(drawer.random.randint(1, 3)):
        name = f"entry{number}"
        drawer.entries[name] = entry(drawer, name, number)
        if launch(drawer, number):
            drawer.entries[name]["launch"] = launch(drawer, number)
        drawer.keys[f"training.{name}"] = drawer.entries[name]
    drawer.iterating = list(drawer.entries) + drawer.random.sample(PROFILES, 1)
