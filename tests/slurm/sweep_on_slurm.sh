#!/usr/bin/env bash
# `contend sweep --slurm` on a real Slurm of one node: the merged table of four tasks is, byte for byte, the table of a
# run without Slurm; a task that was cancelled is told apart and submitted again alone.
#   sweep_on_slurm.sh PROGRAM SOURCE_FOLDER
# Exits 77 where Slurm can't run.
set -euo pipefail
program=$(realpath "$1")
source_folder=$(realpath "$2")
work=$(mktemp -d)
testbed=$source_folder/scripts/slurm_testbed.sh

clean_up() {
  if [[ -d $work/slurm ]]; then "$testbed" stop "$work/slurm"; fi
  rm -rf "$work"
}
trap clean_up EXIT

fail() {
  echo "FAILED: $*"
  tail -n 5 "$work"/slurm/*.log "$work"/sweep/logs/* 2>/dev/null || true
  exit 1
}

# status EXPECTED SECONDS: waits until `--status` exits with that code.
status() {
  local code
  for ((i = 0; i < $2 * 2; ++i)); do
    code=0
    "$program" sweep sweep --status >status.txt || code=$?
    if [[ $code == "$1" ]]; then return; fi
    sleep 0.5
  done
  fail "--status exits with $code, not $1: $(cat status.txt)"
}

"$testbed" start "$work/slurm" || exit $?
# shellcheck source=/dev/null
source "$work/slurm/env"
cd "$work"
cat >scenario.yaml <<'YAML'
schema_version: 1
name: four tasks
network: {nic: 10Gbps}
workload: {generate: {sizes: {1: 4, 8: 4}, iterations: [100, 200]}}
YAML
words=(scenario.yaml --set "network.nic=1Gbps,10Gbps,25Gbps,100Gbps" --repeat 5 --per-job)
"$program" sweep "${words[@]}" -o alone.sqlite --quiet

# Nothing starts before one of the tasks is cancelled.
scontrol update PartitionName=test State=DOWN
"$program" sweep "${words[@]}" --slurm sweep --chunk 5 --time 5 -o merged.sqlite
array=$(awk -F, 'NR == 2 {print $1}' sweep/submissions.csv)
status 4 1
grep -q "PENDING" status.txt || fail "no shard is pending: $(cat status.txt)"
scancel "${array}_2"
scontrol update PartitionName=test State=UP
for ((i = 0; i < 120; ++i)); do
  if [[ $(squeue --noheader --states=PD,R,CG --format=%i) == "" ]]; then break; fi
  sleep 0.5
done
status 4 1
grep -q "15 of 20 runs in 4 shards done" status.txt || fail "not three of four shards: $(cat status.txt)"
grep -qE "^2 +0 +5 +(CANCELLED|not known to Slurm)" status.txt || fail "shard 2 is not told apart: $(cat status.txt)"
[[ ! -e merged.sqlite ]] || fail "merged without shard 2"

"$program" sweep sweep --resubmit
[[ $(awk -F, 'NR == 4 {print $2}' sweep/submissions.csv) == 2 ]] || fail "not shard 2 alone: $(cat sweep/submissions.csv)"
status 0 60
for store in alone merged; do "$program" results $store.sqlite --csv $store.csv >/dev/null; done
cmp alone.csv merged.csv || fail "the merged table differs"
"$program" sweep sweep --resubmit | grep "nothing to resubmit" >/dev/null || fail "submitted again what is done"
echo "one table from four tasks, one of them submitted twice"
