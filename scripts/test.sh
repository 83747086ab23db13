#!/usr/bin/env bash
# Builds the release program and runs its tests. With --all it runs every check that a merge requires; CI does that.
# Each stage is timed. The output of a stage is shown only if it fails, and is kept in build/log/. The release tests run
# last, so that their summary ends the output.
#   scripts/test.sh        release build and its tests, without the one in a browser
#   scripts/test.sh --all  also lint, sanitizers, clang-tidy, and determinism across compilers
# What takes too long for every merge is in scripts/weekly.sh. A check that weekly.sh has made of code that has not
# changed since (scripts/weekly.passed) is not repeated here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/stages.sh
source scripts/gpu.sh

all=false
case "${1-}" in
  "") ;;
  --all) all=true ;;
  *) echo "usage: ${0##*/} [--all]" >&2; exit 2 ;;
esac

# The rooms whose tests the release build has: the engine, the network and the policies, whose code the compiler changes
# most, validate/, whose long tests are cut short under sanitizers, and cli/, whose tests run the program that was built.
# The tests of all other rooms run under sanitizers only: compiling them twice would take a minute.
#
# With --all each room has its tests in one of the two builds. The release build has those of validate/, report/ and cli/:
# what these call has tests of its own under sanitizers, and the three, with the program, would be a fifth of that build.
# It also has those of calibration/, which take a third of the time of all others under sanitizers. The stage determinism
# compares what both builds write. scripts/weekly.sh runs all tests in both.
hot_rooms="sim;network;policies;validate;cli"
checked_rooms="sim;network;policies;text;models;traces;results;scenarios"
if $all; then hot_rooms="validate;report;cli;calibration"; fi
# These do without our libraries, or need the program.
only_in_release='^(new_policy|mutant_switches|layering|generated_docs|simgrid)$'

# CUDA is compiled where a GPU can run it and, with --all, where its code has changed since the last weekly run: then for
# the oldest generation of devices and for the newest that has code of its own. Where nothing of it has changed, its
# compilation would take an eighth of the release build to say what is known.
release_options() {
  printf '%s\n' "-DCONTEND_TESTED_ROOMS=$hot_rooms"
  if $all && [[ -n $(changed_since_weekly "all CUDA architectures" '^calibration/(cuda/|backend\.h|shared_shapes\.hpp)') ]]; then
    printf '%s\n' -DCONTEND_CUDA=AUTO "-DCMAKE_CUDA_ARCHITECTURES=75-real;90-real"
  elif has_gpu; then
    printf '%s\n' -DCONTEND_CUDA=AUTO -DCMAKE_CUDA_ARCHITECTURES=native
  else
    printf '%s\n' -DCONTEND_CUDA=OFF
  fi
}

stage "install" scripts/install_deps.sh
mapfile -t options < <(release_options)
if $all; then
  # The measurements, which no test needs, if one of them has changed.
  how=build
  if [[ -n $(changed_since_weekly "benches" '^tests/bench/') ]]; then how=build_all; fi
  stage "release build" "$how" release "${options[@]}"
  stage "lint" scripts/lint.sh
  # One build with clang serves the sanitizers, clang-tidy, and as the second flavour of determinism.
  stage "checked build" build_test_programs checked "-DCONTEND_TESTED_ROOMS=$checked_rooms" \
    -DCONTEND_FUZZ_COVERAGE=OFF
  stage "clang-tidy" tidy checked changed
  stage "checked tests" run_tests checked --exclude-regex "$only_in_release"
  stage "determinism" scripts/check_determinism.sh
  # The browser reads the page again only if something of the page has changed.
  unchanged=()
  if [[ -z $(changed_since_weekly "report page" '^(report|tests/report)/') ]]; then unchanged=(--exclude-regex '^report_page$'); fi
  finish_with_tests release "${unchanged[@]}"
else
  stage "release build" build release "${options[@]}"
  # The test in a browser is one for merges: it takes a fifth of the time of all others, and a driver by npm.
  finish_with_tests release --label-exclude merge
fi
