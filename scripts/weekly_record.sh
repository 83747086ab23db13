#!/usr/bin/env bash
# What scripts/weekly.sh has checked, and on which commit: scripts/weekly.passed. Sourced from the root of the repository.

weekly_stages=("every file alone" "all CUDA architectures" "mutations" "engine faults" "coverage" "clang-tidy on everything"
               "sanitized tests" "fuzz" "benches" "captured programs" "wheel" "report page" "calibration tests" "script tests" "properties")
# Lines `STAGE TESTS FILES`, parted by tabs: release tests that depend on few files. The weekly stage of that name runs the
# tests that match TESTS; a merge runs them if a file that matches FILES has changed since that stage passed.
weekly_tests=(
  $'report page\t^report_page$\t^(report|tests/report)/'
  $'calibration tests\t^(calibration/(calibrator|cpu_backend|end_to_end)|cli/calibrat.*)$\t^(calibration/|tests/calibration/|(cli|tests/cli)/.*calibrat|scripts/calibrat)'
  $'script tests\t^(stages|mutant_switches)$\t^(scripts/.*[.](sh|py)$|tests/scripts/|tests/mutant_)'
)
# Lines `COMMIT STAGE: NUMBER WHAT`: the commit on which the stage passed last, and how much it did there.
weekly_record=scripts/weekly.passed
weekly_limit=150  # commits after which a stage of the weekly run is due

# record_passed STAGE COMMIT WHAT: the stage of scripts/weekly.sh has passed on that commit, and did so much.
record_passed() {
  local others=""
  if [[ -f $weekly_record ]]; then others=$(grep -vE "^[0-9a-f]+ $1(:|$)" "$weekly_record" || (($? == 1))); fi
  printf '%s\n' ${others:+"$others"} "$2 $1: $3" >"$weekly_record"
}

# commit_of_weekly STAGE: the commit on which that stage passed last; nothing if it never did.
commit_of_weekly() {
  if [[ -f $weekly_record ]]; then sed -nE "s/^([0-9a-f]+) $1(:.*)?\$/\\1/p" "$weekly_record"; fi
}

# changed_since_weekly STAGE REGEX: the files whose path matches and that differ from the commit on which that stage of
# scripts/weekly.sh passed last; all such files if it never did.
changed_since_weekly() {
  local base files
  base=$(commit_of_weekly "$1")
  if [[ -n $base ]] && git cat-file -e "$base^{commit}" 2>/dev/null; then
    files=$(git diff --name-only "$base" && git ls-files --others --exclude-standard)
  elif git rev-parse --git-dir >/dev/null 2>&1; then
    files=$(git ls-files)
  else
    files=$(find . -type f -not -path './build/*' -printf '%P\n')
  fi
  grep -E "$2" <<<"$files" || (($? == 1))
}

# say_what_is_due: which stage of scripts/weekly.sh has not passed for more than $weekly_limit commits. That is no failure.
say_what_is_due() {
  local name base age
  for name in "${weekly_stages[@]}"; do
    base=$(commit_of_weekly "$name")
    if [[ -z $base ]]; then
      echo "due: the weekly stage '$name' has never passed"
    elif ! git cat-file -e "$base^{commit}" 2>/dev/null; then
      echo "due: the weekly stage '$name' passed last on $base, which is not here"
    else
      age=$(git rev-list --count "$base..HEAD")
      if ((age > weekly_limit)); then echo "due: the weekly stage '$name' passed last $age commits ago"; fi
    fi
  done
}

# unchanged_tests: the regular expression of the release tests whose files have not changed since the weekly run.
unchanged_tests() {
  local line stage tests files changed matched=()
  for line in "${weekly_tests[@]}"; do
    IFS=$'\t' read -r stage tests files <<<"$line"
    changed=$(changed_since_weekly "$stage" "$files")
    if [[ -z $changed ]]; then matched+=("$tests"); fi
  done
  (IFS='|' && echo "${matched[*]}")
}
