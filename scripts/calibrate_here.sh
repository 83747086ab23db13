#!/usr/bin/env bash
# Calibrates the GPU of this machine: builds with CUDA, tests the kernels, calibrates, and measures training steps in
# PyTorch. Each step has its own time limit, so a step that fails leaves the results of the others.
#   scripts/calibrate_here.sh OUT [STEP...]   all steps, or some of: build test quick full repeat steps; results in OUT
#   scripts/calibrate_here.sh --pack FOLDER   on any machine with nvcc: builds, and puts the programs and the libraries
#                                             they need (but not CUDA's) into FOLDER, for a machine that cannot build
#   PROGRAMS=FOLDER scripts/calibrate_here.sh OUT [STEP...]   with the programs of such a folder
# Building needs the packages of a release build; `steps` needs PyTorch. Device settings are not changed.
set -euo pipefail

usage() { sed -n '2,8s/^# \?//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
if (($# < 1)) || [[ $1 == -* && $1 != --pack ]]; then usage; fi
pack=false
if [[ $1 == --pack ]]; then
  pack=true
  shift
  if (($# != 1)); then usage; fi
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
if [[ -n ${PROGRAMS-} ]]; then PROGRAMS=$(cd "$PROGRAMS" && pwd); fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tree=build/gpu

# configure_and_build [cmake arguments]
configure_and_build() {
  local arguments=("$@")
  if command -v ninja >/dev/null; then arguments+=(-G Ninja); fi
  if command -v ccache >/dev/null; then
    arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  fi
  cmake -S . -B $tree "${arguments[@]}" -DCMAKE_BUILD_TYPE=Release -DCONTEND_CUDA=ON &&
    cmake --build $tree -j "$(nproc)" --target contend test_gpu
}

if $pack; then
  configure_and_build "-DCMAKE_BUILD_RPATH=\$ORIGIN"  # libraries are looked for beside the program
  cp $tree/contend $tree/libcontend_cuda.so $tree/tests/test_gpu "$out"
  strip "$out"/contend "$out"/libcontend_cuda.so "$out"/test_gpu
  # Libraries of every Linux, and those that the device's machine must have, are left out.
  ldd "$out"/contend "$out"/test_gpu | awk '/=> \//{print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libcu[a-zA-Z]*|libnccl|libnv[a-zA-Z]*)\.so' | xargs -r cp -Lt "$out"
  du -sh "$out"
  exit
fi

known=(build test quick full repeat steps)
wanted=("$@")
if ((${#wanted[@]} == 0)); then wanted=("${known[@]}"); fi
for step in "${wanted[@]}"; do
  if [[ " ${known[*]} " != *" $step "* ]]; then usage; fi
done

if ! devices=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>&1); then
  echo "calibrate_here: nvidia-smi finds no device: $devices" >&2
  exit 5
fi
nvidia-smi >"$out/nvidia-smi.txt"

programs=${PROGRAMS:-$tree}
test_program=$programs/test_gpu
if [[ -z ${PROGRAMS-} ]]; then test_program=$tree/tests/test_gpu; fi
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

failed=()
# run_step NAME SECONDS COMMAND...: runs a step; an interrupted calibration keeps its measurements.
run_step() {
  local name=$1 limit=$2 begin=$SECONDS verdict=ok
  shift 2
  if [[ " ${wanted[*]} " != *" $name "* ]]; then return; fi
  timeout --foreground --signal=INT --kill-after=20 "$limit" "$@" >"$out/$name.log" 2>&1 || verdict="failed ($?)"
  if [[ $verdict != ok ]]; then
    failed+=("$name")
    tail -n 40 "$out/$name.log"
  fi
  printf '%-8s %5d s  %s\n' "$name" $((SECONDS - begin)) "$verdict"
}

# calibrate NAME SECONDS MODE: calibrates, continuing a profile that exists already.
calibrate() {
  local arguments=(-o "$out/$1.yaml" "$3")
  if [[ -e $out/$1.yaml ]]; then arguments+=(--resume); fi
  run_step "$1" "$2" "${ours[@]}" "$programs/contend" calibrate "${arguments[@]}"
}

if [[ -z ${PROGRAMS-} && " ${wanted[*]} " == *" build "* ]]; then
  # Building for the devices of this machine alone takes a third of the time of a build for all.
  architectures=$(tr -d . <<<"$devices" | sort -u | sed 's/$/-real/' | paste -sd ';')
  begin=$SECONDS
  if ! configure_and_build "-DCMAKE_CUDA_ARCHITECTURES=$architectures" >"$out/build.log" 2>&1; then
    tail -n 40 "$out/build.log"
    exit 1
  fi
  printf '%-8s %5d s  ok\n' build $((SECONDS - begin))
fi
run_step test 300 "${ours[@]}" "$test_program"
calibrate quick 120 --quick
calibrate full 660 --full
calibrate repeat 120 --quick
run_step steps 500 python3 scripts/measure_training_steps.py -o "$out/steps.json"
if ((${#failed[@]} > 0)); then
  echo "failed: ${failed[*]}; logs are in $out" >&2
  exit 1
fi
