#!/usr/bin/env python3
"""Holds what the verbs print with --json to docs/schema/output.schema.json.

Usage: json_output_test.py PROGRAM SOURCE_FOLDER. Exits with 77 (skipped) without jsonschema. Every verb with --json has
a case; the schema admits no member that it doesn't name, and what a verb prints is no longer valid without one of its
first members that the schema requires.
"""

import copy
import itertools
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("json_output: skipped, because Python has no jsonschema")
    sys.exit(77)

SMALL = "--set workload.generate.iterations=[10,60] --set workload.generate.arrivals=60s"
BASE, STUDY = "scenarios/ada-srsf/base.yaml", "scenarios/overlap/resnet50-10gbe.yaml"
FILES = {
    "fabric.yaml": "schema_version: 1\ncluster: {servers: 16, gpus_per_server: 1}\nnetwork:\n  fidelity: flow\n"
                   "  nic: 100Gbps\n  fabric: {kind: leaf-spine, servers_per_leaf: 8, spines: 2}\n  routing: ecmp\n",
    "flows.csv": "flow,start_s,bytes,source,destination\na,0,10MB,server0,server8\nb,0,50KB,server1,server8\n",
    "measured.csv": "collective,ranks,bytes,time_us\n" + "".join(
        f"all-reduce,8,{size},{100 + size / 1000}\n" for size in (1000, 10000, 100000, 1000000, 4000000)),
    "jobs.csv": "job_id,submit_s,gpus,duration_s,user\na,0,4,10,ann\nb,1,4,20,ben\nc,2,2,5,ann\n",
    "nodes.json": '{"nodes": [{"name": "n1", "gres": "gpu:4", "state": "mixed", "cpus": 8}]}',
    "squeue.json": '{"jobs": [{"job_id": 1, "job_state": "PENDING", "submit_time": 10, "time_limit": 5, "priority": 3, '
                   '"user_name": "ann", "partition": "main", "tres_req_str": "cpu=1,gres/gpu=2"}]}',
    "now.csv": "job_id,submit_s,gpus,duration_s,limit_s,elapsed_s,user\na,0,4,60,60,10,ann\nb,0,4,60,60,,ben\n",
    "now.yaml": "schema_version: 2\ncluster: {servers: 1, gpus_per_server: 4}\nworkload: {jobs: now.csv}\n"
                "policies: {scheduling: fifo, placement: first-fit}\n",
    "queue.yaml": "schema_version: 1\nname: queue\ncluster: {servers: 1, gpus_per_server: 4}\n"
                  "workload: {jobs: jobs.csv}\npolicies: {scheduling: fifo, placement: first-fit}\n",
    "parallel.yaml": "schema_version: 1\ncluster: {servers: 2, gpus_per_server: 8}\nnetwork: {nic: 200Gbps}\n"
                     "training: {gpt: {model: gpt2-medium, device: H100-SXM, global_batch: 64, "
                     "parallel: {tensor: 2, pipeline: 2}}}\n",
    "study.yaml": "schema_version: 1\nnetwork: {alpha: 100us, beta: 1ns/B, formula: measured}\n"
                  "training: {it: {model: resnet50, device: V100-PCIe}}\noverlap: {training: it, workers: [16]}\n",
    "flight0.json": json.dumps({
        "version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
        "entries": [{"pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": number, "is_p2p": False,
                     "profiling_name": "nccl:all_reduce", "input_sizes": [[1024]], "input_dtypes": ["Float"],
                     "output_sizes": [[1024]], "output_dtypes": ["Float"], "time_created_ns": 9, "duration_ms": 0.5,
                     "state": state} for number, state in ((1, "completed"), (2, "started"))]
                   + [{"profiling_name": "nccl:strange", "state": "completed"}]}),
    "rank0.json": json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "ts": 0, "dur": 300, "pid": 9, "tid": 1},
        {"ph": "X", "cat": "user_annotation", "name": "nccl:all_reduce", "ts": 0, "dur": 3, "pid": 9, "tid": 1},
        {"ph": "X", "cat": "mtia", "name": "strange", "ts": 0, "dur": 3, "pid": 9, "tid": 1},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1, "dur": 2, "pid": 9, "tid": 1,
         "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic(x)", "ts": 50, "dur": 100.5, "pid": 0, "tid": 20,
         "args": {"device": 0, "stream": 20, "correlation": 1, "Collective name": "allreduce", "In msg nelems": 1000,
                  "Out msg nelems": 1000, "dtype": "Float", "Process Group Name": "0",
                  "Process Group Ranks": "[0, 1]"}}]}),
    "steps.json": json.dumps([
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1, "args": {"name": "PP rank 0, compute"}}] + [
        {"ph": "X", "name": name, "pid": pid, "tid": 1, "ts": at, "dur": 9, "args": {"step": 1, "seq_id": 0}}
        for pid in (0, 1) for name, at in (("forward-compute", 0), ("backward-compute", 9), ("optimizer", 18))]),
    "train.py": "import torch\nmodel = torch.nn.Linear(4, 2)\nmodel(torch.ones(3, 4)).sum().backward()\n"
                "for each in model.parameters():\n    torch.distributed.all_reduce(each.grad)\n"
                "torch.optim.SGD(model.parameters(), lr=1.0).step()\n",
    "iterations.csv": "model,batch,single_worker,fusion,seconds\nresnet152,128,883.1ms,bsp,1.3601\n"
                      "resnet152,128,883.1ms,wfbp,1.2334\ninception-v4,128,610.8ms,bsp,0.9000\n"
                      "inception-v4,128,610.8ms,wfbp,0.9437\ndensenet161,64,477.7ms,bsp,0.6826\n"
                      "densenet161,64,477.7ms,wfbp,0.8324\n",
}
# A Python for `contend capture`; without one its case is left out.
TORCH = next((each for each in ("python3", "/usr/bin/python3")
              if subprocess.run([each, "-c", "import torch"], capture_output=True, check=False).returncode == 0), None)
MEMBERS = 12  # of each value that are left out, one by one
# The definition of the schema, and the words of the command.
CASES = [
    ("run", f"run {BASE} {SMALL} --repeat 2 -q --json"),
    ("run", "run queue.yaml --json -q"),
    ("run", "run parallel.yaml --json -q --set 'workload={generate: {models: [gpt], sizes: {16: 1}, iterations: [3, 3]}}'"),
    ("run", f"run {BASE} scenarios/ada-srsf/placement-1-first-fit.yaml {SMALL} --repeat 2 -q --json --set "
            "'expect={finished: 160}'"),
    ("run", f"run {STUDY} --set overlap.workers=[16] -q --json"),
    ("run", "run queue.yaml --json -q -o kept/fifo"),
    ("run", "run queue.yaml --json -q -o kept/easy --set policies.scheduling=easy"),
    ("runs", "runs kept --json"),
    ("compare", f"compare {BASE} {BASE} {SMALL} --set-new network.beta=0.4ms/MiB --repeat 3 --json --fail-if "
                "'finished < 0'"),
    ("compare", f"compare {BASE} {BASE} {SMALL} --set-new network.beta=0.4ms/MiB --repeat 3 --json --by size "
                "--set 'expect={finished: 160}'"),
    ("run", "run queue.yaml --json -q --certificate -o certified"),
    ("compare", "compare certified certified --certify --json"),
    ("compare", f"compare {STUDY} {STUDY} --set-new network.nic=25Gbps --set overlap.workers=[16] --json"),
    ("explain", "explain queue.yaml b --json"),
    ("explain", "explain queue.yaml b --json --set policies.scheduling=conservative"),
    ("explain", f"explain {BASE} job-3 {SMALL} --json"),
    ("explain", f"explain scenarios/overlapping-jobs/base.yaml job-15 {SMALL} --json"),
    ("explain-study", f"explain {STUDY} '16 workers, none, mg-wfbp' --json"),
    ("tune", f"tune {BASE} {SMALL} --minimise avg_jct_s --trials 4 --repeat 2 -q --json -o t.sqlite "
             "--set 'policies.placement.kappa={from: 1, to: 8, step: 1}'"),
    ("evaluate", "evaluate sjf --on queue.yaml --held-out queue.yaml --json"),
    ("doctor", "doctor folder cores --json"),
    ("fits", "fits llama-3-8b --gpus 8 --device H100-SXM --batch 16 --top 1 --json"),
    ("collective", "collective --machine dgx-h100 --servers 2 -b 1MiB -e 4MiB -f 4 --json"),
    ("flows", "flows fabric.yaml flows.csv --json"),
    ("stragglers", "stragglers steps.json --json"),
    ("ask", "ask spares --servers 10 --mtbf 9h --repair 1h --spares 1 --json"),
    ("recording", "recording rank0.json --json"),
    ("recording-log", "recording flight0.json --json"),
    ("capture", f"capture --ranks 2 --json -- {TORCH} train.py"),
    ("show-topology", "show fabric.yaml --topology --json"),
    ("show-layers", f"show {STUDY} --layers --json"),
    ("show-parallel", "show parallel.yaml --parallel --json"),
    ("show-passes", "show parallel.yaml --passes --json"),
    ("show-model", "show --model deepseek-v3 --json"),
    ("show-passes", f"show {STUDY} --passes --json --set overlap.workers=[16]"),
    ("import", "import jobs.csv --json"),
    ("cluster-import", "cluster import squeue.json nodes.json --json"),
    ("twin", "twin now.yaml --history jobs.csv --arrivals jobs.csv --policies easy --draws 3 --json"),
    ("whatif", "whatif jobs.csv --gpus 16 --gpus-per-server 4 --weeks 2 --max-time 1h --json"),
    ("fit", "fit study.yaml iterations.csv --json"),
    ("calibrate-network", "calibrate network --csv measured.csv --json"),
] + [("list", f"list {what} --json") for what in (
    "policies topologies collectives models networks transformers devices layer-formats trace-formats keys metrics "
    "suites operators").split()]


def paths_of_members(value, path=()):
    """Every member of every object in the value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name)
            yield from paths_of_members(inner, (*path, name))
    elif isinstance(value, list) and value:
        yield from paths_of_members(value[0], (*path, 0))


def shortened(value):
    """The value with the first element alone of each list: `paths_of_members` sees as many members."""
    if isinstance(value, dict):
        return {name: shortened(inner) for name, inner in value.items()}
    return [shortened(inner) for inner in value[:1]] if isinstance(value, list) else value


def without(value, path):
    """A copy of the value without that member."""
    result = inner = copy.deepcopy(value)
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return result


def main():
    program, source = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    schema = json.loads((source / "docs/schema/output.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    faults, needed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        (pathlib.Path(folder) / "scenarios").symlink_to(source / "scenarios")
        for name, words in CASES:
            if name == "capture" and TORCH is None:
                print("json_output: `contend capture` is left out, because no Python here has torch")
                continue
            done = subprocess.run([program, *shlex.split(words)], cwd=folder, text=True, capture_output=True,
                                  check=False)
            try:
                value = json.loads(done.stdout, parse_constant=lambda word: sys.exit(f"{words}: {word} is no JSON"))
            except ValueError as error:
                faults.append(f"{words}: {error}; {done.stderr.strip()}")
                continue
            validator = jsonschema.Draft7Validator({**schema, "$ref": f"#/definitions/{name}"})
            faults += [f"{words}: {'/'.join(map(str, each.absolute_path))}: {each.message[:300]}"
                       for each in validator.iter_errors(value)]
            short = shortened(value)
            if not validator.is_valid(short):
                short = value  # the schema wants lists of more
            needed += sum(not validator.is_valid(without(short, path))
                          for path in itertools.islice(paths_of_members(short), MEMBERS))
            strange = copy.deepcopy(value)
            (strange if isinstance(strange, dict) else strange[0])["strange"] = 1
            if validator.is_valid(strange):
                faults.append(f"{words}: the schema admits any member")
    printed = subprocess.run([program, "schema"], text=True, capture_output=True, check=True).stdout
    try:
        jsonschema.Draft7Validator.check_schema(json.loads(printed))
    except (ValueError, jsonschema.SchemaError) as error:
        faults.append(f"contend schema prints no JSON Schema: {error}")
    # Every verb whose help names --json has a case.
    program_help = subprocess.run([program, "--help"], text=True, capture_output=True, check=True).stdout
    verbs = re.findall(r"^  (\S+(?: model| network)?)\s{2,}", program_help.split("Verbs:")[1].split("\n\n")[0], re.M)
    for verb in verbs:
        text = subprocess.run([program, *verb.split(), "--help"], text=True, capture_output=True, check=False).stdout
        if re.search(r"^ +--json ", text, re.M) and not any(words.startswith(verb + " ") for _, words in CASES):
            faults.append(f"the verb {verb} has --json and no case here")
    if needed < 300:
        faults.append(f"the schema requires only {needed} of the members")
    print("\n".join(faults) or f"json_output: {len(CASES)} commands, {needed} members that can't be missing")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
