#!/usr/bin/env bash
# Everything that must hold before a change goes in. Each stage is timed; the output of a stage is shown only if it
# fails and is kept in build/log/. The release tests run last, so that their summary ends the output.
#   scripts/test.sh          all stages
#   scripts/test.sh --quick  the release build and its tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

quick=false
case "${1-}" in
  "") ;;
  --quick) quick=true ;;
  *) echo "usage: ${0##*/} [--quick]" >&2; exit 2 ;;
esac

if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache; fi
jobs=$(nproc)
fuzz_seconds=${FUZZ_SECONDS:-60}
failed=()
mkdir -p build/log

# stage NAME COMMAND...: runs it; a failure is remembered and the other stages go on.
stage() {
  local name=$1 log=build/log/${1// /-}.log begin=$SECONDS verdict=ok
  shift
  "$@" >"$log" 2>&1 || verdict=FAILED
  if [[ $verdict == FAILED ]]; then
    failed+=("$name")
    tail -n 200 "$log"
  elif [[ $(tail -n 1 "$log") == skipped:* ]]; then
    verdict=$(tail -n 1 "$log")
  fi
  printf '%-32s %5d s  %s\n' "$name" $((SECONDS - begin)) "$verdict"
}

# build PRESET [cmake arguments]
build() {
  cmake --preset "$@" && cmake --build --preset "$1" -j "$jobs"
}

run_ctest() {
  ctest --test-dir "build/$1" -j "$jobs" --no-tests=error --output-on-failure
}

tidy() {
  if ! command -v clang-tidy-14 >/dev/null; then
    echo "skipped: clang-tidy-14 is not here"
    return
  fi
  # What the checked build compiles, without the tests.
  sed -nE 's/^ *"file": "(.*)",?$/\1/p' build/checked/compile_commands.json | grep -vE "^$PWD/(build/checked/)?tests/" |
    xargs -r -P "$jobs" -n 1 clang-tidy-14 -p build/checked --quiet
}

# A minute in all over the targets fuzz_NAME, one for each committed corpus tests/fuzz/corpus/NAME. New inputs and
# crashes stay in build/checked/found.
fuzz() {
  local corpus name target
  local corpora=(tests/fuzz/corpus/*/)
  if [[ ! -d ${corpora[0]} ]]; then
    echo "no corpus in tests/fuzz/corpus"
    return 1
  fi
  for corpus in "${corpora[@]}"; do
    name=$(basename "$corpus")
    target=$(find build/checked -name "fuzz_$name" -type f -perm -u+x)
    mkdir -p "build/checked/found/$name"
    "$target" -max_total_time=$((fuzz_seconds / ${#corpora[@]})) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="build/checked/found/crash-$name-" "build/checked/found/$name" "$corpus" || return
  done
}

stage "install" scripts/install_deps.sh
# Where there is nvcc, the oldest generation of devices and the newest with code of its own; a user's build has more.
stage "release build" build release -DCONTEND_WERROR=ON "-DCMAKE_CUDA_ARCHITECTURES=75-real;90-real"
if ! $quick; then
  stage "lint" scripts/lint.sh
  # One build with clang serves the sanitizers, clang-tidy, the fuzzer, and as the second flavour of determinism.
  stage "checked build" build checked -DCONTEND_WERROR=ON
  stage "clang-tidy" tidy
  stage "checked tests" run_ctest checked
  stage "determinism" scripts/check_determinism.sh
  stage "fuzz" fuzz
fi
printf '%-32s %5d s\n' "all before the release tests" "$SECONDS"

if ((${#failed[@]} > 0)); then
  echo "FAILED: $(printf '%s, ' "${failed[@]}" | sed 's/, $//'); the release tests follow all the same"
fi
run_ctest release || exit 1
((${#failed[@]} == 0))
