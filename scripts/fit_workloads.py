#!/usr/bin/env python3
"""Fits the synthetic workloads of models/workloads/ to real traces and prints their tables as text.

    scripts/fit_workloads.py FOLDER [--first-half] [NAME ...] > tables.txt

FOLDER holds the public files philly/philly_pollux.csv, msft_itp/raw-traces.tar.gz, helios/helios_venus_2vc_sept.csv,
openb_v2023/openb_pod_list_default.csv and acme/cluster_summary.csv. Printed are summary figures only: shares,
quantiles, means. What each means, and what is lost: docs/models/workloads.md. Standard library only.

--first-half fits a trace only up to the middle of its days, for validate/workloads/first_half/, which tests and the
suite `workloads` compare with the second half.
"""

import csv
import datetime
import io
import math
import sys
import tarfile
from collections import Counter, defaultdict
from pathlib import Path

PROBABILITIES = (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1)
BATCH_GAP = 60  # seconds; jobs of one virtual cluster and size that follow each other this closely are a batch
SMALLEST_CLASS = 30  # jobs; a class of sizes, or of lengths of batches, with fewer joins the one below
LENGTHS = (1, 2, 8)  # jobs of the shortest batches of a class; durations depend on it
SPELL_LAGS = range(1, 8)  # days; what days this far apart have in common is a spell
DAY = 86400


class Job:
    def __init__(self, submit, duration, gpus, vc="", user="", outcome="", shape=None):
        self.submit, self.duration, self.gpus = submit, duration, gpus
        self.vc, self.user, self.outcome, self.shape = vc, user, outcome, shape


def read_philly(folder):
    for row in csv.DictReader(open(folder / "philly/philly_pollux.csv")):
        when = datetime.datetime.fromisoformat(row["timestamp"]) - datetime.datetime(2017, 1, 1)
        yield Job(when.total_seconds(), float(row["duration"]), int(row["num_gpus"]), row["cluster"])


def read_itp(folder):
    with tarfile.open(folder / "msft_itp/raw-traces.tar.gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            if not member.name.endswith(".csv"):
                continue
            for row in csv.DictReader(io.TextIOWrapper(archive.extractfile(member))):
                name = Path(member.name).stem
                yield Job(float(row["submission_time"]), float(row["duration"]), int(row["num_gpu"]), name)


def read_helios(folder):
    outcomes = {"COMPLETED": "completed", "FAILED": "failed", "NODE_FAIL": "failed", "CANCELED": "cancelled"}
    lines = [line for line in open(folder / "helios/helios_venus_2vc_sept.csv") if not line.startswith("#")]
    for row in csv.DictReader(lines):
        yield Job(float(row["submit_time"]) / 1e6, float(row["duration_s"]), int(row["num_chips"]), row["tenant"],
                  row["user"], outcomes[row["final_status"]])


def read_openb(folder):
    outcomes = {"Failed": "failed"}  # Running: it was, when the log ended; Succeeded
    for row in csv.DictReader(open(folder / "openb_v2023/openb_pod_list_default.csv")):
        gpus = int(row["num_gpu"])
        if gpus == 0 or not row["scheduled_time"]:
            continue
        shape = (int(row["gpu_milli"]), int(row["cpu_milli"]) // gpus, int(row["memory_mib"]) // gpus)
        yield Job(float(row["creation_time"]), float(row["deletion_time"]) - float(row["scheduled_time"]), gpus,
                  outcome=outcomes.get(row["pod_phase"], "completed"), shape=shape)


def busy_window(jobs):
    """From the first day with a tenth of the jobs of a mean busy day to the last day: traces begin with stragglers."""
    per_day = Counter(int(job.submit // DAY) for job in jobs)
    busy = sum(n * n for n in per_day.values()) / len(jobs)  # mean count of the day of a random job
    first = min(day for day, n in per_day.items() if n >= busy / 10)
    return [job for job in jobs if job.submit >= first * DAY], first, max(per_day) + 1


def batches_of(jobs):
    """Maximal runs of jobs of one virtual cluster and size with gaps of at most BATCH_GAP."""
    last, batches = {}, []
    for job in sorted(jobs, key=lambda job: job.submit):
        key = (job.vc, job.gpus)
        if key in last and job.submit - last[key][-1].submit <= BATCH_GAP:
            last[key].append(job)
        else:
            last[key] = [job]
            batches.append(last[key])
    return batches


def quantile(ordered, p):
    position = p * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def zipf_mean(n, s):
    weights = [k**-s for k in range(1, n + 1)]
    return sum(k * w for k, w in enumerate(weights, 1)) / sum(weights)


def solve(f, low, high):
    """The zero of a function that changes its sign once."""
    rising = f(high) > f(low)
    for _ in range(80):
        middle = (low + high) / 2
        if (f(middle) > 0) == rising:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def spearman_of_width(w):
    """Rank correlation of two jobs of a batch, docs/models/workloads.md."""
    total = 0
    for k in range(1, 400, 2):
        x = k * math.pi * w
        total += (1 if x == 0 else math.sin(x) / x) ** 2 / k**4
    return 96 / math.pi**4 * total


def batch_lengths(batches):
    """The share of batches of one job, the exponent of the Zipf number of jobs of the others from the shortest on, the
    shortest and the longest of these."""
    longest = max(len(b) for b in batches)
    single = sum(len(b) == 1 for b in batches) / len(batches)
    if longest == 1:
        return 1, 0, 2, 1
    several = [len(b) for b in batches if len(b) > 1]
    shortest = 2 if single > 0 else min(several)
    if longest == shortest:
        return single, 0, shortest, longest
    mean = sum(several) / len(several) - shortest + 1
    return single, solve(lambda s: zipf_mean(longest - shortest + 1, s) - mean, 0, 8), shortest, longest


def batch_correlation(classes):
    """Mean over pairs of jobs of a batch of the product of normalised ranks within the class (mid-ranks for ties)."""
    rank = {}
    for group in classes:
        group = [job for batch in group for job in batch]
        group.sort(key=lambda job: job.duration)
        at = 0
        while at < len(group):
            end = at
            while end < len(group) and group[end].duration == group[at].duration:
                end += 1
            for job in group[at:end]:
                rank[id(job)] = ((at + end) / 2 / len(group) - 0.5) * math.sqrt(12)
            at = end
    products, pairs = 0, 0
    for batch in (batch for group in classes for batch in group):
        if len(batch) < 2:
            continue
        total = sum(rank[id(job)] for job in batch)
        square = sum(rank[id(job)] ** 2 for job in batch)
        # Each batch counts as its number of jobs, not of pairs: else the few longest would decide.
        n = len(batch)
        products += (total * total - square) / (n - 1)
        pairs += n
    return max(0, products / pairs) if pairs else 0


def size_class(gpus):
    return max(0, math.ceil(math.log2(gpus)))


def classes_of(batches):
    """Lists of batches by class of sizes, and by length within each."""
    def jobs_of(group):
        return sum(len(batch) for batch in group)

    groups = defaultdict(list)
    for batch in batches:
        groups[size_class(batch[0].gpus)].append(batch)
    merged = []
    for key in sorted(groups):
        if merged and jobs_of(groups[key]) < SMALLEST_CLASS:
            merged[-1] += groups[key]
        else:
            merged.append(list(groups[key]))
    classes = []
    for group in merged:
        parts = []
        for low, high in zip(LENGTHS, LENGTHS[1:] + (math.inf,)):
            part = [batch for batch in group if low <= len(batch) < high]
            if parts and jobs_of(part) < SMALLEST_CLASS:
                parts[-1] += part
            else:
                parts.append(part)
        classes += [part for part in parts if part]
    return classes


def day_factors(batches, first, days):
    """Sigmas of two log-normal factors of a day, of a spell that lasts and of the day alone, and the correlation of the
    spells of two days that follow each other. They describe the GPU time that is submitted in a day, about the
    week's profile, beyond what independent batches of such GPU times give."""
    work = [sum(job.gpus * job.duration for job in batch) for batch in batches]
    per_day = [0] * days
    for batch, each in zip(batches, work):
        per_day[int(batch[0].submit // DAY) - first] += each
    mean = sum(per_day) / days
    week = [sum(per_day[k::7]) / len(per_day[k::7]) / mean for k in range(7)]
    factor = [w / (mean * week[d % 7]) - 1 for d, w in enumerate(per_day)]
    independent = sum(w * w for w in work) / days / mean**2
    excess = max(0, sum(f * f for f in factor) / days - independent)
    covariance = [sum(a * b for a, b in zip(factor, factor[k:])) / (days - k) for k in SPELL_LAGS]
    # The least squares of v phi^k, with v no more than the excess: what is left has a variance of its own.
    best = None
    for phi in (p / 100 for p in range(0, 100)):
        powers = [phi**k for k in SPELL_LAGS]
        spell = sum(c * p for c, p in zip(covariance, powers)) / max(1e-9, sum(p * p for p in powers))
        spell = min(max(0, spell), excess)
        error = sum((c - spell * p) ** 2 for c, p in zip(covariance, powers))
        if best is None or error < best[0]:
            best = (error, spell, phi if spell > 0 else 0)
    _, spell, phi = best
    alone = (1 + excess) / (1 + spell) - 1
    return math.sqrt(math.log(1 + alone)), math.sqrt(math.log(1 + spell)), phi


def numbers(values, digits=4):
    return " ".join(f"{v:.{digits}g}" for v in values)


def print_class(sizes, lengths, quantiles, outcomes):
    single, exponent, shortest, longest = lengths
    print(f"\nclass {single:.4g} {exponent:.4g} {shortest} {longest}")
    print("sizes " + "  ".join(f"{g} {n:.6g}" for g, n in sizes))
    print(f"durations {numbers(quantiles, 6)}")
    print(f"outcomes {numbers(outcomes)}")


def print_figures(name, **figures):
    print(f"\nworkload {name}\nsource ...")
    for figure, value in figures.items():
        print(f"{figure} {value}")


def profile(counts, length):
    mean = sum(counts.values()) / length
    return [counts.get(i, 0) / mean for i in range(length)]


def fit(name, jobs, published_outcomes=None, first_half=False):
    jobs, first, last = busy_window(list(jobs))
    if first_half:
        last = first + (last - first) // 2
        jobs = [job for job in jobs if job.submit < last * DAY]
    days = last - first
    batches = batches_of(jobs)
    counts = Counter(int(b[0].submit // DAY) - first for b in batches)
    per_day = [counts.get(d, 0) for d in range(days)]
    week = profile({k: sum(per_day[k::7]) / len(per_day[k::7]) for k in range(7)}, 7)
    hours = profile(Counter(int(b[0].submit // 3600) % 24 for b in batches), 24)
    sigma, spell, phi = day_factors(batches, first, days)
    gaps = [b.submit - a.submit for batch in batches for a, b in zip(batch, batch[1:])]
    classes = classes_of(batches)
    rho = batch_correlation(classes)
    width = solve(lambda w: spearman_of_width(w) - rho, 0, 1)
    gpu_time = sum(job.gpus * job.duration for job in jobs)
    report = [f"{len(jobs)} jobs in {days} days from day {first} of the file's clock; {len(batches)} batches",
              f"rank correlation in a batch {rho:.3f}; mean GPU time {gpu_time / len(jobs):.6g} s",
              f"mean duration {sum(job.duration for job in jobs) / len(jobs):.6g} s"]
    for line in report:
        print(f"#   {line}")
    users = Counter(job.user for job in jobs)
    top = users.most_common(1)[0][1] / len(jobs)
    user_s = solve(lambda x: 1 / sum(k**-x for k in range(1, len(users) + 1)) - top, 0, 6) if len(users) > 1 else 0
    print_figures(name, fitted_jobs=len(jobs), fitted_days=days, jobs_per_day=f"{len(jobs) / days:.6g}",
                  mean_gpu_seconds=f"{gpu_time / len(jobs):.6g}", hours=numbers(hours), week=numbers(week),
                  day_sigma=f"{sigma:.4g}", spell_sigma=f"{spell:.4g}", spell_correlation=f"{phi:.4g}",
                  batch_gap_s=f"{sum(gaps) / len(gaps):.4g}", batch_width=f"{width:.4g}",
                  users=len(users) if user_s else 0, user_exponent=f"{user_s:.4g}")
    for group in classes:
        lengths, counts = batch_lengths(group), Counter(batch[0].gpus for batch in group)
        group = [job for batch in group for job in batch]
        ordered = sorted(job.duration for job in group)
        outcomes = published_outcomes or [sum(job.outcome == o for job in group) / len(group)
                                          for o in ("completed", "failed", "cancelled")]
        if sum(outcomes) == 0:
            outcomes = [1, 0, 0]
        print_class(sorted(counts.items()), lengths, [quantile(ordered, p) for p in PROBABILITIES], outcomes)
    print()
    for vc in sorted({job.vc for job in jobs}):
        print(f"vc {vc or '-'} {numbers([sum(b[0].vc == vc for b in group) for group in classes], 6)}")
    print_shapes(jobs)


def print_shapes(jobs):
    """The commonest demands of one-GPU jobs that cover nine tenths of them."""
    shapes = Counter(job.shape for job in jobs if job.gpus == 1 and job.shape)
    covered, total = 0, sum(shapes.values())
    if not total:
        return
    print()
    for (share, cpu, memory), n in sorted(shapes.items(), key=lambda item: (-item[1], item[0])):
        if covered >= 0.9 * total:
            break
        covered += n
        print(f"shape {share} {cpu} {memory} {n}")
    print(f"# {covered} of {total} one-GPU jobs")


def normal_cdf(x):
    return math.erfc(-x / math.sqrt(2)) / 2


class PublishedLaw:
    """Sizes 2^k with weights r^k, and durations whose logarithm is normal with mean mu + b ln g and deviation sigma.

    The four numbers are solved for the published mean size, median and mean duration, and mean GPU time.
    """

    def __init__(self, row):
        self.longest = float(row["max_run_time_gpu"])
        gpu_time = sum(float(row[k]) for k in ("complete_gpu_time", "cancel_gpu_time", "fail_gpu_time"))
        self.targets = (float(row["avg_gpu_num"]), float(row["med_run_time_gpu"]), float(row["avg_run_time_gpu"]),
                        gpu_time / float(row["gpu_job_num"]))
        self.sizes = [2**k for k in range(int(math.log2(float(row["max_gpu"]))) + 1)]
        mean_size, self.median, mean, gpu_time = self.targets
        self.r = solve(lambda r: self.mean_size(r) - mean_size, 1e-3, 1.5)
        # The ratio of GPU time to duration depends on b alone, the median and the mean then on mu and sigma.
        self.b = solve(lambda b: self.tilt(b, 1) / self.tilt(b, 0) - gpu_time / mean, -1, 2)
        self.sigma = solve(lambda s: self.mean_with(s) - mean, 0.05, 5)
        self.mu = self.mu_for(self.sigma)

    def weights(self, r=None):
        powers = [(self.r if r is None else r) ** k for k in range(len(self.sizes))]
        return [p / sum(powers) for p in powers]

    def mean_size(self, r):
        return sum(g * w for g, w in zip(self.sizes, self.weights(r)))

    def tilt(self, b, power):
        return sum(w * g ** (b + power) for g, w in zip(self.sizes, self.weights()))

    def mu_for(self, sigma):
        def excess(mu):
            return 0.5 - sum(w * normal_cdf((math.log(self.median) - mu - self.b * math.log(g)) / sigma)
                             for g, w in zip(self.sizes, self.weights()))
        return solve(excess, -10, 20)

    def mean_with(self, sigma):
        return math.exp(self.mu_for(sigma) + sigma * sigma / 2) * self.tilt(self.b, 0)

    def quantile(self, p, g):
        """Within [1 s, the longest published]; the ends of the table stand for 1/4000 and 3999/4000."""
        x = solve(lambda z: normal_cdf(z) - min(max(p, 1 / 4000), 1 - 1 / 4000), -5, 5)
        return min(self.longest, max(1, math.exp(self.mu + self.b * math.log(g) + self.sigma * x)))


def fit_published(name, row, days):
    law = PublishedLaw(row)
    jobs = int(row["gpu_job_num"])
    print(f"#   mean size, median, mean duration, mean GPU time published: {numbers(law.targets, 6)}")
    print(f"#   r = {law.r:.4g}, mu = {law.mu:.4g}, b = {law.b:.4g}, sigma = {law.sigma:.4g}")
    print_figures(name, fitted_jobs=jobs, fitted_days=days, jobs_per_day=f"{jobs / days:.6g}",
                  mean_gpu_seconds=f"{law.targets[3]:.6g}", hours=numbers([1] * 24), week=numbers([1] * 7))
    outcomes = [float(row[k]) for k in ("complete_rate_gpu", "fail_rate_gpu", "cancel_rate_gpu")]
    for g, w in zip(law.sizes, law.weights()):
        print_class([(g, w)], (1, 0, 2, 1), [law.quantile(p, g) for p in PROBABILITIES], outcomes)
    print(f"\nvc - {numbers(law.weights(), 6)}")


def published_row(folder, cluster):
    return next(row for row in csv.DictReader(open(folder / "acme/cluster_summary.csv")) if row["id"] == cluster)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    half = "--first-half" in sys.argv
    names = [name for name in sys.argv[2:] if name != "--first-half"]

    def rates(cluster):
        row = published_row(folder, cluster)
        return [float(row[k]) for k in ("complete_rate_gpu", "fail_rate_gpu", "cancel_rate_gpu")]

    fits = {
        "philly": lambda: fit("philly", read_philly(folder), rates("Philly"), half),
        "itp": lambda: fit("itp", read_itp(folder), first_half=half),
        "helios-venus": lambda: fit("helios-venus", read_helios(folder), first_half=half),
        "openb": lambda: fit("openb", read_openb(folder), first_half=half),
        # Days: 2020-04-01 to 2020-09-28 (Helios, section 2.2) and 2023-03-01 to 2023-08-31 (Acme, section 2.2).
        "helios": lambda: fit_published("helios", published_row(folder, "Helios"), 181),
        "acme-seren": lambda: fit_published("acme-seren", published_row(folder, "Seren"), 184),
        "acme-kalos": lambda: fit_published("acme-kalos", published_row(folder, "Kalos"), 184),
    }
    published_only = ("helios", "acme-seren", "acme-kalos")
    for name in names or fits:
        if name not in fits:
            sys.exit(f"no trace `{name}`; there are: {', '.join(fits)}")
        if half and name in published_only:
            if names:
                sys.exit(f"`{name}` is fitted to published sums, which have no halves")
            continue
        try:
            fits[name]()
        except OSError as error:
            sys.exit(f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
