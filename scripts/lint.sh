#!/usr/bin/env bash
# The house rules that a script can hold. Prints file:line for every breach and exits 1 if there is one.
# Needs no build; clang-format and shellcheck are skipped with a note where they are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rooms=(sim text network models calibration policies traces results scenarios report validate cli python)
below_cli=(sim text network models calibration policies traces results scenarios report validate)
deterministic=(sim network models calibration policies)

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  mapfile -t all < <(git ls-files --cached --others --exclude-standard | sort -u)
else
  mapfile -t all < <(find . -type f -not -path './build*' -not -path './.git/*' -printf '%P\n' | sort)
fi

# pick PATTERN: the files, if they still exist, whose path matches the extended regular expression.
pick() {
  local file
  for file in "${all[@]}"; do
    if [[ $file =~ $1 && -f $file ]]; then printf '%s\n' "$file"; fi
  done
}
under() { local IFS='|'; echo "^($*)/"; }

mapfile -t sources < <(pick "^(${rooms[0]}$(printf '|%s' "${rooms[@]:1}")|tests)/.*\.(cpp|hpp|cu|cuh)$")
mapfile -t headers < <(pick "^(${rooms[0]}$(printf '|%s' "${rooms[@]:1}")|tests)/.*\.hpp$")
mapfile -t texts < <(pick '\.(cpp|hpp|cu|cuh|in|py|sh|cmake|md|yaml|json)$|(^|/)CMakeLists\.txt$|^\.ci/')

if ((${#sources[@]} == 0 || ${#headers[@]} == 0 || ${#texts[@]} == 0)); then
  echo "lint: there are no files to check: ${#sources[@]} sources, ${#headers[@]} headers, ${#texts[@]} texts" >&2
  exit 1
fi

breaches=0
breach() { echo "$1: $2"; breaches=$((breaches + 1)); }

# hits_of COMMAND...: puts the lines that a checker prints into the array `hits`. A checker that fails without a line has
# checked nothing, which is a breach, too; but grep ends with 1 where it finds nothing.
hits=()
hits_of() {
  local status=0 printed
  printed=$("$@") || status=$?
  hits=()
  if [[ -n $printed ]]; then
    mapfile -t hits <<<"$printed"
  elif ((status > 1)) || [[ $status == 1 && $1 != grep ]]; then
    breach "scripts/lint.sh:1" "the check '${*:1:2} ...' ended with $status and printed nothing"
  fi
}

# forbid RULE REGEX FILES...: no line of the files may match.
forbid() {
  local rule=$1 regex=$2 hit
  shift 2
  if (($# == 0)); then return; fi
  hits_of grep -nHIE -e "$regex" -- "$@"
  for hit in "${hits[@]}"; do breach "$(cut -d: -f1,2 <<<"$hit")" "$rule"; done
}
# The regex of code that precedes any // on its line.
code() { echo "^([^/]|/[^/])*$1"; }

forbid "'using namespace' in a header" "$(code '\busing[[:space:]]+namespace\b')" "${headers[@]}"

# The CPU back end of a calibration times kernels, a policy in another process has a time limit, and a pulse asks every
# few milliseconds whether a run goes on; no simulation depends on clocks.
mapfile -t files < <(pick "$(under "${deterministic[@]}").*\.(cpp|hpp)$" |
                     grep -vxE 'calibration/cpu_backend\.cpp|policies/external/child\.[ch]pp|sim/pulse\.hpp')
clocks='(\bs?rand\(|random_device|std::mt19937|std::[a-z_]+_distribution\b|\btime\((NULL|nullptr|0|&)'
clocks+='|(system|steady|high_resolution)_clock|gettimeofday|clock_gettime)'
forbid "chance and clocks come from the run's own streams and calendar" "$(code "$clocks")" "${files[@]}"

mapfile -t files < <(pick "$(under "${below_cli[@]}").*\.(cpp|hpp)$" | grep -vx 'sim/failure\.cpp')
forbid "only cli/ and sim/failure.cpp may end the program" \
       "$(code '(^|[^A-Za-z0-9_.>])(exit|_exit|_Exit|quick_exit|abort|terminate)[[:space:]]*\(')" "${files[@]}"

# JobSpec::iterations counts iterations of an elastic job at its preferred size; only input and results are about them.
mapfile -t files < <(pick '^sim/.*\.(cpp|hpp)$' | grep -vxE 'sim/(engine_state|simulation)\.cpp')
forbid "a run goes by JobRun::iterations" "$(code 'spec->iterations\b')" "${files[@]}"

# Brackets keep the patterns from matching this file.
forbid "finish it or open an issue" '\b(TO[D]O|FIX[M]E|X[X]X)\b' "${texts[@]}"
forbid "an absolute path of some machine" '(^|[^][A-Za-z0-9_./:-])/([h]ome|[r]oot|[w]ork|[U]sers)/[A-Za-z0-9_]' "${texts[@]}"

# It adds 1 to the size of the numbers, so that small ones are all the same to it.
forbid "doctest's Approx: compare with near() of tests/near.hpp" "$(code '\bApprox\b')" "${sources[@]}"

# shellcheck disable=SC2016  # awk expands
hits_of awk 'FNR == 1 { seen = 0 } !seen && NF { seen = 1; if ($0 != "#pragma once") print FILENAME }' "${headers[@]}"
for hit in "${hits[@]}"; do breach "$hit:1" "a header opens with #pragma once"; done

# Two types of one name in one namespace, in headers that no file includes together, are one to the linker.
names_of_types() {
  sed -nE 's/^(class|struct) ([A-Za-z0-9]+)( final)?( :.*|[[:space:]]*\{.*)$/\2/p' -- "${headers[@]}" | sort
}
twice() { names_of_types | uniq -d; }
hits_of twice
for name in "${hits[@]}"; do
  forbid "$name is defined in another header too" "^(class|struct) $name( final)?( :|[[:space:]]*\{)" "${headers[@]}"
done

mapfile -t files < <(pick '\.(cpp|hpp|cu|cuh|py|sh|cmake)$|(^|/)CMakeLists\.txt$')
if ((${#files[@]} > 0)); then
  while read -r lines file; do
    most=600
    if [[ $file == scripts/contend_check.py ]]; then most=860; fi  # users copy it, so it is a single file
    if [[ $file != total ]] && ((lines > most)); then breach "$file:$lines" "more than $most lines"; fi
  done < <(wc -l -- "${files[@]}")
fi

# The program does not have a policy that policies/list.def does not name.
if [[ -f policies/list.def ]]; then
  mapfile -t files < <(pick '^policies/[a-z]+/.*\.cpp$')
  hits_of grep -noHE '^PolicyRow<[A-Za-z]+> [a-z0-9_]+\(' -- "${files[@]}"
  if ((${#hits[@]} == 0)); then breach "policies/list.def:1" "no file of policies/ defines a policy"; fi
  while IFS=: read -r file line function; do
    if [[ -z $file ]]; then continue; fi
    entry="$(tr '[:lower:]' '[:upper:]' <<<"${function##*_}")(${function%_*})"
    grep -qxF "$entry" policies/list.def || breach "$file:$line" "policies/list.def has no line $entry"
  done < <(printf '%s\n' "${hits[@]}" | sed -E 's/PolicyRow<[A-Za-z]+> //; s/\($//')
fi

# A heavy header costs seconds in every file that sees it.
for heavy in yaml-cpp/ boost/program_options boost/graph/ Eigen/ nlohmann/ sqlite3.h; do
  mapfile -t files < <(pick "^(${rooms[0]}$(printf '|%s' "${rooms[@]:1}"))/.*\.(cpp|hpp)$")
  if ((${#files[@]} == 0)); then continue; fi
  declare -A seen=()
  hits_of grep -nHE -e "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$heavy" -- "${files[@]}"
  for hit in "${hits[@]}"; do
    IFS=: read -r file line _ <<<"$hit"
    folder=${file%/*}
    if [[ $file == *.hpp ]]; then
      breach "$file:$line" "<$heavy...> in a header"
    elif [[ -n ${seen[$folder]-} && ${seen[$folder]} != "$file" ]]; then
      breach "$file:$line" "<$heavy...> in a second file of $folder/ (the first is ${seen[$folder]})"
    else
      seen[$folder]=$file
    fi
  done
done

if command -v clang-format-14 >/dev/null; then
  # One line a place; `clang-format-14 -i FILE` mends the file.
  misformatted() {
    printf '%s\0' "${sources[@]}" |
      xargs -0 -r -P "$(nproc)" -n 100 clang-format-14 --dry-run -Werror --ferror-limit=3 2>&1 |
      { grep -E '(error|warning): ' || (($? == 1)); } | sort -u -t: -k1,2
  }
  hits_of misformatted
  for hit in "${hits[@]}"; do breach "$(cut -d: -f1,2 <<<"$hit")" "not as clang-format-14 writes it"; done
else
  echo "lint: clang-format-14 is not here: formatting not checked" >&2
fi

# A message of doctest captures the variables that the message names, and clang 14 can't capture a structured binding.
captured_bindings() {
  awk 'FNR == 1 || /^ *for \(|^}/ { names = "" }
    match($0, /auto&? \[[^]]*\] :/) {
      names = substr($0, RSTART, RLENGTH)
      gsub(/auto&? \[|\] :/, "", names)
      gsub(/, */, "|", names)
      next
    }
    names != "" && /(CAPTURE|INFO|_MESSAGE)\(/ {
      said = $0
      sub(/.*(CAPTURE|INFO)\(/, "", said)
      sub(/.*_MESSAGE\(.*, /, "", said)
      if (said ~ "(^|[^A-Za-z0-9_.])(" names ")([^A-Za-z0-9_]|$)") print FILENAME ":" FNR
    }' "$@"
}

mapfile -t files < <(pick '^tests/.*_test\.cpp$')
hits_of captured_bindings "${files[@]}"
for hit in "${hits[@]}"; do breach "$hit" "a message captures a structured binding: name the pair, and its members in the message"; done

# How long and complex functions are, and how wide their parameters: scripts/structure.limits.
structure() { python3 scripts/structure.py --check 2>&1; }
hits_of structure
for hit in "${hits[@]}"; do breach "scripts/structure.limits:1" "$hit"; done

# The sampler of mutants reads the tree as tokens, and its list of mutants that change nothing names lines of it.
self_test() { python3 scripts/mutation_sample.py --self-test 2>&1; }
hits_of self_test
for hit in "${hits[@]}"; do breach "scripts/mutation_sample.py:1" "$hit"; done

# Under pipefail such a pipe fails whenever the reader has left before the writer has written the last line.
mapfile -t files < <(pick '\.sh$|^\.ci/run$')
forbid "this reader leaves a pipe early: use sed -n 1,Np, or grep ... >/dev/null" \
       '\|[[:space:]]*(hea[d]\b|sed( -n)? [^|]*[0-9]q\b|grep -[a-zA-Z]*[qm])' "${files[@]}"

if command -v shellcheck >/dev/null; then
  mapfile -t files < <(pick '\.sh$|^\.ci/run$')
  hits_of shellcheck --format=gcc "${files[@]}"
  for hit in "${hits[@]}"; do breach "$(cut -d: -f1,2 <<<"$hit")" "$(cut -d' ' -f2- <<<"$hit")"; done
else
  echo "lint: shellcheck is not here: shell scripts not checked" >&2
fi

if ((breaches > 0)); then
  echo "lint: $breaches breaches in ${#all[@]} files" >&2
  exit 1
fi
echo "lint: ${#all[@]} files, no breach"
