#!/usr/bin/env bash
# Repeats every number and the figure of docs/validation/ada-srsf.md except its first table, which scripts/quickstart.sh
# prints. Takes ten to fifteen minutes on two cores. The printed tables also go to the output folder; the figure
# replaces the one in docs/validation.
#   scripts/ada_srsf_study.sh [OUTPUT_FOLDER]   default: out/ada-srsf-study
# CONTEND names the program (default build/release/contend), CONTEND_DATA the folder of reference data, and SEEDS the
# number of job mixes at each point of the sweep (default 30).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=${1:-out/ada-srsf-study}
contend=${CONTEND:-build/release/contend}
seeds=${SEEDS:-30}
mkdir -p "$out"

"$contend" validate ada-srsf | tee "$out/time_stepped.txt"
echo
"$contend" validate ada-srsf-full | tee "$out/full_scale.txt"
echo

# Which models gain and which lose: average JCT by model.
"$contend" run scenarios/ada-srsf/communication-{1-srsf-1,4-ada-srsf}.yaml --repeat 30 --quiet -o "$out/by_model"
python3 - "$out/by_model" <<'END' | tee "$out/by_model.md"
import csv, statistics, sys
jcts = {}
for policy in ("srsf-1", "ada-srsf"):
    with open(f"{sys.argv[1]}/{policy}/jobs.csv", newline="") as file:
        for job in csv.DictReader(file):
            jcts.setdefault(job["model"], {}).setdefault(policy, []).append(float(job["jct_s"]))
print("| model | jobs | SRSF(1) [s] | Ada-SRSF [s] | change |\n|---|--:|--:|--:|--:|")
for model, of in sorted(jcts.items()):
    one, ada = statistics.fmean(of["srsf-1"]), statistics.fmean(of["ada-srsf"])
    print(f"| {model} | {len(of['ada-srsf'])} | {one:.0f} | {ada:.0f} | {100 * (ada / one - 1):+.1f}% |")
END
echo

# Where AdaDUAL helps, over mixes of message sizes and eta / beta. beta is 0.856 ms/MiB; 0.235 is the fit for 10 GbE.
scenarios=(scenarios/ada-srsf/communication-{1-srsf-1,2-srsf-2,4-ada-srsf}.yaml)
sweep=$out/sweep
mkdir -p "$sweep"
for models in resnet50,vgg16 resnet50,inception-v3,vgg16 vgg16,resnet50,inception-v3,lstm resnet50,inception-v3; do
  for eta in 0 0.0856 0.235 0.428 0.642 0.856; do
    "$contend" run "${scenarios[@]}" --json --repeat "$seeds" \
      --set "workload.generate.models=[$models]" --set network.eta="${eta}ms/MiB" >"$sweep/$models@$eta.json"
  done
done
python3 scripts/plot_ada_dual.py "$sweep" docs/validation/ada_dual_gain.svg | tee "$out/sweep.md"
