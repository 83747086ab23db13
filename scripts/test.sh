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
source scripts/weekly_record.sh
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
# With --all each room has its tests in one of the two builds. The release build has the tests of validate/, report/ and
# cli/: what these call has tests of its own under sanitizers, and the three, with the program, would be a fifth of that
# build. It also has the tests of calibration/, which take a third of the time of all others under sanitizers. The stage
# determinism compares what both builds write. scripts/weekly.sh runs all tests in both.
hot_rooms="sim;network;policies;validate;cli"
checked_rooms="sim;network;policies;text;models;traces;results;scenarios"
if $all; then hot_rooms="validate;report;cli;calibration"; fi
# These do without our libraries, or need the program.
only_in_release='^(new_policy|mutant_switches|stages|layering|generated_docs|simgrid)$'

# CUDA is compiled where a GPU can run it and, with --all, where its code has changed since the last weekly run: then for
# the oldest generation of devices and for the newest that has code of its own. Where nothing of it has changed, its
# compilation would take an eighth of the release build to say what is known.
options=("-DCONTEND_TESTED_ROOMS=$hot_rooms")
cuda_changes=""
if $all; then
  cuda_changes=$(changed_since_weekly "all CUDA architectures" '^calibration/(cuda/|backend\.h|shared_shapes\.hpp)')
fi
if [[ -n $cuda_changes ]]; then
  options+=(-DCONTEND_CUDA=AUTO "-DCMAKE_CUDA_ARCHITECTURES=75-real;90-real")
elif has_gpu; then
  options+=(-DCONTEND_CUDA=AUTO -DCMAKE_CUDA_ARCHITECTURES=native)
else
  options+=(-DCONTEND_CUDA=OFF)
fi

stage "install" "" install_packages
if $all; then
  # The measurements, which no test needs, if one of them has changed.
  targets=""
  changed=$(changed_since_weekly "benches" '^tests/bench/')
  if [[ -n $changed ]]; then targets="all benches"; fi
  stage "release build" "install" build_targets "$targets" release "${options[@]}"
  stage "lint" "install" counted '^lint: ([0-9]+) files, no breach$' files scripts/lint.sh
  # One build with clang serves the sanitizers, clang-tidy, and as the second flavour of determinism.
  stage "checked build" "install" build_targets test_programs checked "-DCONTEND_TESTED_ROOMS=$checked_rooms" \
    -DCONTEND_FUZZ_COVERAGE=OFF
  stage "clang-tidy" "checked build" tidy checked changed
  stage "checked tests" "checked build" run_tests checked --exclude-regex "$only_in_release"
  stage "every test runs" "checked build" scripts/left_out_tests.py build/release "build/checked=$only_in_release"
  stage "determinism" "checked build" counted '^determinism: ([0-9]+) files compared$' files scripts/check_determinism.sh
  say_what_is_due
  options=()
  unchanged=$(unchanged_tests)
  if [[ -n $unchanged ]]; then options=(--exclude-regex "$unchanged"); fi
  finish_with_tests release "${options[@]}"
else
  stage "release build" "install" build_targets "" release "${options[@]}"
  # The test in a browser is one for merges: it takes a fifth of the time of all others, and a driver by npm.
  finish_with_tests release --label-exclude merge
fi
