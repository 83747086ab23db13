#!/usr/bin/env bash
# Writes the reference pages and the JSON Schema, which the program prints itself:
#   docs/reference/scenario.md   docs/reference/results.md   docs/schema/scenario.schema.json
#   scripts/generate_docs.sh            with build/release/contend
#   scripts/generate_docs.sh PROGRAM    with another build
#   scripts/generate_docs.sh --check [PROGRAM]
#                                       writes nothing; exits 1 and shows the difference if a file is out of date
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

check=false
if [[ ${1-} == --check ]]; then
  check=true
  shift
fi
program=${1:-$here/build/release/contend}
if (($# > 1)) || [[ $program == -* ]]; then
  echo "usage: ${0##*/} [--check] [PROGRAM]" >&2
  exit 2
fi
if [[ ! -x $program ]]; then
  echo "${0##*/}: $program does not exist; build it first, or name another program" >&2
  exit 2
fi

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
stale=0
# page FILE ARGUMENTS...: writes docs/FILE with the output of `contend schema ARGUMENTS`, whole or not at all.
page() {
  local file=$here/docs/$1 fresh=$new/page
  "$program" schema "${@:2}" >"$fresh"
  if cmp -s "$fresh" "$file"; then return; fi
  if $check; then
    if [[ -f $file ]]; then diff -u --label "docs/$1" --label "contend schema ${*:2}" "$file" "$fresh" >&2 || true; fi
    echo "docs/$1 is out of date: run scripts/generate_docs.sh" >&2
    stale=1
  else
    mkdir -p "$(dirname "$file")"
    cp "$fresh" "$file"
    echo "docs/$1"
  fi
}
page reference/scenario.md --markdown
page reference/results.md --columns
page schema/scenario.schema.json
exit $stale
