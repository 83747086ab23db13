#!/usr/bin/env python3
"""Plants faults in the engine, and has contend-check find each of them by the logs of small runs.

    engine_faults.py SOURCE_FOLDER [--folder BUILD] [--program PROGRAM]

The source is copied to BUILD (build/engine_faults), and one build has all the faults; a variable of the environment
says which of them is active, as in scripts/mutation_sample.py. The runs come from certificate_test.py. A fault counts as
found if contend-check disagrees with a run that has it, or if the run fails. Without a fault all runs have to agree.
It takes the time of a build; scripts/weekly.sh runs it.
"""

import argparse
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left in the source tree

import certificate_test

ALPHA_BETA, FLUID, FLOWS, ALLOCATION = ("network/alpha_beta.cpp", "network/fluid.cpp", "network/flow_network.cpp",
                                        "sim/allocation.cpp")
# What is wrong, the file, its text and what stands there instead; MUTANT is whether the fault is active.
FAULTS = [
    ("a transfer is 1% too fast", ALPHA_BETA, "return transfer.factor * (k *",
     "return (MUTANT ? 0.99 : 1.0) * transfer.factor * (k *"),
    ("transfers don't slow each other down", ALPHA_BETA, "if (!contention_) return ways;",
     "if (!contention_ || MUTANT) return ways;"),
    ("each of several transfers gets more than its share", ALPHA_BETA, "(k - 1) * transfer.eta.ns_per_byte()",
     "(MUTANT ? 0.0 : k - 1) * transfer.eta.ns_per_byte()"),
    ("messages lose bytes", ALPHA_BETA, "request.times, request.all_bytes().to_double()};",
     "request.times, request.all_bytes().to_double() * (MUTANT ? 0.999 : 1.0)};"),
    ("interfaces miss transfers", ALPHA_BETA, "      here.meter.count_transfer(request.all_bytes());\n",
     "      if (!MUTANT) here.meter.count_transfer(request.all_bytes());\n"),
    ("a leap counts too little on interfaces", ALPHA_BETA, "at(server).meter.leap(per_period, times, by);",
     "at(server).meter.leap(per_period, times - (MUTANT ? 1 : 0), by);"),
    ("a leap counts too little of a job", ALPHA_BETA, "job_meter_[job.index()].leap(per_period, times, by);",
     "job_meter_[job.index()].leap(per_period, times + (MUTANT ? 1 : 0), by);"),
    ("flows are 1% too fast", FLUID, "flows_[id.index()].rate = shares_.rate(id);",
     "flows_[id.index()].rate = shares_.rate(id) * (MUTANT ? 1.01 : 1.0);"),
    ("flows are 1% too slow", FLUID, "= shares_.rate(id)", "= (MUTANT ? 0.99 : 1.0) * shares_.rate(id)"),
    ("flows end a nanosecond late", FLUID, "is_near ? flow.since + Time::ceil",
     "is_near ? Time::nanoseconds(MUTANT ? 1 : 0) + flow.since + Time::ceil"),
    ("links count more bytes than flows send", FLOWS, "step.history.sent(from, to, bytes, options_.link_interval);",
     "step.history.sent(from, to, bytes * (MUTANT ? 1.001 : 1.0), options_.link_interval);"),
    ("a leap of flows counts too little", FLOWS, "server_meter_[server.index()].leap(per_period, times, by);",
     "server_meter_[server.index()].leap(per_period, times - (MUTANT ? 1 : 0), by);"),
    ("jobs with durations end a nanosecond late", "sim/timed_body.cpp", "  run.ends = state_.clock + (run.is_cut",
     "  run.ends = state_.clock + Time::nanoseconds(MUTANT ? 1 : 0) + (run.is_cut"),
    ("GPUs are held a nanosecond longer", ALLOCATION, "run.totals.held += held;",
     "run.totals.held += held + Time::nanoseconds(MUTANT ? 1 : 0);"),
    ("waits aren't counted", ALLOCATION, "  run.totals.waited += state_.clock - run.since;\n",
     "  if (!MUTANT) run.totals.waited += state_.clock - run.since;\n"),
    ("preemptions aren't counted", ALLOCATION, "  ++state_.run(job).totals.preemptions;\n",
     "  if (!MUTANT) ++state_.run(job).totals.preemptions;\n"),
    ("interruptions aren't counted", ALLOCATION, "  ++run.totals.interruptions;\n",
     "  if (!MUTANT) ++run.totals.interruptions;\n"),
]


def module(path):
    """A file of Python as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def plant(folder, switches):
    """Writes all faults into the copy, each behind its switch."""
    (folder / switches.HEADER).write_text(switches.HEADER_TEXT)
    for name in dict.fromkeys(name for _, name, _, _ in FAULTS):
        text = (folder / name).read_text()
        for number, (what, of, old, new) in enumerate(FAULTS):
            if of == name:
                assert old in text, f"{what}: {name} has no '{old.strip()}' any more"
                text = text.replace(old, new.replace("MUTANT", f"contend_mutant::on<{number}>()"), 1)
        (folder / name).write_text(f'#include "{switches.HEADER}"\n{text}')


def build(source, folder, switches):
    """Copies the source, plants the faults and builds the program; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=source, check=True, capture_output=True, text=True).stdout
    for name in filter(None, files.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, folder / name)
    plant(folder, switches)
    for words in (["cmake", "--preset", "release", "-DCONTEND_CUDA=OFF", "-DCONTEND_TESTS=OFF"],
                  ["cmake", "--build", "--preset", "release", "--target", "contend", "-j", str(os.cpu_count())]):
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "build/release/contend"


def disagreements(checker, program, top, number):
    """What contend-check finds in the small runs with a fault; nothing is active if the number is negative."""
    os.environ["CONTEND_MUTANT"] = str(number)
    found = []
    for name in certificate_test.RUNS:
        try:
            found += certificate_test.found_in(checker, certificate_test.certify(program, top, name))
        except (AssertionError, OSError, KeyError, ValueError) as error:
            found.append(str(error))
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("source", type=pathlib.Path)
    options.add_argument("--folder", type=pathlib.Path)
    options.add_argument("--program", type=pathlib.Path, help="a build that has the faults")
    chosen = options.parse_args()
    source = chosen.source.resolve()
    sys.path.append(str(source / "scripts"))
    switches, checker = (module(source / "scripts" / name) for name in ("mutant_switches.py", "contend_check.py"))
    program = chosen.program or build(source, (chosen.folder or source / "build/engine_faults").resolve(), switches)
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        wrong += [f"without a fault: {text}" for text in disagreements(checker, program.resolve(), top, -1)]
        for number, (what, *_) in enumerate(FAULTS):
            found = disagreements(checker, program.resolve(), top, number)
            print(f"{what}: {found[0] if found else 'not found'}", flush=True)
            wrong += [] if found else [f"not found: {what}"]
    print("\n".join(wrong) or f"engine faults: {len(FAULTS)} of {len(FAULTS)} found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
