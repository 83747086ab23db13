#!/usr/bin/env bash
# Checks that one scenario gives the same bytes with every compiler and build type, and the same results whether the
# engine leaps over repeating periods or executes every event. Builds tests/determinism/run_scenario.cpp twice, with
# different compiler, optimisation and checks (release with the default compiler, checked with clang), runs a small study
# for every policy with each, and compares the files. Exits 1 on any difference.
#   scripts/check_determinism.sh [output folder; default build/determinism]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# As in scripts/stages.sh: another launcher would compile everything again.
if command -v ccache >/dev/null && [[ ${CI-} != true ]]; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

out=${1:-build/determinism}
short=('workload.generate.iterations=[10,60]' workload.generate.arrivals=12s repeat=1 'sweep={}')
same_when_leaping=(jobs.csv gpus.csv links.csv)

presets=(release)
if command -v clang++-14 >/dev/null; then
  presets+=(checked)
else
  echo "determinism: clang++-14 is not installed, so there is no second build to compare with" >&2
fi

cases=()
for file in scenarios/ada-srsf/*.yaml scenarios/network/*.yaml scenarios/traces/*.yaml; do
  [[ ${file##*/} == base.yaml || ! -f $file ]] || cases+=("$file")
done
if ((${#cases[@]} == 0)); then
  echo "determinism: scenarios/ada-srsf contains no scenario" >&2
  exit 1
fi

rm -rf "$out"
mkdir -p "$out"
quietly() {
  if ! "$@" >"$out/log" 2>&1; then
    cat "$out/log" >&2
    echo "determinism: failed: $*" >&2
    exit 1
  fi
}
for preset in "${presets[@]}"; do
  [[ -f build/$preset/build.ninja ]] || quietly cmake --preset "$preset"
  quietly cmake --build --preset "$preset" --target run_scenario
  for file in "${cases[@]}"; do
    name=$(basename "$file" .yaml)
    quietly "build/$preset/tests/run_scenario" "$file" "$out/$preset/leap/$name" "${short[@]}"
    quietly "build/$preset/tests/run_scenario" "$file" "$out/$preset/no-leap/$name" "${short[@]}" engine.leap=false
  done
done

# names FOLDER [find arguments]: its files, except manifests, which contain wall times.
names() { (cd "$1" && find . -type f -not -name manifest.json "${@:2}" -printf '%P\n' | LC_ALL=C sort); }
# compare A B [find arguments]: compares the files of both folders byte by byte; adds to `compared` and `differences`.
compared=0 differences=0
compare() {
  local a=$1 b=$2 name
  shift 2
  if ! diff <(names "$a" "$@") <(names "$b" "$@"); then
    echo "determinism: $a and $b do not contain the same files"
    differences=$((differences + 1))
  fi
  local before=$compared
  while IFS= read -r name; do
    compared=$((compared + 1))
    if ! cmp "$a/$name" "$b/$name"; then
      differences=$((differences + 1))
      # The first few differences are shown.
      if ((differences <= 5)); then diff "$a/$name" "$b/$name" | sed -n 1,6p || true; fi
    fi
  done < <(names "$a" "$@")
  if ((compared == before)); then
    echo "determinism: there is nothing to compare in $a with $b: find . $*" >&2
    exit 1
  fi
}

first=${presets[0]}
for preset in "${presets[@]:1}"; do
  compare "$out/$first" "$out/$preset"
done
across=$compared compared=0
for name in "${same_when_leaping[@]}"; do
  compare "$out/$first/leap" "$out/$first/no-leap" -name "$name"
done

echo "determinism: ${#cases[@]} scenarios, builds: ${presets[*]}"
echo "determinism: $across files against those of $first; $compared files (${same_when_leaping[*]}) with and without leaping"
if ((differences > 0)); then
  echo "determinism: $differences differences; the files are in $out" >&2
  exit 1
fi
echo "determinism: $((across + compared)) files compared"
