#!/usr/bin/env python3
"""Measures what the log of a run costs, and how long contend-check takes.

    bench_certificate.py PROGRAM [--jobs 1000000] [--repeat 3]

Runs scenarios without and with --certificate, the shortest of so many times each, and prints both times and their
ratio; then has contend-check check so many timed jobs. It exits with 1 if a ratio is above 1.5 or the check takes more
than two minutes. Times are of the processor.
"""

import argparse
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Transfers that meet at `contention`; base.yaml at `flow`, too.
SCENARIOS = ["ada-srsf/base.yaml", "ada-srsf/placement-1-first-fit.yaml"]
MOST_RATIO, MOST_SECONDS = 1.5, 120


def seconds_of(words, cwd):
    """The processor seconds that a command takes."""
    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime
    before = spent()
    subprocess.run(words, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    return spent() - before


def costs(program, folder, repeat):
    """By scenario: seconds without and with the log."""
    runs = [(name, SOURCE / "scenarios" / name, []) for name in SCENARIOS]
    base = SOURCE / "scenarios/ada-srsf/base.yaml"
    runs.append(("ada-srsf/base.yaml at flow", base, ["--set", "network.fidelity=flow"]))
    runs.append(("ada-srsf/base.yaml without leaping", base, ["--no-leap"]))
    for name, path, more in runs:
        words = [program, "run", path, "-q", "--repeat", "1", "--set", "sweep={}", *more]
        plain, logged = (min(seconds_of([*words, "-o", folder / "out", *log], folder) for _ in range(repeat))
                         for log in ([], ["--certificate"]))
        yield name, plain, logged


def timed_jobs(program, folder, count):
    """Writes and runs a list of so many jobs with durations; returns the folder of results."""
    draw = random.Random(1)
    now, rows = 0.0, []
    for job in range(count):
        now += draw.expovariate(1 / 10)
        rows.append(f"j{job},{now:.3f},{draw.choice([1, 1, 2, 4, 8])},{draw.randint(10, 2000)}\n")
    (folder / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\n" + "".join(rows))
    (folder / "scenario.yaml").write_text(
        "schema_version: 2\nname: many\ncluster: {servers: 64, gpus_per_server: 8}\nnetwork: {nic: 10Gbps}\n"
        "policies: {scheduling: fifo}\nworkload: {jobs: jobs.csv}\n")
    out = folder / "many"
    subprocess.run([program, "run", "scenario.yaml", "-q", "--certificate", "-o", out], cwd=folder, check=True)
    return out


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--jobs", type=int, default=1_000_000)
    options.add_argument("--repeat", type=int, default=3)
    chosen = options.parse_args()
    program, fits = pathlib.Path(chosen.program).resolve(), True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for scenario, plain, logged in costs(program, folder, chosen.repeat):
            print(f"{scenario}: {plain:.2f} s, with the log {logged:.2f} s: {logged / plain:.2f} times", flush=True)
            fits = fits and logged <= MOST_RATIO * plain
        if chosen.jobs > 0:
            out = timed_jobs(program, folder, chosen.jobs)
            spent = seconds_of([sys.executable, SOURCE / "scripts/contend_check.py", out], folder)
            print(f"contend-check: {chosen.jobs} timed jobs in {spent:.1f} s")
            fits = fits and spent <= MOST_SECONDS
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())
