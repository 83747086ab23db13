#!/usr/bin/env bash
# Makes runs and a sweep, writes their reports, and drives the pages in headless Chromium.
#   run.sh CONTEND WRITE_STORE FOLDER
# Exits 77 with a reason where there is no browser or no way to the test driver.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
contend=$1 write_store=$2 folder=$3

skip() {
  echo "skipped: $1"
  exit 77
}
command -v node >/dev/null || skip "node is not here"
command -v npm >/dev/null || skip "npm is not here"
browser=$(command -v chromium || command -v chromium-headless-shell || true)
[[ -n $browser ]] || skip "chromium is not here"

rm -rf "$folder/data" "$folder/pictures"
mkdir -p "$folder/data" "$folder/pictures"

# The driver, as the lock file has it. It stays in the build folder from one run to the next.
if ! cmp -s "$here/package-lock.json" "$folder/package-lock.json"; then
  cp "$here/package.json" "$folder/"
  if ! (cd "$folder" && cp "$here/package-lock.json" . && npm ci --no-audit --no-fund) >"$folder/npm.log" 2>&1; then
    rm -f "$folder/package-lock.json"
    if grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH' "$folder/npm.log"; then
      skip "npm reaches no registry"
    fi
    cat "$folder/npm.log"
    exit 1
  fi
fi
cp "$here"/*.mjs "$folder/"

# A job whose name tries to leave its place; a network with links; a full-scale run above the limit of spans; one just
# below a million.
data=$folder/data
cat >"$data/jobs.csv" <<'CSV'
job_id,submit_s,model,gpus,iterations
"</script><img src=x onerror=""alert('job')"">",0,resnet50,4,40
"=cmd|'&<b>""quoted"", comma",1,vgg16,8,30
job-three,2,lstm,1,60
job-four,2.5,resnet50,2,50
CSV
cat >"$data/hostile.yaml" <<'YAML'
schema_version: 1
name: "</title><script>alert('name')</script>"
description: "<img src=x onerror=alert('text')> & a topology"
cluster: {servers: 4, gpus_per_server: 4}
network: {fidelity: flow, nic: 10Gbps, link_interval: 1s, fabric: {kind: leaf-spine, servers_per_leaf: 2, spines: 2}}
workload: {jobs: jobs.csv}
YAML
cd "$data"
"$contend" run hostile.yaml -q -o hostile
"$contend" report hostile --svg hostile-figures -o hostile.html
study=$here/../../../scenarios/ada-srsf
few=(--set 'workload.generate.iterations=[20, 60]')
"$contend" run "$study/communication-1-srsf-1.yaml" "$study/communication-4-ada-srsf.yaml" --repeat 3 "${few[@]}" -q -o several
"$contend" report several/srsf-1 several/ada-srsf --svg several-figures -o several.html
# Runs that end before their jobs do.
"$contend" run "$study/communication-1-srsf-1.yaml" "$study/communication-4-ada-srsf.yaml" --repeat 1 "${few[@]}" --until 15min -q -o cut ||
  [[ $? == 4 ]]
"$contend" report cut/srsf-1 -o cut.html
"$contend" report cut/srsf-1 cut/ada-srsf -o cuts.html
"$contend" sweep "$study/base.yaml" "${few[@]}" --set policies.scheduling=fifo,sjf --set engine.until=15min -q -o cut.sqlite ||
  [[ $? == 4 ]]
"$contend" report cut.sqlite -o cut-sweep.html
"$write_store" sweep.sqlite 8
"$contend" report sweep.sqlite --svg sweep-figures -o sweep.html
# Its last point has no run yet and the one before it has one of three.
"$write_store" begun.sqlite 4 67
"$contend" report begun.sqlite --by policies.placement.kappa --average policies.communication --svg begun-figures -o begun.html
# The sweep of the tutorial, with its ratios to a baseline; policies with parameters; ten thousand points drawn at random.
"$contend" sweep "$here/../../../scenarios/sweeps/network-need.yaml" -q -o need.sqlite
"$contend" results need.sqlite --metric avg_jct_s --csv need.csv
"$contend" report need.sqlite --svg need-figures -o need.html
"$contend" report need.sqlite --minimise avg_jct_s --maximise gpu_utilisation -o front.html
cat >"$data/methods.yaml" <<'YAML'
schema_version: 1
name: methods
network: {alpha: 20us, nic: 10Gbps}
training: {it: {model: resnet50, batch: 32}}
overlap: {training: it, workers: [4, 16], fusion: [bsp], compression: [none, top-k, {policy: top-k, gamma_ps: 499.671953}]}
YAML
"$contend" run methods.yaml -q -o methods
"$contend" report methods -o study.html
"$contend" sweep methods.yaml --set network.nic=0.1Gbps,1Gbps,10Gbps,25Gbps,100Gbps -q -o methods.sqlite
"$contend" report methods.sqlite --metric throughput_per_s --svg methods-figures -o methods.html
cat >"$data/many.yaml" <<'YAML'
schema_version: 1
name: many
cluster: {servers: 2, gpus_per_server: 2}
network: {nic: 10Gbps}
workload: {generate: {sizes: {1: 2, 4: 1}, iterations: [5, 20], arrivals: 2s}}
sweep:
  random: {points: 10000, seed: 1, keys: {network.nic: {from: 1Gbps, to: 100Gbps, scale: log}, policies.placement: [first-fit, lwf], network.alpha: {from: 0us, to: 50us}}}
YAML
"$contend" sweep many.yaml -q -o many.sqlite
"$contend" report many.sqlite --svg many-figures -o many.html
"$contend" run "$study/base.yaml" --repeat 1 -q -o large
"$contend" report large -o large.html
# Three iterations of ten: about a million spans.
"$contend" run "$study/base.yaml" --repeat 1 --set 'workload.generate.iterations=[215, 1290]' -q -o million
"$contend" report million -o million.html
exec node "$folder/report_test.mjs" "$browser" "$folder"
