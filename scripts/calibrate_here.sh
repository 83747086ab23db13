#!/usr/bin/env bash
# Calibrates the GPU of this machine: builds with CUDA, tests the kernels, calibrates, goes through the plan of
# scripts/calibration_plan.py, and measures training steps in PyTorch. A call ends within PIECE seconds (590), because
# machines are often lent for ten minutes a command; the same call again goes on where it ended, until it says that all
# is done. Each step has its own time limit, so a step that fails leaves the results of the others. All results are in
# OUT, and in OUT.tar.gz beside it.
#   scripts/calibrate_here.sh OUT [STEP...]   all steps, or some of: build test quick plan full repeat steps
#   scripts/calibrate_here.sh --pack FOLDER   on any machine with nvcc: builds, and puts the programs and the libraries
#                                             they need (but not CUDA's) into FOLDER, for a machine that cannot build
#   PROGRAMS=FOLDER scripts/calibrate_here.sh OUT [STEP...]   with the programs of such a folder
#   ARCH=90 PIECE=590 BUDGET=560 BACKEND=cuda                 one architecture instead of those of this machine's GPUs
#                                             (with --pack: of all); seconds of a call, and of a full calibration;
#                                             BACKEND=cpu goes through the steps without a GPU, to see how they go; it
#                                             builds nothing, so it needs PROGRAMS; QUICK_BUDGET is the budget of quick
#                                             calibrations
# Building needs the packages of a release build; `steps` needs PyTorch. Device settings are not changed. Exit code 0:
# all is done; 4: call it again; 1: a step failed; 2: the call is wrong, or its PIECE is too short for a step; 5: there
# is no GPU.
set -euo pipefail

show_help() { sed -n '2,18s/^# \?//p' "${BASH_SOURCE[0]}"; }
usage() { show_help >&2; exit 2; }
# refuse WORD...: ends a wrong call with what is wrong and what would be right.
refuse() { echo "calibrate_here: $*" >&2; exit 2; }

if [[ ${1-} == --help || ${1-} == -h ]]; then
  show_help
  exit 0
fi
if (($# < 1)) || [[ $1 == -* && $1 != --pack ]]; then usage; fi
pack=false
if [[ $1 == --pack ]]; then
  pack=true
  shift
  if (($# != 1)); then usage; fi
fi

piece=${PIECE:-590} budget=${BUDGET:-560} quick_budget=${QUICK_BUDGET:-50} backend=${BACKEND:-cuda}
if [[ $backend != cuda && $backend != cpu ]]; then refuse "BACKEND=$backend: expected cuda or cpu"; fi
for setting in "PIECE=$piece" "BUDGET=$budget" "QUICK_BUDGET=$quick_budget"; do
  if [[ ! ${setting#*=} =~ ^[1-9][0-9]{0,5}$ ]]; then
    refuse "$setting: expected a whole number of seconds above 0, such as 590"
  fi
done
known=(build test quick plan full repeat steps)
if [[ $backend == cpu ]]; then known=(quick plan full repeat); fi
wanted=("${@:2}")
if ((${#wanted[@]} == 0)); then wanted=("${known[@]}"); fi
for step in "${wanted[@]}"; do
  if [[ " ${known[*]} " != *" $step "* ]]; then
    refuse "there is no step $step with BACKEND=$backend; there are ${known[*]}"
  fi
done
if [[ -n ${PROGRAMS-} ]]; then
  if [[ ! -d $PROGRAMS ]]; then refuse "PROGRAMS=$PROGRAMS: there is no such folder"; fi
  PROGRAMS=$(cd "$PROGRAMS" && pwd)
fi
out=$(realpath -m "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tree=build/gpu

# configure_and_build [cmake arguments]
configure_and_build() {
  local arguments=("$@")
  if command -v ninja >/dev/null; then arguments+=(-G Ninja); fi
  if command -v ccache >/dev/null; then
    arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  fi
  # As in the preset `release`: files of a folder compile together, in a third of the time.
  cmake -S . -B $tree "${arguments[@]}" -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCONTEND_PRECOMPILE=ON \
    -DCONTEND_CUDA=ON &&
    cmake --build $tree -j "$(nproc)" --target contend test_gpu
}

if $pack; then
  mkdir -p "$out"
  # Libraries are looked for beside the program.
  configure_and_build "-DCMAKE_BUILD_RPATH=\$ORIGIN" ${ARCH:+-DCMAKE_CUDA_ARCHITECTURES=$ARCH-real}
  cp $tree/contend $tree/libcontend_cuda.so $tree/tests/test_gpu "$out"
  strip "$out"/contend "$out"/libcontend_cuda.so "$out"/test_gpu
  # Libraries of every Linux, and those that the device's machine must have, are left out.
  (cd $tree && ldd contend tests/test_gpu) | awk '/=> \//{print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libcu[a-zA-Z]*|libnccl|libnv[a-zA-Z]*)\.so' | xargs -r cp -Lt "$out"
  du -sh "$out"
  exit
fi

programs=${PROGRAMS:-$tree}
test_program=$programs/test_gpu
if [[ -z ${PROGRAMS-} ]]; then test_program=$tree/tests/test_gpu; fi

# The most seconds of each step, and the least that a call must have for it. Some steps can end early and go on in the
# next call; they take what is left of this one, if that is a minute. The plan goes on line by line, so its longest line
# must fit: the training steps on a GPU, else a quick calibration.
quick_most=$((quick_budget + 70))
declare -A most=([build]=$((piece - 10)) [test]=300 [quick]=$quick_most [plan]=500 [full]=$((budget + 25))
                 [repeat]=$quick_most [steps]=500)
declare -A least=([build]=60 [test]=300 [quick]=$quick_most [plan]=500 [full]=60 [repeat]=$quick_most [steps]=500)
if [[ $backend == cpu ]]; then least[plan]=$((quick_most + 20)); fi
before_steps=20  # the most seconds of a call before its first step

# to_do STEP: whether a step is wanted and not done yet.
to_do() { [[ " ${wanted[*]} " == *" $1 "* && ! -e $out/$1.done ]]; }

# check_piece: a step that fits into no call would be left for ever.
check_piece() {
  local step needed=0 short=()
  for step in "${known[@]}"; do
    if to_do "$step" && ((piece < least[$step] + before_steps)); then
      short+=("$step")
      if ((least[$step] + before_steps > needed)); then needed=$((least[$step] + before_steps)); fi
    fi
  done
  if ((${#short[@]} > 0)); then
    refuse "PIECE=$piece is too short for ${short[*]}: it must be at least $needed seconds, or name other steps"
  fi
}

# check_program STEP: what a step runs must be there, unless the step build makes it.
check_program() {
  local program=$programs/contend
  if [[ $1 == test ]]; then program=$test_program; fi
  if ! to_do "$1" || [[ -x $program ]]; then return; fi
  if [[ -n ${PROGRAMS-} ]]; then
    refuse "PROGRAMS=$PROGRAMS: there is no program ${program##*/} in this folder, which the step $1 needs"
  fi
  if [[ $backend == cpu ]]; then
    refuse "there is no $program, and nothing is built with BACKEND=cpu: set PROGRAMS to the folder of contend," \
           "such as PROGRAMS=build/release"
  fi
  refuse "there is no $program, which the step $1 needs: name the step build, too, and delete $out/build.done if it" \
         "is there, or set PROGRAMS to the folder of contend"
}

check_piece
if [[ $backend == cpu || -n ${PROGRAMS-} ]] || ! to_do build; then
  for step in test quick plan full repeat; do check_program "$step"; done
fi
mkdir -p "$out"

devices=
if [[ $backend == cuda ]]; then
  if ! devices=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>&1); then
    echo "calibrate_here: nvidia-smi finds no device: $devices" >&2
    exit 5
  fi
  nvidia-smi >"$out/nvidia-smi.txt"
fi

# The library path of our programs: packed libraries, then CUDA's libraries from PyTorch's Python packages, if present,
# so that calibration and steps measure the same ones, then the toolkit's. It is not set for PyTorch itself, which would
# load the toolkit's libraries instead of its own.
cuda=$(python3 - 2>/dev/null <<'END' || true
import glob, site, sys
folders = site.getsitepackages() + sys.path
print(":".join(dict.fromkeys(each for f in folders if f for each in sorted(glob.glob(f + "/nvidia/*/lib")))))
END
)
paths=${PROGRAMS:+$PROGRAMS:}${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${cuda:+$cuda:}/usr/local/cuda/lib64
ours=(env "LD_LIBRARY_PATH=$paths")

failed=() left=()
# run_step NAME COMMAND...: runs a step that is not done yet, if it fits into the rest of this call.
run_step() {
  local name=$1 limit=${most[$1]} begin=$SECONDS code=0 verdict=ok goes_on=false
  shift
  if ! to_do "$name"; then return; fi
  if [[ " build plan full " == *" $name "* ]]; then goes_on=true; fi
  if ((SECONDS + limit > piece)); then
    limit=$((piece - SECONDS))
    if ! $goes_on || ((limit < 60)); then
      left+=("$name")
      return
    fi
  fi
  timeout --foreground --signal=INT --kill-after=20 "$limit" "$@" >>"$out/$name.log" 2>&1 || code=$?
  if $goes_on && ((code == 4 || code == 124)); then
    left+=("$name")
    verdict="goes on in the next call"
  elif ((code != 0)); then
    failed+=("$name")
    verdict="failed ($code)"
    tail -n 40 "$out/$name.log"
  else
    touch "$out/$name.done"
  fi
  printf '%-8s %5d s  %s\n' "$name" $((SECONDS - begin)) "$verdict"
}

# plan: the plan ends by itself within what is left of this call, so that no line is killed without a word.
plan() {
  local limit=${most[plan]}
  if ((SECONDS + limit > piece)); then limit=$((piece - SECONDS)); fi
  run_step plan "${ours[@]}" python3 scripts/calibration_plan.py "$out/plan" --contend "$programs/contend" \
    --backend "$backend" --seconds $((limit - 20)) ${QUICK_BUDGET:+--budget "$QUICK_BUDGET"}
}

# calibrate NAME MODE [BUDGET]: calibrates, continuing a profile that exists already.
calibrate() {
  local arguments=(-o "$out/$1.yaml" "$2" --backend "$backend")
  if [[ -n ${3-} ]]; then arguments+=(--budget "$3"); fi
  if [[ -e $out/$1.yaml ]]; then arguments+=(--resume); fi
  run_step "$1" "${ours[@]}" "$programs/contend" calibrate "${arguments[@]}"
}

if [[ $backend == cuda && -z ${PROGRAMS-} ]] && to_do build; then
  # Building for the devices of this machine alone takes a third of the time of a build for all.
  architectures=${ARCH:+$ARCH-real}
  architectures=${architectures:-$(tr -d . <<<"$devices" | sort -u | sed 's/$/-real/' | paste -sd ';')}
  export -f configure_and_build
  run_step build env tree=$tree bash -c "configure_and_build '-DCMAKE_CUDA_ARCHITECTURES=$architectures'"
fi
if [[ $backend == cuda ]]; then run_step test "${ours[@]}" "$test_program"; fi
calibrate quick --quick "${QUICK_BUDGET-}"
plan
calibrate full --full "$budget"
calibrate repeat --quick "${QUICK_BUDGET-}"
if [[ $backend == cuda ]]; then run_step steps python3 scripts/measure_training_steps.py -o "$out/steps.json"; fi
tar -czf "$out.tar.gz" -C "$(dirname "$out")" "$(basename "$out")"
echo "results: $out.tar.gz"
if ((${#failed[@]} > 0)); then
  echo "failed: ${failed[*]}; logs are in $out" >&2
  exit 1
fi
if ((${#left[@]} > 0)); then
  echo "left: ${left[*]}; call it again" >&2
  exit 4
fi
