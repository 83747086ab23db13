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

if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
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
  find sim network models policies traces scenarios validate cli -name '*.cpp' -print0 |
    xargs -0 -r -P "$jobs" -n 2 clang-tidy-14 -p build/clang --quiet
}

# A minute in all over the targets fuzz_NAME, one for each committed corpus tests/fuzz/corpus/NAME. New inputs and
# crashes stay in build/fuzz/found.
fuzz() {
  if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++-14 -fsanitize=fuzzer -x c++ - -o build/log/fuzz_probe; then
    echo "skipped: clang++-14 with libFuzzer is not here"
    return
  fi
  local corpus name target
  local corpora=(tests/fuzz/corpus/*/)
  if [[ ! -d ${corpora[0]} ]]; then
    echo "no corpus in tests/fuzz/corpus"
    return 1
  fi
  cmake --preset fuzz || return
  for corpus in "${corpora[@]}"; do
    name=$(basename "$corpus")
    cmake --build --preset fuzz -j "$jobs" --target "fuzz_$name" || return
    target=$(find build/fuzz -name "fuzz_$name" -type f -perm -u+x)
    mkdir -p "build/fuzz/found/$name"
    "$target" -max_total_time=$((fuzz_seconds / ${#corpora[@]})) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/found/crash-$name-" "build/fuzz/found/$name" "$corpus" || return
  done
}

stage "install" scripts/install_deps.sh
stage "release build" build release -DCONTEND_WERROR=ON
if ! $quick; then
  stage "lint" scripts/lint.sh
  stage "clang build" build clang -DCONTEND_WERROR=ON
  stage "clang-tidy" tidy
  stage "asan build" build asan
  stage "asan tests" run_ctest asan
  stage "determinism" scripts/check_determinism.sh
  stage "fuzz" fuzz
fi
printf '%-32s %5d s\n' "all before the release tests" "$SECONDS"

if ((${#failed[@]} > 0)); then
  echo "FAILED: $(printf '%s, ' "${failed[@]}" | sed 's/, $//'); the release tests follow all the same"
fi
run_ctest release || exit 1
((${#failed[@]} == 0))
