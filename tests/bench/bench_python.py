#!/usr/bin/env python3
"""What the Python package costs: decisions a second of a policy in Python, in this process and in another one, beside that
of the program, and the seconds that tables of many jobs take.

    PYTHONPATH=build/release/python /usr/bin/python3 tests/bench/bench_python.py [JOBS [ROWS]]

Run it in the root of the repository. JOBS (100,000) is the number of decisions, ROWS (1,000,000) the number of jobs of
tables. Times are of the processor, of this process and its children, unless they are on the clock; the least of several.
"""

import os
import pathlib
import re
import sys
import tempfile
import time

import contend
import pandas  # noqa: F401 - before any time is taken


class Fifo(contend.SchedulingPolicy):
    """First in, first out: jobs come in the order in which they are to start."""

    def decide(self, question):
        return {"start": list(self.waiting), "in_order": True}


def write_jobs(path, jobs, at_once):
    with open(path, "w", encoding="utf-8") as file:
        file.write("job_id,submit_s,gpus,duration_s\n")
        file.writelines(f"j{i},{i // at_once * 2},1,1\n" for i in range(jobs))


def seconds(call):
    before = os.times()
    result = call()
    after = os.times()
    return sum(after[:4]) - sum(before[:4]), result


def main():
    jobs, rows = (int(word) for word in (sys.argv[1:] + ["100000", "1000000"][len(sys.argv) - 1:])[:2])
    page = pathlib.Path("docs/howto/external-policy.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("fifo.py").write_text(re.search(r"```python\n(.*?)```", page, re.S)[1], encoding="utf-8")
        print("jobs at once   in C++ [1/s]   Python class [1/s]   Python process [1/s]")
        for at_once in (1, 100):
            write_jobs("jobs.csv", jobs, at_once)
            scenario = {"cluster": {"servers": 32, "gpus_per_server": 8}, "workload": {"jobs": "jobs.csv"},
                        "policies": {"scheduling": "fifo", "placement": "first-fit"}}
            process = {"policies.scheduling": {"policy": "external", "command": f"{sys.executable} fifo.py fifo"}}
            (inside, built_in), (mine, by_class), (theirs, by_process) = (seconds(call) for call in (
                lambda: contend.run(scenario), lambda: contend.run(scenario, scheduling=Fifo),
                lambda: contend.run(scenario, set=process)))
            assert built_in.bytes_of("jobs") == by_class.bytes_of("jobs") == by_process.bytes_of("jobs")
            print(f"{at_once:12}   {jobs / inside:12.0f}   {jobs / mine:18.0f}   {jobs / theirs:20.0f}")
        write_jobs("jobs.csv", rows, 100)
        took, runs = seconds(lambda: contend.run(scenario))
        print(f"\n{rows} jobs: run {took:.2f} s", end="")
        took, _ = seconds(lambda: runs.jobs["jct_s"])
        print(f", one column {took:.3f} s", end="")
        best = []
        for _ in range(5):
            begin = time.monotonic()
            took, frame = seconds(lambda: runs._native_table("jobs", None).frame())
            best.append((took, time.monotonic() - begin))
        print(f", frame of {len(runs.jobs)} columns {min(best)[0]:.2f} s, {min(each[1] for each in best):.2f} s on the "
              f"clock ({frame.memory_usage().sum() / 2**20:.0f} MiB)")
        os.chdir("/")


if __name__ == "__main__":
    main()
