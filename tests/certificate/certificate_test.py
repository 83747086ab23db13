#!/usr/bin/env python3
"""Certifies small runs whose lives can be worked out by hand, and shipped scenarios, with and without leaping, and
finds planted faults in the small ones.

    certificate_test.py PROGRAM SOURCE_FOLDER

With CONTEND_EFFORT all shipped scenarios are certified, at each fidelity at which they run, else a sample.
scenario_property_test.py certifies random ones.
"""

import collections
import csv
import importlib.util
import io
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left in the source tree

import faults

FIFO = """job_id,submit_s,gpus,duration_s
a,0,4,100
b,5,2,60
c,10,4,30
d,12,2,10
e,13,4,20
"""
# b runs beside a. c needs GPUs of both servers or of b, and holds back d and e until b ends; e waits for a.
FIFO_LOG = """replica,time_s,event,job_id,gpus,seconds,text
1,0,arrives,a,,100,
1,0,starts,a,0-3,0,
1,5,arrives,b,,60,
1,5,starts,b,4-5,0,
1,10,arrives,c,,30,
1,12,arrives,d,,10,
1,13,arrives,e,,20,
1,65,ends,b,,,
1,65,starts,c,4-7,0,
1,95,ends,c,,,
1,95,starts,d,4-5,0,
1,100,ends,a,,,
1,100,starts,e,0-3,0,
1,105,ends,d,,,
1,120,ends,e,,,
1,120,run ends,,,,
"""
SHORT_AND_LONG = """job_id,submit_s,gpus,duration_s
block,0,4,50
middle,1,4,20
short,2,4,10
"""
PREEMPTED = """job_id,submit_s,gpus,duration_s
long,0,4,100
s1,10,4,5
s2,10,4,8
"""
BACKFILLED = """job_id,submit_s,gpus,duration_s
first,0,2,50
wide,1,4,20
small,2,2,30
"""
ELASTIC = """job_id,submit_s,gpus,model,duration_s,min_gpus,max_gpus
x,0,2,m,40,1,4
y,5,2,m,40,1,4
z,6,2,m,40,2,2
"""
STRUCK = """job_id,submit_s,gpus,duration_s
a,0,4,30
b,0,4,60
"""
TRAINED = """job_id,submit_s,gpus,model,iterations
t,0,4,resnet50,12
u,1,8,resnet50,5
"""
# x and y begin together on both servers, and send at once; each sends 80 times.
MEETING = """job_id,submit_s,gpus,model,iterations
x,0,2,resnet50,80
y,0,4,vgg16,40
z,1,2,resnet50,30
"""
ONE, TWO = ("servers: %d, gpus_per_server: 4, gpu_memory: 16GiB" % servers for servers in (1, 2))
TYPED = "types: [{name: k, servers: 2, gpus_per_server: 4, gpu_memory: 16GiB}]"
# By run: cluster, scheduling policy, job list, further keys of the workload and of the scenario.
RUNS = {
    "fifo": (TWO, "fifo", FIFO, "", ""),
    "sjf": (ONE, "sjf", SHORT_AND_LONG, "", ""),
    "srtf": (ONE, "{policy: srtf, preemptive: true}", PREEMPTED, "", "checkpoints: {restart_cost: 2s}"),
    "easy": (ONE, "easy", BACKFILLED, "", ""),
    "conservative": (ONE, "conservative", BACKFILLED, "", ""),
    "elastic": (TYPED, "afs", ELASTIC, ", throughputs: rates.csv", "checkpoints: {restart_cost: 2s}"),
    "failures": (TWO, "fifo", STRUCK, "", "failures: {events: outages.csv, detection: 1s}"),
    "train": (TWO, "fifo", TRAINED, "", ""),
    "meet": (TWO, "fifo, placement: spread, communication: {policy: srsf, ways: 3}", MEETING, "", ""),
    "flow": (TWO, "fifo, placement: spread, communication: {policy: srsf, ways: 3}", MEETING, "", ""),
    "alone": (TWO, "fifo, placement: spread, communication: {policy: srsf, ways: 3}", TRAINED, "", ""),
    "alone-flow": (TWO, "fifo, placement: spread, communication: {policy: srsf, ways: 3}", TRAINED, "", ""),
}
NETWORKS = {"flow": "nic: 10Gbps, fidelity: flow", "alone-flow": "nic: 10Gbps, fidelity: flow"}  # by run
SAMPLE = ["overlapping-jobs/per-iteration.yaml", "network/routing-and-placement.yaml", "loans/lent-servers.yaml", "systems/share.yaml",
          "energy/two-sites.yaml", "serving/serve-and-train.yaml", "federated/parrot.yaml"]
FIDELITIES = ("own", "analytic", "contention", "flow")
MOST_EVENTS, MOST_BYTES = 10 ** 7, 5 * 10 ** 7  # of a run that is executed without leaping, of a log that is checked
TABLES = {"outages.csv": "component,down_s,up_s\nserver0,20,25\n",
          "rates.csv": "model,type,gpus,iterations_per_s\nm,k,1,1\nm,k,2,2\nm,k,4,3\n"}


def certify(program, folder, name, options=()):
    """Runs a scenario with its log; returns the folder of the results."""
    cluster, policy, jobs, listed, more = RUNS[name]
    at = folder / name
    at.mkdir(exist_ok=True)
    for table, text in {**TABLES, "jobs.csv": jobs}.items():
        (at / table).write_text(text)
    (at / "scenario.yaml").write_text(
        f"schema_version: 2\nname: {name}\ncluster: {{{cluster}}}\nnetwork: {{{NETWORKS.get(name, 'nic: 10Gbps')}}}\n"
        f"policies: {{scheduling: {policy}}}\nworkload: {{jobs: jobs.csv{listed}}}\n{more}\n")
    out = at / ("whole" if options else "out")
    done = subprocess.run([program, "run", "scenario.yaml", "-q", "--certificate", "-o", out, *options], cwd=at,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{name}: {done.stderr}"
    return out


def shipped(checker, program, source, top):
    """Disagreements in the shipped scenarios of jobs, each with one seed; how many runs were certified, by fidelity;
    and how many logs were too large for that."""
    counts, large, wrong = collections.Counter(), 0, []
    is_all = "CONTEND_EFFORT" in os.environ
    top_of_all = source / "scenarios"
    paths = sorted(top_of_all.rglob("*.yaml")) if is_all else [top_of_all / name for name in SAMPLE]
    for path, fidelity in itertools.product(paths, FIDELITIES if is_all else ("own",)):
        for options in ([], ["--no-leap"]):
            out = top / "shipped"
            words = [program, "run", path, "-q", "--set", "sweep={}", "--repeat", "1", "--certificate", "-o", out]
            words += [*options, *(["--set", f"network.fidelity={fidelity}"] if fidelity != "own" else [])]
            done = subprocess.run(words, capture_output=True, text=True, timeout=3000)
            is_none = "an iteration study has none" in done.stderr
            if is_none or done.returncode == 3 and ("\nsweep:" in path.read_text() or fidelity != "own"):
                break  # not of jobs, or only its points can run, or it has keys that need another fidelity
            if done.returncode not in (0, 1, 4):  # ok, what it expects is not so, and jobs that did not finish
                wrong.append(f"{path}: ends with {done.returncode}: {done.stderr}")
                break
            events = json.loads((out / "manifest.json").read_text())["replicas"][0]
            if (out / "transfers.csv").stat().st_size > MOST_BYTES:
                large += 1
            else:
                counts[fidelity] += 1
                wrong += [f"at {fidelity}: {text}" for text in found_in(checker, out)]
            shutil.rmtree(out)
            if events["events"] + events["leapt_events"] > MOST_EVENTS:
                break  # without leaping it would take too long
    return counts, large, wrong


def plant(path, change):
    """Alters a file of results."""
    if path.suffix == ".json":
        summary = json.loads(path.read_text())
        change(summary)
        return path.write_text(json.dumps(summary))
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    columns = list(rows[0])
    change(rows)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    return None


def found_in(checker, folder):
    """The disagreements in a folder."""
    return [text for check in checker.check_folder(folder) for text in check.wrong]


def as_program(path, out):
    """Faults in exit codes and words of the checker as a program."""
    wrong = []
    for code, words in ((0, "certified by contend-check 3, digest "),
                        (1, "makespan_s is '0', by log and rows it is 120.0"), (2, "has no certificate.csv")):
        if code == 1:
            plant(out / "summary.json", faults.figure("makespan_s", lambda value: 0))
        if code == 2:
            (out / "certificate.csv").unlink()
        done = subprocess.run([sys.executable, path, out], capture_output=True, text=True, timeout=60)
        if done.returncode != code or words not in done.stdout + done.stderr:
            wrong.append(f"the checker ends with {done.returncode} in place of {code}: {done.stdout}{done.stderr}")
    return wrong


def as_comparison(program, checker, folder):
    """Faults in `contend compare --certify`, of a good folder with itself, with a bad one and with a scenario."""
    wrong, good, bad = [], folder / "meet" / "out", folder / "meet" / "bad"
    shutil.copytree(good, bad)
    plant(bad / "transfers.csv", faults.scale("rates", 1.01, event="sends"))
    manifest = json.loads((bad / "manifest.json").read_text())  # as of an earlier version, without digests of files
    kept = {key: value for key, value in manifest.items() if key not in ("files", "manifest_sha256")}
    (bad / "manifest.json").write_text(json.dumps(kept))
    (folder / "contend-check").symlink_to(checker.resolve())  # if none is beside the program
    path = f"{os.environ['PATH']}:{folder}"
    for code, sides, words in ((0, (good, good), "ok    NEW is certified"),
                               (1, (good, bad), "FAIL  NEW is certified: contend-check finds disagreements in "),
                               (2, (good, folder / "meet" / "scenario.yaml"), "--certify checks folders")):
        done = subprocess.run([program, "compare", "--certify", *sides], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PATH": path})
        if done.returncode != code or words not in done.stdout + done.stderr:
            wrong.append(f"compare --certify: {done.returncode} in place of {code}: {done.stdout}{done.stderr}")
    return wrong


def main(program, source):
    path = pathlib.Path(source) / "scripts" / "contend_check.py"
    spec = importlib.util.spec_from_file_location("contend_check", path)
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    wrong = []
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top)
        for name in RUNS:
            out, whole = certify(program, folder, name), certify(program, folder, name, ["--no-leap"])
            if (out / "certificate.csv").read_bytes() != (whole / "certificate.csv").read_bytes():
                wrong.append(f"{name}: the log differs with --no-leap")
            wrong += found_in(checker, out) + found_in(checker, whole)
        if (folder / "fifo" / "out" / "certificate.csv").read_text() != FIFO_LOG:
            wrong.append(f"fifo: the log is {(folder / 'fifo' / 'out' / 'certificate.csv').read_text()}")
        counts, large, more = shipped(checker, program, pathlib.Path(source), folder)
        wrong += more
        for what, name, file, change, words in faults.FAULTS:
            bad = folder / name / "bad"
            shutil.copytree(folder / name / "out", bad)
            plant(bad / file, change)
            found = found_in(checker, bad)
            if not any(words in text for text in found):
                wrong.append(f"{what}: not found in {name}/{file}; found: {found[:3]}")
            shutil.rmtree(bad)
        wrong += as_comparison(program, path, folder) + as_program(path, folder / "fifo" / "out")
    told = ", ".join(f"{count} at {fidelity} fidelity" for fidelity, count in counts.items())
    did = (f"certificate: {2 * len(RUNS)} small runs and {told} of shipped scenarios certified, {len(faults.FAULTS)} "
           f"planted faults found, {large} logs too large")
    print("\n".join(wrong) or did)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
