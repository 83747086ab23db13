#!/usr/bin/env bash
# The stages that scripts/test.sh and scripts/weekly.sh are made of. Sourced from the root of the repository.

# A gate of CI compiles everything, for which precompiled headers are of more use than a cache.
if command -v ccache >/dev/null && [[ ${CI-} != true ]]; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
fi
jobs=$(nproc)
failed=()
mkdir -p build/log
durations=build/log/durations.txt
: >"$durations"

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
  printf '%-32s %5d s  %s\n' "$name" $((SECONDS - begin)) "$verdict" | tee -a "$durations"
}

# configure PRESET [cmake arguments]
configure() {
  local options=(-DCONTEND_WERROR=ON)
  if [[ -v CMAKE_CXX_COMPILER_LAUNCHER ]]; then options+=(-DCONTEND_PRECOMPILE=OFF); fi  # a cache serves whole units
  cmake --preset "$1" "${options[@]}" "${@:2}"
}

# build PRESET [cmake arguments]
build() {
  configure "$@" && cmake --build --preset "$1" -j "$jobs"
}

# build_test_programs PRESET [cmake arguments]: without the program and what only it links.
build_test_programs() {
  configure "$@" && cmake --build --preset "$1" -j "$jobs" --target test_programs
}

# build_all PRESET [cmake arguments]: with the measurements too, which no test needs.
build_all() {
  build "$@" && cmake --build --preset "$1" -j "$jobs" --target benches
}

# run_tests PRESET [ctest arguments]; the slowest ten are in build/log/slowest-PRESET.txt. It runs one test more than there
# are cores, because some tests wait most of their time, such as those of Slurm.
run_tests() {
  local log=build/log/ctest-$1.log status=0
  ctest --test-dir "build/$1" -j $((jobs + 1)) --no-tests=error --output-on-failure "${@:2}" 2>&1 | tee "$log" || status=$?
  sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec$/\2 s  \1/p' "$log" | sort -rn | head -n 10 \
    >"build/log/slowest-$1.txt"
  return "$status"
}

weekly_record=scripts/weekly.passed  # lines: a commit, and a stage of scripts/weekly.sh that passed on it last

# record_passed STAGE COMMIT: the stage of scripts/weekly.sh has passed on that commit.
record_passed() {
  local others
  others=$(grep -v " $1\$" "$weekly_record" 2>/dev/null) || true
  printf '%s\n' ${others:+"$others"} "$2 $1" >"$weekly_record"
}

# changed_since_weekly STAGE REGEX: the files whose path matches and that differ from the commit on which that stage of
# scripts/weekly.sh passed last; all such files if it never did.
changed_since_weekly() {
  local base
  base=$(sed -n "s/ $1\$//p" "$weekly_record" 2>/dev/null) || base=""
  if [[ -n $base ]] && git cat-file -e "$base^{commit}" 2>/dev/null; then
    { git diff --name-only "$base"; git ls-files --others --exclude-standard; } | grep -E "$2" || true
  else
    { git ls-files 2>/dev/null || find . -type f -printf '%P\n'; } | grep -E "$2" || true
  fi
}

# tidy PRESET all|changed: what that preset compiles of the rooms, without tests. `changed`: the units that contain a
# file that has changed since the weekly run looked at everything, and of a header one that includes it.
tidy() {
  if ! command -v clang-tidy-14 >/dev/null; then
    echo "skipped: clang-tidy-14 is not here"
    return
  fi
  local preset=$1 which=$2 units
  units=$(sed -nE 's/^ *"file": "(.*)",?$/\1/p' "build/$preset/compile_commands.json" |
    grep -vE "^$PWD/(build/$preset/)?tests/" || true)
  if [[ $which == changed ]]; then
    local changed
    changed=$(changed_since_weekly "clang-tidy on everything" '\.(cpp|hpp|h)$|^\.clang-tidy$')
    if ! grep -qxF .clang-tidy <<<"$changed"; then
      units=$(scripts/dependants.py "build/$preset" <<<"$changed" | grep -Fxf <(printf '%s\n' "$units") || true)
    fi
  fi
  if [[ -z $units ]]; then
    echo "nothing has changed since the last weekly run"
    return
  fi
  xargs -r -P "$jobs" -n 1 clang-tidy-14 -p "build/$preset" --quiet <<<"$units"
}

# fuzz SECONDS: the targets fuzz_NAME, one for each committed corpus tests/fuzz/corpus/NAME, side by side, for so many
# processor seconds together. New inputs and crashes stay in build/checked/found.
fuzz() {
  local corpora=(tests/fuzz/corpus/*/)
  if [[ ! -d ${corpora[0]} ]]; then
    echo "no corpus in tests/fuzz/corpus"
    return 1
  fi
  # shellcheck disable=SC2016  # the inner shell expands
  printf '%s\n' "${corpora[@]}" | seconds_each=$(($1 / ${#corpora[@]})) xargs -P "$jobs" -n 1 bash -c '
    set -e
    name=$(basename "$1")
    target=build/checked/tests/fuzz/fuzz_$name
    mkdir -p "build/checked/found/$name"
    "$target" -max_total_time="$seconds_each" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="build/checked/found/crash-$name-" "build/checked/found/$name" "$1" 2>&1 |
      { grep -vE "^#[0-9]+\s+(NEW|REDUCE|pulse|RELOAD)" || true; }' _
}

# finish_with_tests PRESET [ctest arguments]: the tests of this preset as the last stage, whose output is shown. Fails if
# any stage failed.
finish_with_tests() {
  local begin=$SECONDS status=0
  printf '%-32s %5d s\n' "all before the $1 tests" "$SECONDS" | tee -a "$durations"
  if ((${#failed[@]} > 0)); then
    echo "FAILED: $(printf '%s, ' "${failed[@]}" | sed 's/, $//'); the $1 tests follow all the same"
  fi
  run_tests "$@" || status=$?
  printf '%-32s %5d s\n%-32s %5d s\n' "$1 tests" $((SECONDS - begin)) "all" "$SECONDS" >>"$durations"
  ((status == 0 && ${#failed[@]} == 0))
}
