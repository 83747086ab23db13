#!/usr/bin/env bash
# The stages that scripts/test.sh and scripts/weekly.sh are made of. Sourced from the root of the repository.
#
# A stage passes if its command ends with 0, no command inside of it fails unseen, and its last line says how much it
# did: `did: 250 tests`. A stage that did nothing has failed. A stage may end with a line `skipped: REASON` instead.
# tests/scripts/stages_test.py plants a crash, a failing test, a broken build and an empty run in them.
set -euo pipefail
shopt -s inherit_errexit  # a command that fails inside of $(...) ends it

# A gate of CI compiles everything, for which precompiled headers are of more use than a cache.
if command -v ccache >/dev/null && [[ ${CI-} != true ]]; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
fi
jobs=$(nproc)
failed=() passed=()
mkdir -p build/log
durations=build/log/durations.txt
: >"$durations"

# did NUMBER WHAT...: the line with which a stage says how much it did.
did() {
  printf 'did: %d %s\n' "$1" "${*:2}"
}

# run_apart LOG COMMAND...: runs a command in a shell of its own, with its output in LOG, and leaves its exit status in
# $status. Bash ignores errexit, for good, in whatever is called from a condition or in front of `||`: there only the
# last command of a function would count.
run_apart() {
  local log=$1
  shift
  set +e
  (
    set -e
    false
    true
  )
  status=$?
  if ((status == 0)); then
    echo "stages: a stage is called in a condition or in front of ||, where errexit does not count" >&2
    exit 2
  fi
  (
    set -e
    "$@"
  ) >"$log" 2>&1
  status=$?
  set -e
}

# log_of NAME: the file with the output of a stage.
log_of() {
  echo "build/log/${1// /-}.log"
}

# fail_stage NAME REASON: remembers that a stage has failed, and shows the end of its output.
fail_stage() {
  failed+=("$1")
  verdict="FAILED: $2"
  tail -n 200 "$(log_of "$1")"
}

# stage NAME NEEDED COMMAND...: runs a stage; a failure is remembered and the other stages go on. NEEDED is a stage
# without which this one means nothing, or an empty text; unless it has passed, this stage fails and isn't run.
stage() {
  local name=$1 needed=$2 log begin=$SECONDS verdict=ok status=0 last
  log=$(log_of "$name")
  if [[ -n $needed ]] && ! was_passed "$needed"; then
    echo "needs the stage '$needed', which has not passed" >"$log"
    fail_stage "$name" "needs $needed"
  else
    run_apart "$log" "${@:3}"
    last=$(tail -n 1 "$log")
    if ((status != 0)); then
      fail_stage "$name" "exit status $status"
    elif [[ $last == skipped:* ]]; then
      verdict=$last
    elif [[ $last =~ ^did:\ ([1-9][0-9]*)\ .+$ ]]; then
      passed+=("$name")
      verdict="ok, ${last#did: }"
    else
      fail_stage "$name" "it does not say that it did anything"
    fi
  fi
  printf '%-32s %5d s  %s\n' "$name" $((SECONDS - begin)) "$verdict" | tee -a "$durations"
}

# was_passed NAME: whether this stage has passed in this run.
was_passed() {
  local each
  for each in "${passed[@]}"; do
    if [[ $each == "$1" ]]; then return 0; fi
  done
  return 1
}

# counted REGEX WHAT COMMAND...: runs a command that says itself how much it did, in a line that matches REGEX, whose first
# group is the number.
counted() {
  local log=build/log/counted.txt
  "${@:3}" 2>&1 | tee "$log"
  did "$(sed -nE "s/$1/\\1/p" "$log")" "$2"
}

# lines_matching REGEX [FILE...]: `grep -E`, but that no line matches is no failure, and anything else that goes wrong is.
lines_matching() {
  grep -E -e "$@" || (($? == 1))
}

install_packages() {
  scripts/install_deps.sh
  did "$(scripts/install_deps.sh --list | wc -l)" packages
}

# configure PRESET [cmake arguments]
configure() {
  local options=(-DCONTEND_WERROR=ON)
  if [[ -v CMAKE_CXX_COMPILER_LAUNCHER ]]; then options+=(-DCONTEND_PRECOMPILE=OFF); fi  # a cache serves whole units
  cmake --preset "$1" "${options[@]}" "${@:2}"
}

# count_files FOLDER [find arguments]: how many files that match are below a folder.
count_files() {
  find "$1" -type f "${@:2}" -printf x | wc -c
}

# build_targets "TARGET..." PRESET [cmake arguments]: configures, builds these targets, or with an empty text all, and
# says how many object files the folder has.
build_targets() {
  local preset=$2 words=()
  if [[ -n $1 ]]; then read -ra words <<<"--target $1"; fi
  configure "${@:2}"
  cmake --build --preset "$preset" -j "$jobs" "${words[@]}"
  did "$(count_files "build/$preset" -name '*.o')" "object files up to date"
}

# run_tests PRESET [ctest arguments]; the slowest ten are in build/log/slowest-PRESET.txt. It runs one test more than there
# are cores, because some tests wait most of their time, such as the tests of Slurm.
run_tests() {
  local log=build/log/ctest-$1.log status=0 ran skipped
  ctest --test-dir "build/$1" -j $((jobs + 1)) --no-tests=error --output-on-failure "${@:2}" 2>&1 | tee "$log" || status=$?
  sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec$/\2 s  \1/p' "$log" | sort -rn |
    sed -n 1,10p >"build/log/slowest-$1.txt"
  if ((status != 0)); then return "$status"; fi
  ran=$(lines_matching '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed +[0-9.]+ sec$' "$log" | wc -l)
  skipped=$(lines_matching '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*\*\*\*Skipped +[0-9.]+ sec$' "$log" | wc -l)
  if ((ran == 0 && skipped > 0)); then
    echo "skipped: each of the $skipped tests lacks something here"
  else
    did "$ran" "tests, and $skipped skipped"
  fi
}

# tidy PRESET all|changed: what that preset compiles of the rooms, without tests. `changed`: the units that contain a
# file that has changed since the weekly run looked at everything, and of a header one that includes it.
tidy() {
  if ! command -v clang-tidy-14 >/dev/null; then
    echo "skipped: clang-tidy-14 is not here"
    return
  fi
  local preset=$1 which=$2 units changed
  units=$(sed -nE 's/^ *"file": "(.*)",?$/\1/p' "build/$preset/compile_commands.json" |
    { grep -vE "^$PWD/(build/$preset/)?tests/" || (($? == 1)); })
  if [[ -z $units ]]; then
    echo "build/$preset/compile_commands.json names no unit of a room"
    return 1
  fi
  if [[ $which == changed ]]; then
    changed=$(changed_since_weekly "clang-tidy on everything" '\.(cpp|hpp|h)$|^\.clang-tidy$')
    if ! grep -qxF .clang-tidy <<<"$changed"; then
      changed=$(scripts/dependants.py "build/$preset" <<<"$changed")
      units=$(grep -Fxf <(printf '%s\n' "$units") <<<"$changed" || (($? == 1)))
    fi
    if [[ -z $units ]]; then
      echo "skipped: nothing has changed since the last weekly run"
      return
    fi
  fi
  xargs -r -P "$jobs" -n 1 clang-tidy-14 -p "build/$preset" --quiet <<<"$units"
  did "$(wc -l <<<"$units")" units
}

# fuzz_one SECONDS CORPUS: searches with the target of a corpus, tests/fuzz/corpus/ROOM/TARGET. Its output is in
# build/log/fuzz-TARGET.log; new inputs and crashes stay in build/checked/found.
fuzz_one() {
  local seconds=$1 corpus=$2 target room log found status=0 tried given dictionary options=()
  target=$(basename "$corpus") room=$(basename "$(dirname "$corpus")")
  log=$PWD/build/log/fuzz-$target.log found=$PWD/build/checked/found/$target dictionary=$PWD/$corpus.dict
  mkdir -p "$found"
  if [[ -f $dictionary ]]; then options=("-dict=$dictionary"); fi
  CONTEND_FUZZ_TARGET=$target "build/checked/tests/fuzz/fuzz_$room" "${options[@]}" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$PWD/build/checked/found/crash-$target-" \
    "$found" "$PWD/$corpus" >"$log" 2>&1 || status=$?
  if ((status != 0)); then
    tail -n 60 "$log"
    echo "fuzz: the target $target ended with $status"
    return 1
  fi
  # Without coverage it would try next to nothing, and call that a success.
  if grep -q "no interesting inputs were found" "$log"; then
    echo "fuzz: the target $target is blind: the room $room has no coverage"
    return 1
  fi
  tried=$(sed -nE 's/^stat::number_of_executed_units: *([0-9]+)$/\1/p' "$log")
  given=$(count_files "$PWD/$corpus")
  if ((${tried:-0} <= given)); then
    echo "fuzz: the target $target tried ${tried:-no} inputs, and was given $given"
    return 1
  fi
  echo "fuzz: the target $target tried $tried inputs"
}

# fuzz SECONDS: all targets side by side, for so many processor seconds together.
fuzz() {
  local corpora=() each seconds tried
  for each in tests/fuzz/corpus/*/*/; do
    if [[ -d $each ]]; then corpora+=("${each%/}"); fi
  done
  if ((${#corpora[@]} == 0)); then
    echo "there is no corpus in tests/fuzz/corpus"
    return 1
  fi
  seconds=$(($1 / ${#corpora[@]}))
  if ((seconds < 1)); then
    echo "$1 s are too few for ${#corpora[@]} targets: each takes at least one"
    return 1
  fi
  export -f fuzz_one count_files
  # shellcheck disable=SC2016  # the inner shell expands
  printf '%s\n' "${corpora[@]}" | xargs -P "$jobs" -n 1 bash -c 'set -euo pipefail; fuzz_one "$@"' _ "$seconds" |
    tee build/log/fuzz-targets.txt
  tried=$(sed -nE 's/^fuzz: the target [a-z_]+ tried ([0-9]+) inputs$/\1/p' build/log/fuzz-targets.txt | paste -sd+)
  did "$((${tried:-0}))" "inputs of ${#corpora[@]} targets"
}

# finish: fails if a stage has failed, and says which.
finish() {
  printf '%-32s %5d s\n' "all" "$SECONDS" | tee -a "$durations"
  if ((${#failed[@]} > 0)); then
    echo "FAILED: $(printf '%s, ' "${failed[@]}" | sed 's/, $//')"
    return 1
  fi
}

# finish_with_tests PRESET [ctest arguments]: the tests of this preset as the last stage, whose output is shown, after
# the stage `PRESET build`. Fails if any stage has failed.
finish_with_tests() {
  printf '%-32s %5d s\n' "all before the $1 tests" "$SECONDS" | tee -a "$durations"
  if ((${#failed[@]} > 0)); then
    echo "FAILED: $(printf '%s, ' "${failed[@]}" | sed 's/, $//'); the $1 tests follow if they can"
  fi
  stage "$1 tests" "$1 build" run_tests "$@"
  if was_passed "$1 tests"; then cat "$(log_of "$1 tests")"; fi
  finish
}
