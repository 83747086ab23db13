#!/usr/bin/env bash
# scripts/new_policy.sh in a temporary copy: for each kind, the files that it writes compile with the new list, and names
# and kinds that it can't use are refused with a message that says why.
#   new_policy_test.sh COMPILER
set -euo pipefail
compiler=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$root/policies" "$root/scripts" "$root/.clang-format" "$copy"
mkdir "$copy/tests"
cp -r "$root/tests/policies" "$copy/tests"

faults=0
fault() {
  echo "new_policy_test: $1" >&2
  faults=$((faults + 1))
}

# refused MESSAGE ARGUMENTS...: the script must fail, say so, and write nothing.
refused() {
  local message=$1 said before
  shift
  before=$(cd "$copy" && find . -type f -exec cksum {} + | sort)
  if said=$("$copy/scripts/new_policy.sh" "$@" 2>&1); then fault "accepts: $*"; fi
  if [[ $said != *"$message"* ]]; then fault "says '$said' of: $*"; fi
  if [[ $before != "$(cd "$copy" && find . -type f -exec cksum {} + | sort)" ]]; then fault "writes files for: $*"; fi
}
refused "usage"
refused "usage" placement
refused "no kind 'network'" network tree
for name in Upper 2d-las two--hyphens -x x- under_score 'two words' '' ../x; do
  refused "'$name' is not a name" scheduling "$name"
done
refused "'dlas-gpu' exists already" scheduling dlas-gpu
refused "'none' exists already" compression none
refused "placement/gang.cpp exists already" placement gang

compile() {
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I"$copy" -I"$root" \
    -xc++ "$@" || fault "doesn't compile: $*"
}
everything='// The policies and their tests together, as one file.'
for kind in scheduling placement communication fusion compression pipeline; do
  # A short name, and one so long that lines must be wrapped.
  for name in x1 a-policy-with-a-name-of-many-words; do
    said=$("$copy/scripts/new_policy.sh" "$kind" "$name")
    policy=$(sed -n '1s/:.*//p' <<<"$said") test=$(sed -n '3s/:.*//p' <<<"$said")
    for file in "$policy" "$test"; do
      if grep -Hn '@' "$copy/$file"; then fault "$file has a placeholder left"; fi
      everything+=$'\n'"#include \"$file\""
    done
    grep -q 'FAIL(' "$copy/$test" || fault "$test doesn't ask to be filled in"
    if [[ $(grep -cx "${kind^^}(${name//-/_})" "$copy/policies/list.def") != 1 ]]; then fault "no line for $kind $name"; fi
    refused "exists already" "$kind" "$name"
  done
done
everything+=$'\n#include "policies/registry.cpp"'
compile - <<<"$everything"

((faults == 0))
