#!/usr/bin/env bash
# The checks that take too long for every merge. Run it once a week; it takes hours. It writes each stage that passes to
# scripts/weekly.passed, with the commit and how much the stage did, and can be stopped and started again: what has
# passed on the same commit isn't repeated. scripts/test.sh --all doesn't repeat clang-tidy, CUDA and the page in a browser
# for files that haven't changed since. Commit that file.
#   scripts/weekly.sh             every stage, and the release tests at the end
#   scripts/weekly.sh mutations   only the stages that are named, here one of them
# CONTEND_EFFORT (default 20) multiplies the rounds of property tests, MUTANTS (default 100) is the number of mutations,
# SEED (default: the day) draws them, and FUZZ_SECONDS (default 1200) are the processor seconds of fuzzing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/stages.sh
source scripts/weekly_record.sh

# For the property tests alone: elsewhere tests are to take the time that they take in every run.
effort=${CONTEND_EFFORT:-20}
unset CONTEND_EFFORT

for name in "$@"; do
  if ! printf '%s\n' "${weekly_stages[@]}" | grep -xF -- "$name" >/dev/null; then
    echo "weekly: unknown stage '$name'; the stages are: $(printf "'%s' " "${weekly_stages[@]}")" >&2
    exit 2
  fi
done
only=("$@")

# wanted NAME...: whether one of these stages is to run.
wanted() {
  ((${#only[@]} == 0)) || printf '%s\n' "${only[@]}" | grep -xF "${@/#/-e}" >/dev/null
}

commit=$(git rev-parse HEAD)
uncommitted=$(git status --porcelain --untracked-files=no -- . ":!$weekly_record")
if [[ -n $uncommitted ]]; then
  echo "weekly: commit your changes first: the run is recorded as one of $commit" >&2
  exit 2
fi

# stage_once NAME NEEDED COMMAND...: a stage that is left out if it isn't wanted or has passed on this commit.
stage_once() {
  local did_what
  wanted "$1" || return 0
  if [[ -f $weekly_record ]] && grep -E "^$commit $1: " "$weekly_record" >/dev/null; then
    printf '%-32s %5s    %s\n' "$1" "" "has passed on this commit" | tee -a "$durations"
    return
  fi
  stage "$@"
  if was_passed "$1"; then
    did_what=$(tail -n 1 "$(log_of "$1")")
    record_passed "$1" "$commit" "${did_what#did: }"
  fi
}

properties() {
  CONTEND_EFFORT=$effort run_tests release --timeout 7200 \
    -R 'property|reliability|merging|matching|schedule|fluid|max_min|bounds|documented_commands|generated_figures'
}

configure_dev() {
  cmake --preset dev -DCONTEND_WERROR=ON -DCMAKE_UNITY_BUILD=OFF "-DCMAKE_CUDA_ARCHITECTURES=75-real;80-real;90"
}

every_file_alone() {
  configure_dev
  counted '^([0-9]+) of [0-9]+ files compile alone$' files scripts/each_file_alone.py build/dev "$jobs"
}

all_cuda_architectures() {
  local targets  # not a pipe into `grep -q`, which ends before its input does and so makes the pipe fail
  configure_dev
  targets=$(cmake --build build/dev --target help)
  if ! grep -q '^contend_cuda_objects:' <<<"$targets"; then
    echo "skipped: no CUDA toolkit is here"
    return
  fi
  cmake --build build/dev --target contend_cuda_objects -j "$jobs"
  did "$(count_files build/dev/calibration/cuda -name '*.cu.o')" "object files"
}

mutations() {
  counted '^in all +[0-9]+ of +([0-9]+) noticed,.*$' mutants scripts/mutation_sample.py --count "${MUTANTS:-100}" \
    --seed "${SEED:-$(date +%Y%m%d)}" --at-least 90 --output build/log/mutations.csv
}

engine_faults() {
  counted '^engine faults: [0-9]+ of ([0-9]+) found$' "faults found" tests/certificate/engine_faults.py .
}

# Which lines and branches of each room its tests run; build/log/coverage.log names those that they don't.
coverage() {
  counted '^coverage: ([0-9]+) rooms$' rooms scripts/coverage.py
}

wheel() {
  counted '^wheel: ([0-9]+) checks$' checks tests/python/wheel_test.py . build/release
}

# The programs are built, and not run: a measurement needs a machine that does nothing else.
benches() {
  cmake --build --preset release -j "$jobs" --target benches
  did "$(count_files build/release/tests -name 'bench_*' -executable)" programs
}

# The test prints what was tested, or that PyTorch is missing, which is too large for scripts/install_deps.sh.
captured_programs() {
  local status=0
  python3 tests/capture/captured_programs.py build/release/contend . || status=$?
  ((status == 77)) || return "$status"
}

stage "install" "" install_packages
stage_once "every file alone" "install" every_file_alone
stage_once "all CUDA architectures" "install" all_cuda_architectures
stage_once "mutations" "install" mutations
stage_once "engine faults" "install" engine_faults
stage_once "coverage" "install" coverage
if wanted "clang-tidy on everything" "sanitized tests" "fuzz"; then
  stage "checked build" "install" build_targets "" checked -DCONTEND_TESTED_ROOMS=all -DCONTEND_FUZZ_COVERAGE=ON
fi
stage_once "clang-tidy on everything" "checked build" tidy checked all
stage_once "sanitized tests" "checked build" run_tests checked
stage_once "fuzz" "checked build" fuzz "${FUZZ_SECONDS:-1200}"
if wanted "benches" "captured programs" "wheel" "properties" "${weekly_tests[@]%%$'\t'*}"; then
  stage "release build" "install" build_targets "" release -DCONTEND_TESTED_ROOMS=all -DCONTEND_CUDA=OFF
fi
stage_once "benches" "release build" benches
stage_once "captured programs" "release build" captured_programs
stage_once "wheel" "release build" wheel
for line in "${weekly_tests[@]}"; do
  IFS=$'\t' read -r name tests _ <<<"$line"
  stage_once "$name" "release build" run_tests release -R "$tests"
done
stage_once "properties" "release build" properties
if ((${#only[@]} == 0)); then
  stage "every test runs" "release build" scripts/left_out_tests.py build/release build/checked
  finish_with_tests release
else
  finish
fi
