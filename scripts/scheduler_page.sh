#!/usr/bin/env bash
# Repeats the tables of docs/validation/schedulers.md and puts them into the page, between its markers.
#   scripts/scheduler_page.sh
# CONTEND is the program (default build/release/contend), CONTEND_DATA the folder of traces (default ../shared/data).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

contend=${CONTEND:-build/release/contend}
page=docs/validation/schedulers.md
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# put MARKER: what lies in $results replaces what stands in the page between the lines `<!-- MARKER` and `<!-- end`.
put() {
  awk -v marker="<!-- $1" -v results="$results" '
    index($0, "<!-- end") == 1 { inside = 0 }
    !inside { print }
    index($0, marker) == 1 { inside = 1; print ""; while ((getline line < results) > 0) print line; print "" }
  ' "$page" >"$page.new"
  mv "$page.new" "$page"
}

"$contend" validate schedulers | tee >(sed 's/^/    /; s/ *$//' >"$results")
put schedulers
"$contend" validate schedulers-table | tee "$results"
put tables
