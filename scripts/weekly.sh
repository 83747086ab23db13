#!/usr/bin/env bash
# The checks that take too long for every merge. Run it once a week; it takes hours. It writes each stage that passes to
# scripts/weekly.passed, with the commit, and can be stopped and started again: what has passed on the same commit isn't
# repeated. scripts/test.sh --all doesn't repeat clang-tidy, CUDA and the page in a browser for files that haven't changed
# since. Commit that file.
#   scripts/weekly.sh             every stage, and the release tests at the end
#   scripts/weekly.sh mutations   only the stages that are named, here one of them
# CONTEND_EFFORT (default 20) multiplies the rounds of property tests, MUTANTS (default 100) is the number of mutations,
# SEED (default: the day) draws them, and FUZZ_SECONDS (default 1200) are the processor seconds of fuzzing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/stages.sh

# For the property tests alone: elsewhere tests are to take the time that they take in every run.
effort=${CONTEND_EFFORT:-20}
unset CONTEND_EFFORT

stages=("every file alone" "all CUDA architectures" "mutations" "clang-tidy on everything" "sanitized tests" "fuzz"
        "benches" "report page" "properties")
for name in "$@"; do
  if ! printf '%s\n' "${stages[@]}" | grep -qxF -- "$name"; then
    echo "weekly: unknown stage '$name'; the stages are: $(printf "'%s' " "${stages[@]}")" >&2
    exit 2
  fi
done
only=("$@")

# wanted NAME...: whether one of these stages is to run.
wanted() {
  ((${#only[@]} == 0)) || printf '%s\n' "${only[@]}" | grep -qxF "${@/#/-e}"
}

commit=$(git rev-parse HEAD)
if [[ -n $(git status --porcelain --untracked-files=no -- . ":!$weekly_record") ]]; then
  echo "weekly: commit your changes first: the run is recorded as one of $commit" >&2
  exit 2
fi

# stage_once NAME COMMAND...: a stage that is skipped if it isn't wanted or has passed on this commit.
stage_once() {
  wanted "$1" || return 0
  local before=${#failed[@]}
  if grep -qxF "$commit $1" "$weekly_record" 2>/dev/null; then
    printf '%-32s %5s    %s\n' "$1" "" "has passed on this commit" | tee -a "$durations"
    return
  fi
  stage "$@"
  if ((${#failed[@]} > before)) || [[ $(tail -n 1 "build/log/${1// /-}.log") == skipped:* ]]; then return; fi
  record_passed "$1" "$commit"
}

properties() {
  CONTEND_EFFORT=$effort ctest --test-dir build/release -j "$jobs" --no-tests=error --output-on-failure \
    --timeout 7200 -R 'property|reliability|merging|matching|schedule|fluid|max_min|documented_commands|generated_figures'
}

every_file_alone() {
  cmake --preset dev -DCONTEND_WERROR=ON -DCMAKE_UNITY_BUILD=OFF "-DCMAKE_CUDA_ARCHITECTURES=75-real;80-real;90" &&
    scripts/each_file_alone.py build/dev "$jobs"
}

all_cuda_architectures() {
  local targets  # not a pipe into `grep -q`, which ends before its input does and so makes the pipe fail
  targets=$(cmake --build build/dev --target help)
  if ! grep -q '^contend_cuda_objects:' <<<"$targets"; then
    echo "skipped: no CUDA toolkit is here"
    return
  fi
  cmake --build build/dev --target contend_cuda_objects -j "$jobs"
}

stage "install" scripts/install_deps.sh
stage_once "every file alone" every_file_alone
stage_once "all CUDA architectures" all_cuda_architectures
stage_once "mutations" scripts/mutation_sample.py --count "${MUTANTS:-100}" --seed "${SEED:-$(date +%Y%m%d)}" --at-least 90 \
  --output build/log/mutations.csv
if wanted "clang-tidy on everything" "sanitized tests" "fuzz"; then
  stage "checked build" build checked -DCONTEND_TESTED_ROOMS=all -DCONTEND_FUZZ_COVERAGE=ON
fi
stage_once "clang-tidy on everything" tidy checked all
stage_once "sanitized tests" run_tests checked
stage_once "fuzz" fuzz "${FUZZ_SECONDS:-1200}"
if wanted "benches" "report page" "properties"; then
  stage "release build" build release -DCONTEND_TESTED_ROOMS=all -DCONTEND_CUDA=OFF
fi
stage_once "benches" cmake --build --preset release -j "$jobs" --target benches
stage_once "report page" run_tests release -R '^report_page$'
stage_once "properties" properties
if ((${#only[@]} == 0)); then
  finish_with_tests release
else
  ((${#failed[@]} == 0))
fi
