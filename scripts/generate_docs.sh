#!/usr/bin/env bash
# Writes the reference pages and the JSON Schema, which the program prints itself:
#   docs/reference/scenario.md   docs/reference/results.md   docs/validation/systems.md
#   docs/schema/scenario.schema.json
#   scripts/generate_docs.sh            with build/release/contend
#   scripts/generate_docs.sh PROGRAM    with another build
#   scripts/generate_docs.sh --figures [PROGRAM]
#                                       the figures of the pages that runs of shipped scenarios draw, instead: a minute
#   scripts/generate_docs.sh --check [--figures] [PROGRAM]
#                                       writes nothing; exits 1 and shows the difference if a file is out of date. The
#                                       six figures that take longest are left out unless CONTEND_EFFORT is set
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

check=false figures=false
while (($# > 0)); do
  case "$1" in
    --check) check=true ;;
    --figures) figures=true ;;
    *) break ;;
  esac
  shift
done
program=${1:-$here/build/release/contend}
if (($# > 1)) || [[ $program == -* ]]; then
  echo "usage: ${0##*/} [--check] [--figures] [PROGRAM]" >&2
  exit 2
fi
if [[ ! -x $program ]]; then
  echo "${0##*/}: $program does not exist; build it first, or name another program" >&2
  exit 2
fi
program=$(realpath "$program")

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
stale=0
# compare FILE FRESH SOURCE: FRESH, which is what SOURCE prints or draws, becomes docs/FILE, whole or not at all.
compare() {
  local file=$here/docs/$1 fresh=$2
  if cmp -s "$fresh" "$file"; then return; fi
  if $check; then
    if [[ -f $file ]]; then diff -u --label "docs/$1" --label "$3" "$file" "$fresh" >&2 || true; fi
    if $figures; then set -- "$1" --figures; else set -- "$1"; fi
    echo "docs/$1 is out of date: run scripts/generate_docs.sh ${*:2}" >&2
    stale=1
  else
    mkdir -p "$(dirname "$file")"
    cp "$fresh" "$file"
    echo "docs/$1"
  fi
}
# page FILE ARGUMENTS...: docs/FILE is the output of `contend schema ARGUMENTS`.
page() {
  "$program" schema "${@:2}" >"$new/page"
  compare "$1" "$new/page" "contend schema ${*:2}"
}
# figure FILE DRAWN: docs/images/FILE is the file DRAWN below $new.
figure() { compare "images/$1" "$new/$2" "$2"; }
# is_quick: true where only quick figures are checked.
is_quick() { $check && [[ -z ${CONTEND_EFFORT-} ]]; }
# map MODEL: draws where each compression method pays, into $new/MODEL.
map() {
  "$program" sweep "$here/scenarios/sweeps/compression-map-$1.yaml" -q -o "$new/$1.sqlite"
  "$program" report "$new/$1.sqlite" --metric throughput_per_s --relative-to overlap.compression=none \
    --svg "$new/$1" >/dev/null
}

# study NAME FILE METRIC DRAWN: a figure of a study that takes seconds on several cores, as docs/images/NAME.svg.
study() {
  if is_quick; then return; fi
  "$program" sweep "$here/scenarios/$2" -q -o "$new/$1.sqlite"
  "$program" report "$new/$1.sqlite" --metric "$3" -o "$new/$1.html" --svg "$new/$1" >/dev/null
  figure "$1.svg" "$1/$4"
}

if $figures; then
  "$program" sweep "$here/scenarios/sweeps/network-need.yaml" -q -o "$new/need.sqlite"
  "$program" report "$new/need.sqlite" -o "$new/need.html" --svg "$new/need" >/dev/null
  figure network-need.svg need/sweep-lines.svg
  map resnet50
  figure compression-sign-sgd-resnet50.svg resnet50/ratio-map-sign-sgd.svg
  figure compression-top-k-resnet50.svg resnet50/ratio-map-top-k-gamma_ps-499.671953.svg
  if ! is_quick; then
    map bert-large
    figure compression-acp-sgd-bert-large.svg bert-large/ratio-map-acp-sgd-rank-32.svg
  fi
  study shared-fabric parallel/shared-fabric.yaml avg_jct_s sweep-ratio-lines.svg
  study routing-and-placement network/routing-and-placement.yaml avg_jct_s sweep-lines.svg
  study spares-16k failures/spares-16k.yaml effective_time sweep-lines.svg
  study lend-at-night serving/lend-at-night.yaml tpot_mean_s sweep-lines.svg
  "$program" run "$here/scenarios/overlap/diloco-1gbps.yaml" -q -o "$new/diloco"
  "$program" report "$new/diloco" -o "$new/diloco.html" --svg "$new/diloco-figures" >/dev/null
  figure local-steps.svg diloco-figures/iteration-2-workers.svg
  "$program" show "$here/scenarios/network/leaf-spine.yaml" --topology --svg "$new/leaf-spine.svg" >/dev/null
  figure leaf-spine.svg leaf-spine.svg
  # The command of docs/howto/tune.md.
  is_quick || "$program" tune "$here/scenarios/ada-srsf/base.yaml" --minimise avg_jct_s --minimise max_jct_s --trials 20 --repeat 5 \
    --set policies.scheduling=fifo,sjf,srsf,easy --set 'policies.placement.kappa={from: 1, to: 8, step: 1}' \
    --set 'workload.generate.iterations=[100, 600]' --set workload.generate.arrivals=120s \
    -q -o "$new/front.sqlite" --svg "$new/tune-front.svg"
  is_quick || figure tune-front.svg tune-front.svg
  # The command of docs/howto/python.md, where Python draws it.
  "$program" tune "$here/scenarios/ada-srsf/base.yaml" --minimise avg_jct_s --minimise max_jct_s --trials 8 --repeat 2 \
    --set 'workload.generate.iterations=[100, 600]' --set workload.generate.arrivals=120s \
    --set policies.scheduling=fifo,sjf,srsf --set policies.placement.kappa=1,2,4,8 \
    -q -o "$new/python.sqlite" --svg "$new/python-front.svg"
  figure python-front.svg python-front.svg
  "$program" run "$here/docs/images/timeline.yaml" -q -o "$new/out" --timeline "$new/out/timeline.json"
  "$here/scripts/plot_timeline.py" "$new/out/timeline.json" "$new/timeline.svg" --jobs "$new/out/jobs.csv" --to 2
  figure timeline.svg timeline.svg
else
  page reference/scenario.md --markdown
  page reference/results.md --columns
  page validation/systems.md --systems
  page schema/scenario.schema.json
fi
exit $stale
