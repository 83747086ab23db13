"""Draws whole scenarios at random: the cluster, the jobs, what fails, and the policies.

Everything follows from the seed. Policies are dealt from shuffled decks, so that as many successive seeds as a deck has
policies have each of them once. What the program refuses is drawn again by the caller, with the next number of the
attempt.
"""

import random
import re

import draw_failures
import draw_network
import draw_training

# Faults that are known and not mended yet. While a name is in this dictionary, scenarios that would meet the fault
# aren't drawn; `--with-faults` draws them nevertheless. Take a line out when its fault is mended.
KNOWN_FAULTS = {}

ONE_TYPE = {"afs", "elastic-edf", "elasticflow", "gandiva", "muri", "optimus", "pollux", "shockwave"}
ELASTIC = {"afs", "elastic-edf", "elasticflow", "lyra", "optimus", "pollux", "sia", "themis"}
TYPED = {"allox", "finish-time-fairness", "gandiva-fair", "hydra", "lyra", "max-min", "max-min-agnostic",
         "max-min-water-filling", "min-cost", "min-makespan", "sia", "themis"}
PACKS = {"finish-time-fairness", "max-min", "max-min-water-filling", "min-cost", "min-makespan"}
SHARES = {"antman", "gandiva", "lucid", "muri"}
ACCOUNTS = {"drf", "fair-share"}
PROMISES = {"conservative", "easy", "elasticflow"}  # something to jobs, as long as nothing unforeseen happens
PREEMPTS = {"dlas", "dlas-gpu", "gittins", "las", "priority", "smallest-first", "srsf", "srtf", "edf"}

# Values of parameters that suit runs of minutes. Parameters that aren't here keep their defaults.
PARAMETERS = {
    "period_s": [0, 0, 7, 20], "round_s": [5, 12, 30], "reallocate_s": [0, 10, 60], "slice_s": [1, 5, 40],
    "limit_1_s": [5, 30], "limit_2_s": [60, 120], "limit_3_s": [250], "quantum_s": [5, 40], "warm_up": [1, 3],
    "lease_s": [15, 60], "promote": [0, 0, 2], "half_life_s": [0, 50], "aging_s": [0, 30], "patience_s": [1, 20],
    "restart_s": [1], "rounds": [6], "replan_rounds": [3], "estimate_factor": [0.5, 1, 2], "window": [3, 100],
    "queues": [1, 2, 3, 4], "kappa": [1, 2, 4], "ways": [1, 1, 2, 4, 64], "extra_groups": [0, 1], "alpha": [1, 0.5],
    "nodes": [0, 500], "guaranteed_from": [1, 2], "order": ["srsf", "las"], "fairness": [0, 0.8], "medium": [0.3],
    "entities": ["none", "vc", "user"], "within": ["fairness", "fifo"],
}
# Parameters that are switched on and off at random.
SWITCHES = {"strict", "preemptive", "rewalk", "list_order", "migrate", "use_limit", "by_user", "reclaim", "fastest",
            "most_first", "fill", "pack", "trade", "gpu_time", "doubles", "payments", "by_epoch", "forecast",
            "late_wakeup", "whole_seconds", "single_step", "best_fit_remainder", "per_iteration"}


TIGHT_GIB = 64  # host memory of a server that has little


class Scenario:
    """A scenario: its keys, and the tables that it names, each a list of rows, by the name of its file."""

    def __init__(self, seed, attempt, spec, tables):
        self.seed, self.attempt, self.spec, self.tables = seed, attempt, spec, tables

    @property
    def jobs(self):
        return self.tables.get("jobs.csv", [])


def dealt(names, seed, salt):
    """The name that the deck gives to this seed: each of them once in as many successive seeds."""
    names = sorted(names)
    cycle, place = divmod(seed - 1, len(names))
    random.Random(f"{salt}/{cycle}").shuffle(names)
    return names[place]


def read_catalogue(rows):
    """By kind of policy the names, each with its parameters; `rows` come from `contend list policies --json`."""
    catalogue = {}
    for row in rows:
        names = re.findall(r"(?:^|, )([a-z_0-9]+)=", re.sub(r"\([^)]*\)", "", row["parameters"]))
        if row["policy"] != "external":
            catalogue.setdefault(row["kind"], {})[row["policy"]] = names
    return catalogue


def nested(flat):
    """Keys with dots as maps in maps."""
    out = {}
    for path, value in flat.items():
        at = out
        *above, last = path.split(".")
        for name in above:
            at = at.setdefault(name, {})
        at[last] = value
    return out


class Drawer:
    """Draws one scenario. `keys` has its keys, with dots."""

    def __init__(self, seed, attempt, catalogue, left_out):
        self.random = random.Random(f"scenario {seed} {attempt}")
        self.seed, self.attempt, self.catalogue, self.left_out = seed, attempt, catalogue, left_out
        self.keys, self.tables = {}, {}
        self.scheduling = dealt(catalogue["scheduling"], seed, "scheduling")
        self.placement = dealt(catalogue["placement"], seed, "placement")
        self.types, self.models, self.entries, self.iterating = [], [], [], []
        self.elastic = self.by_share = self.law = False
        self.numbers = [1, 2, 3, 4, 6, 8, 12, 16]  # of GPUs, for which tables have rows
        self.kept = 0  # servers that no job can count on
        self.tight = None  # draws what jobs need of hosts that have little

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, values):
        return self.random.choice(values)

    def one_of(self, **weights):
        return self.random.choices(list(weights), list(weights.values()))[0]

    def policy(self, kind, name):
        """A policy with some of its parameters."""
        chosen = {"policy": name}
        for parameter in self.catalogue[kind][name]:
            if parameter in SWITCHES and self.chance(0.4):
                chosen[parameter] = self.chance(0.5)
            elif parameter in PARAMETERS and self.chance(0.85):
                chosen[parameter] = self.pick(PARAMETERS[parameter])
        if name == "slurm-backfill":
            chosen.pop("half_life_s", None)  # it has a shortest value, and needs weights
        if name in ("dlas", "dlas-gpu"):
            chosen.update({"limit_1_s": chosen.get("limit_1_s", 5), "limit_2_s": chosen.get("limit_2_s", 60),
                           "limit_3_s": 250})
        if name in ("srtf", "srsf") and kind == "scheduling":
            if not chosen.get("rewalk"):
                chosen = {key: value for key, value in chosen.items() if key not in ("list_order", "migrate")}
            else:
                chosen.pop("preemptive", None)
                chosen.pop("strict", None)
        if name == "shockwave" and not chosen.get("forecast", True):
            chosen.pop("by_epoch", None)
        if name == "smallest-first" and not chosen.get("preemptive"):
            chosen.pop("migrate", None)
        if name == "allox" and not chosen.get("round_s"):
            chosen.pop("reallocate_s", None)
        if chosen.get("entities", "none") == "none":
            chosen.pop("within", None)
        if name in PACKS and not self.law:
            chosen.pop("pack", None)
        elif name in PACKS and self.aside.random() < 0.8:  # for what else would there be a law?
            chosen["pack"] = True
        return chosen

    # The cluster.

    def cluster(self):
        single = self.scheduling in ONE_TYPE
        wants = 0.85 if self.scheduling in TYPED | ELASTIC else 0.3
        sizes = [1, 2, 2, 4, 4, 8]
        if not self.chance(wants):
            per_server = self.pick(sizes)
            servers = self.random.randint(2, max(2, min(16, 48 // per_server)))
            self.keys["cluster.servers"], self.keys["cluster.gpus_per_server"] = servers, per_server
            self.servers = [(per_server, None)] * servers
        else:
            self.servers = []
            alike = self.pick(sizes) if self.chance(0.75) else None
            for name in ["v100", "a100", "h100"][:1 if single else self.random.randint(1, 3)]:
                per_server = alike or self.pick([2, 4, 4, 8] if self.elastic else sizes)
                servers = self.random.randint(2 if single else 1, max(2, min(5, 24 // per_server)))
                kind = {"name": name, "servers": servers, "gpus_per_server": per_server}
                if self.chance(0.6):
                    kind["speed"] = self.pick([0.5, 1.0, 1.7, 3.0])
                if self.chance(0.5):
                    kind["price"] = self.pick([0.5, 1.25, 3.0])
                self.types.append(kind)
                self.servers += [(per_server, name)] * servers
            self.keys["cluster.types"] = self.types
        self.owners = [""] * len(self.servers)
        self.quotas = {}
        if self.chance(0.7 if self.scheduling in ACCOUNTS or self.foreseen else 0.3) or self.shares_within(0.4):
            self.virtual_clusters()
        self.hosts = self.chance(0.4 if self.foreseen else 0.12) or self.shares_within(0.4)
        if self.hosts:
            self.keys["cluster.cpus"] = max(per for per, _ in self.servers) * self.pick([2, 4])
            self.keys["cluster.host_memory"] = f"{max(per for per, _ in self.servers) * 16}GiB"
        # Hosts that can't hold as many ranks of a job as they have GPUs, so that some types can't hold it at all. Drawn
        # apart, so that the other scenarios stay as they are.
        lot = random.Random(f"tight hosts {self.seed}.{self.attempt}")
        if not self.hosts and lot.random() < (0.3 if self.types or self.law else 0.05):
            self.tight = lot
            self.keys["cluster.host_memory"] = f"{TIGHT_GIB}GiB"

    def shares_within(self, probability):
        """Whether jobs that share GPUs have a further limit: quotas, or CPUs and memory of hosts."""
        return self.law and self.aside.random() < probability

    def virtual_clusters(self):
        vcs, free = [], len(self.servers) - 1
        if free > 1 and self.chance(0.6):
            own = self.random.randint(1, max(1, free // 2)) if free > 0 else 0
            vcs.append({"name": "own", "servers": own})
            self.owners[:own] = ["own"] * own
        rest = sum(per for (per, _), owner in zip(self.servers, self.owners) if not owner)
        if self.chance(0.7) or not vcs:
            self.quotas["quota"] = max(1, rest // self.pick([1, 2, 3]))
            if self.law:  # jobs that share count twice in a quota that is soon full
                self.quotas["quota"] = min(self.quotas["quota"], self.aside.choice([1, 1, 2, 2, 4]))
            vcs.append({"name": "quota", "gpus": self.quotas["quota"]})
        if self.scheduling in ACCOUNTS and self.chance(0.8):
            vcs.append({"name": "guest", "gpus": max(1, rest // 3), "borrow": True})
        if self.chance(0.3):
            vcs.append({"name": "rest", "others": True})
        self.keys["cluster.vcs"] = vcs

    def room(self, vc, kind=None, of_server=64):
        """The most GPUs that a job of this virtual cluster can have, on servers of one type, so many of each."""
        owner = "own" if vc == "own" else ""
        by_type = {}
        for (per, name), whose in list(zip(self.servers, self.owners))[:len(self.servers) - self.kept]:
            if whose == owner:
                by_type[name] = by_type.get(name, 0) + min(per, of_server)
        most = by_type.get(kind, 0) if kind else max(by_type.values(), default=0)
        return min(most, self.quotas.get(vc, most))

    # The jobs.

    def time(self, low, high):
        """Seconds, as often whole as to the nanosecond."""
        value = self.random.uniform(low, high)
        return f"{value:.{self.pick([0, 0, 3, 9])}f}"

    def size(self, most):
        sizes = [n for n in (1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 12, 16) if n <= most]
        return self.pick(sizes or [1])

    def table_models(self):
        """Models whose speed a table has: by type, and on any number of GPUs for which a job may ask."""
        rows = []
        self.models = ["net0", "net1", "net2"]
        for model in self.models:
            base, power = self.random.uniform(0.5, 20), self.random.uniform(0.6, 1.0)
            for kind in self.types:
                if kind is not self.types[0] and self.chance(0.15):
                    continue  # it can't run there
                factor = self.random.uniform(0.7, 3)
                for number in self.numbers:
                    rows.append({"model": model, "type": kind["name"], "gpus": number,
                                 "iterations_per_s": f"{base * factor * number ** power:.4f}"})
        self.tables["rates.csv"] = rows
        self.keys["workload.throughputs"] = "rates.csv"

    def goodput_models(self):
        rows, self.numbers = [], [1, 2, 4, 8]
        self.models = ["net0", "net1"]
        for model in self.models:
            for kind in self.types:
                rows.append({"model": model, "type": kind["name"], "batch": 64, "max_batch": 2048,
                             "min_local_batch": 1, "max_local_batch": 256,
                             "alpha_c_s": self.pick([0.02, 0.12]), "beta_c_s": 0.002, "alpha_n_s": 0.05,
                             "beta_n_s": 0.001, "alpha_r_s": 0.01, "beta_r_s": 0.001, "gamma": self.pick([1, 1.5]),
                             "sqr": 0.00136, "var": 0.0502})
            if self.chance(0.4):  # the batch stays as it is
                for row in rows[-len(self.types):]:
                    row["max_batch"] = row["sqr"] = row["var"] = ""
        self.tables["goodput.csv"] = rows
        self.keys["workload.goodput"] = "goodput.csv"

    def regimes(self):
        self.tables["rules.csv"] = [
            {"rule": "grows", "model": "net0", "from_share": "0.3", "trains_as": "net1", "batch_factor": "2"},
            {"rule": "grows", "model": "net0", "from_share": "0.7", "trains_as": "net2", "batch_factor": "4"}]
        self.keys["workload.regimes"] = "rules.csv"
        if self.chance(0.3):
            self.keys["scheduling.foresees_batches"] = False

    def job_list(self):
        rows, count, span = [], self.random.randint(3, 30), self.pick([1, 20, 100, 300])
        columns = {name: self.chance(p) for name, p in (
            ("priority", 0.3), ("user", 0.3), ("deadline", 0.3), ("limit", 0.35), ("attempts", 0.2), ("outcome", 0.3),
            ("after", 0.12), ("place", 0.06), ("measured", 0.1), ("gpu_type", 0.3), ("told", 0.2), ("odd", 0.05))}
        if self.scheduling in ("edf", "elastic-edf", "elasticflow", "hydra", "min-cost"):
            columns["deadline"] = True
        if self.scheduling in ("priority", "antman"):
            columns["priority"] = True
        if self.foreseen:
            columns.update(attempts=False, outcome=False, place=False, limit=self.scheduling != "elasticflow")
        vcs = [each["name"] for each in self.keys.get("cluster.vcs", [])]
        others = any(each.get("others") for each in self.keys.get("cluster.vcs", []))
        for number in range(count):
            row = {"job_id": f"{'=' if columns['odd'] else ''}j{number}", "submit_s": self.time(0, span)}
            vc = self.pick(vcs + [""]) if vcs else ""
            if vcs and not vc and not self.room("", None):
                vc = "own"
            row["vc"] = self.pick([vc, "stranger"]) if others and not vc else vc
            kind = self.pick(self.types)["name"] if self.types and columns["gpu_type"] and self.chance(0.4) else None
            if not self.room(vc, kind) and not (self.kept and self.aside.random() < 0.5):  # lent at times, or never
                kind = None
            if kind:
                row["gpu_type"] = kind
            most = max(1, self.room(vc, kind))
            row["gpus"] = self.size(most)
            self.work(row, columns, most)
            if columns["user"]:
                row["user"] = self.pick(["ann", "ben", "cleo"])
            if columns["priority"]:
                row["priority"] = self.random.randint(-1, 3)
            if columns["deadline"] and self.chance(0.8):
                row["deadline_s"] = f"{float(row['submit_s']) + self.random.uniform(5, 400):.3f}"
            if self.hosts and self.chance(0.7):
                row["cpus"], row["host_memory"] = self.pick(["0.5", "1", "2"]), self.pick(["2GiB", "8GiB"])
            if self.tight:
                self.need_of_tight_hosts(row, vc)
            if columns["after"] and rows and self.chance(0.4):
                row["after"] = ";".join({self.pick(rows)["job_id"] for _ in range(self.random.randint(1, 2))})
                row["think_s"] = self.pick(["", "2", "0.5"])
                row.pop("deadline_s", None)
            if columns["measured"]:
                row["measured_wait_s"] = self.random.randint(0, 90)
            if columns["place"] and not vcs and not self.types and "min_gpus" not in row and self.chance(0.3):
                self.place(row)
            rows.append(row)
        self.tables["jobs.csv"] = rows
        self.keys["workload.jobs"] = "jobs.csv"
        if self.somebody_waits(rows) and not columns["after"] and self.chance(0.5):
            self.keys["workload.think_time"] = "10min"
        if columns["limit"] and self.chance(0.6):
            self.keys["scheduling.kill_at_limit"] = True
        if self.chance(0.06):
            self.keys["workload.scaling.durations"] = self.pick([0.5, 1.7])

    def need_of_tight_hosts(self, row, vc):
        """Host memory of a job, so that servers of at least one type can hold it."""
        need = self.tight.choice([0, 8, 20, 30, 40])
        gpus, kind = row["gpus"], row.get("gpu_type")
        while need and gpus > self.room(vc, kind, TIGHT_GIB // need):
            need = {40: 30, 30: 20, 20: 8}.get(need, 0)
        if need:
            row["host_memory"] = f"{need}GiB"

    @staticmethod
    def somebody_waits(rows):
        """Whether a user submits a job after the recorded end of another one with a duration."""
        for one in rows:
            if not one.get("user") or "duration_s" not in one:
                continue
            times = [one["submit_s"], one.get("measured_wait_s", 0), one["duration_s"]]
            end = sum(map(float, times + [each for each in one.get("attempts_s", "").split(";") if each]))
            if any(end <= float(two["submit_s"]) and two.get("user") == one["user"] for two in rows):
                return True
        return False

    def place(self, row):
        free = [f"server{s}:{g}" for s, (per, _) in enumerate(self.servers) for g in range(per)]
        row["place"] = ";".join(self.random.sample(free, min(row["gpus"], len(free))))

    def work(self, row, columns, most):
        """What the job does: iterations, or a duration with attempts, an outcome and a limit."""
        table = self.models and self.chance(0.6)
        if not table and self.iterating and self.chance(self.share_of_iterations):
            row["model"], row["iterations"] = self.pick(self.iterating), self.random.randint(1, self.pick([5, 25, 90]))
            entry = self.entries.get(row["model"], {})
            if "backup_workers" in entry or "gradient_coding" in entry:
                if most < 2:
                    row["model"] = self.pick(draw_training.PROFILES)
                row["gpus"] = max(row["gpus"], min(2, most))
            elif "parallel" in entry:
                step = draw_training.gpus_of(entry)
                row["gpus"] = step * max(n for n in (1, 2, 3, 4, 6, 8) if n == 1 or n * step <= row["gpus"])
            elif self.elastic and self.chance(0.6):
                self.bounds(row, most)
            return
        if table:
            row["model"] = self.pick(self.models)
            most = self.fit_to_table(row)
        elif self.law or columns["told"]:
            row["model"] = self.pick(["reader", "decoder", "trainer"])
        if table and self.chance(0.5):
            row["iterations"] = self.random.randint(20, 3000)
            if "workload.regimes" in self.keys and row["model"] == "net0" and self.chance(0.6):
                row["batch_rule"] = "grows"
        else:
            row["duration_s"] = self.time(1, self.pick([20, 100, 300]))
            if columns["told"] and self.chance(0.5):
                row["iterations"] = self.random.randint(1, 1000)
        if table and self.elastic and self.chance(0.7):
            self.bounds(row, most)
        if self.law and self.chance(0.7):
            row["gpu_memory"] = self.pick(["4GiB", "10GiB", "20GiB"])
        if self.by_share and self.chance(0.6) and "min_gpus" not in row:
            row["gpu_share"] = self.pick(["0.25", "0.3", "0.5", "0.7", "1"])
        if "duration_s" in row:
            seconds = float(row["duration_s"])
            if columns["attempts"] and self.chance(0.5):
                row["attempts_s"] = ";".join(self.time(0.5, seconds) for _ in range(self.random.randint(1, 3)))
            if columns["outcome"]:
                row["outcome"] = self.pick(["completed", "failed", "cancelled"])
            if columns["limit"] and self.chance(0.8):
                row["limit_s"] = f"{seconds * self.pick([0.5, 1, 1, 1.3, 3]) + 1:.3f}"

    def fit_to_table(self, row):
        """Gives the job a number and a type of GPUs for which the table of its model has rows; returns the largest."""
        name = self.keys.get("workload.throughputs") or self.keys["workload.goodput"]
        kinds = {each["type"] for each in self.tables[name] if each["model"] == row["model"]}
        if "batch_rule" in row or "workload.regimes" in self.keys:  # all of its batches must run there
            kinds = set.intersection(*({each["type"] for each in self.tables[name] if each["model"] == model}
                                       for model in self.models))
        if row.get("gpu_type") not in kinds:
            row.pop("gpu_type", None)
        kinds = [row["gpu_type"]] if "gpu_type" in row else sorted(kinds)
        most = max([self.room(row["vc"], kind) for kind in kinds], default=1) or 1
        row["gpus"] = max(n for n in (*self.numbers, 1) if n <= max(1, min(most, row["gpus"])))
        return most

    def bounds(self, row, most):
        numbers = [n for n in self.numbers if n <= most]
        if row["gpus"] not in numbers:
            row["gpus"] = self.pick(numbers)
        row["min_gpus"] = self.pick([n for n in numbers if n <= row["gpus"]])
        row["max_gpus"] = self.pick([n for n in numbers if n >= row["gpus"]])
        row.pop("gpu_share", None)

    def workload(self):
        if self.types and (self.elastic or self.scheduling in TYPED and self.chance(0.6)):
            if self.elastic and self.chance(0.35):
                self.goodput_models()
            else:
                self.table_models()
                if self.chance(0.3):
                    self.regimes()
        listed = self.models or self.elastic or self.law or self.by_share or self.one_of(a=70, b=30) == "a"
        listed = listed or self.foreseen
        self.share_of_iterations = self.pick([0, 0.5, 1, 1]) if listed and not self.law else 0.4
        if self.law or self.foreseen:
            self.share_of_iterations = 0
        if self.share_of_iterations or not listed:
            draw_training.entries(self)
        if listed:
            return self.job_list()
        if self.chance(0.2) and not self.quotas and not any(self.owners):
            self.keys.update({"workload.like": self.pick(["philly", "helios", "openb", "acme-seren"]),
                              "workload.jobs": self.random.randint(5, 25),
                              "workload.scaling.largest": max(1, min(8, self.room("") or 1)),
                              "workload.scaling.longest": "10min"})
            self.iterating = []
            self.keys = {key: value for key, value in self.keys.items() if not key.startswith("training")}
            return None
        plain = [name for name in self.iterating if "parallel" not in self.entries.get(name, {})] or ["resnet50"]
        most = max(1, self.room(""))
        self.keys.update({"workload.generate.models": plain,
                          "workload.generate.sizes": {self.size(most): self.random.randint(1, 4) for _ in range(3)},
                          "workload.generate.iterations": [1, self.pick([3, 20])],
                          "workload.generate.arrivals": self.pick(["1ms", "5s", "20s"])})
        for name in set(self.iterating) - set(plain):
            self.keys.pop(f"training.{name}", None)
        return None

    def sharing(self):
        keys, law = self.keys, self.one_of(factor=2, pairs=1, stages=2)
        keys["scheduling.sharing.law"] = law
        names = ["reader", "decoder", "trainer", *self.models]
        if law == "factor":
            keys["scheduling.sharing.factor"] = self.pick([1, 1.25, 2])
        if law == "pairs":
            self.tables["pairs.csv"] = [
                {"model": a, "with_model": b, "speed": self.pick([0.5, 0.8, 1]), "with_speed": self.pick([0.4, 0.9])}
                for i, a in enumerate(names) for b in names[i:] if a == b or self.chance(0.8)]
            for row in self.tables["pairs.csv"]:
                if row["model"] == row["with_model"]:
                    row["with_speed"] = row["speed"]
            keys["scheduling.sharing.pairs"] = "pairs.csv"
        elif self.chance(0.4):
            keys["scheduling.sharing.most"] = self.pick([2, 3, 4])
        if law == "stages" or self.scheduling in ("lucid", "gandiva"):
            self.tables["profiles.csv"] = [
                {"model": name, **{stage: self.random.randint(0, 5) for stage in ("storage", "cpu", "network")},
                 "gpu": self.random.randint(1, 5)} for name in names]
            keys["scheduling.sharing.profiles"] = "profiles.csv"
        if self.scheduling == "antman" or self.chance(0.1):
            keys["scheduling.sharing.by_priority"] = self.chance(0.6)

    def rules(self):
        keys = self.keys
        if self.chance(0.4 if self.foreseen and self.scheduling == "elasticflow" else 0.1):
            keys["scheduling.quantum"] = self.pick(["1s", "7s"])
        if self.chance(0.2):
            keys["scheduling.ties"] = self.pick(["list-reversed", "latest", "name"])
        lists = self.tables.get("jobs.csv", [])
        if any("attempts_s" in row or row.get("outcome") == "failed" for row in lists) and self.chance(0.5):
            keys["scheduling.retries.failed.times"] = self.random.randint(0, 4)
            keys["scheduling.retries.failed.delay"] = self.pick(["0s", "3s"])
            keys["scheduling.retries.failed.factor"] = self.pick([1, 2])
            keys["scheduling.retries.failed.position"] = self.pick(["original", "new"])
            if self.chance(0.4):
                keys["scheduling.retries.failed.from"] = "checkpoint"
        if keys.get("scheduling.kill_at_limit") and self.chance(0.5):
            keys["scheduling.retries.timeout.times"] = self.random.randint(1, 3)
            keys["scheduling.retries.timeout.delay"] = self.pick(["0s", "3s"])
            if self.chance(0.3):
                keys["scheduling.retries.timeout.from"] = "start"
        if self.chance(0.12) and not self.foreseen:
            keys["workload.scatter_penalty"] = self.pick([[1.2], [1.1, 1.5]])

    def draw(self):
        # Drawn apart, so that the other scenarios stay as they are.
        lot = random.Random(f"no surprise {self.seed}.{self.attempt}")
        self.aside = random.Random(f"aside {self.seed}.{self.attempt}")
        self.foreseen = self.scheduling in PROMISES and lot.random() < 0.7
        self.law = self.scheduling in SHARES or self.scheduling in PACKS and self.chance(0.5)
        self.elastic = self.scheduling in ELASTIC and not self.law or not self.law and self.chance(0.08)
        self.by_share = not self.law and not self.elastic and self.chance(0.2)
        self.share_of_iterations = 0
        self.keys.update({"schema_version": 1, "name": f"drawn-{self.seed}", "seed": self.random.randint(1, 10 ** 6)})
        self.cluster()
        fails = not self.foreseen and draw_failures.withheld(self)
        draw_network.network(self)
        self.workload()
        if self.law:
            self.sharing()
        if fails:
            draw_failures.failures(self)
        if self.chance(0.6) and not self.foreseen:
            draw_failures.checkpoints(self)
        self.rules()
        self.keys["policies.scheduling"] = self.policy("scheduling", self.scheduling)
        self.keys["policies.placement"] = self.policy("placement", self.placement)
        if self.chance(0.7):
            self.keys["policies.communication"] = self.policy("communication", self.pick(["srsf", "srsf", "ada-dual"]))
        if self.chance(0.06):
            first = min((float(row["submit_s"]) for row in self.tables.get("jobs.csv", [])), default=0)
            self.keys["measure.until"] = f"{first + 30:.3f}s"
            if "workload.jobs" not in self.keys or "think_time" in str(self.keys):
                self.keys.pop("measure.until")
        # No scenario runs on for ever: jobs that can't get on are left unfinished.
        self.keys["engine.until"] = self.pick(["150s", "1h"]) if self.chance(0.1) else "1h"
        return Scenario(self.seed, self.attempt, nested(self.keys), self.tables)


def draw(seed, attempt, catalogue, left_out=frozenset(KNOWN_FAULTS)):
    return Drawer(seed, attempt, catalogue, left_out).draw()
