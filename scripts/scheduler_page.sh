#!/usr/bin/env bash
# Repeats the tables of docs/validation/schedulers.md and writes them to the page, between its markers.
#   scripts/scheduler_page.sh
# CONTEND names the program (default build/release/contend), CONTEND_DATA the folder of traces (default ../shared/data).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

contend=${CONTEND:-build/release/contend}
page=docs/validation/schedulers.md
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# put MARKER: replaces the lines of the page between `<!-- MARKER` and `<!-- end` by the content of $results.
put() {
  awk -v marker="<!-- $1" -v results="$results" '
    index($0, "<!-- end") == 1 { inside = 0 }
    !inside { print }
    index($0, marker) == 1 { inside = 1; print ""; while ((getline line < results) > 0) print line; print "" }
  ' "$page" >"$page.new"
  mv "$page.new" "$page"
}

# Not `tee >(sed ...)`, which goes on by itself: put would not wait for it, nor see that it fails.
printed=$("$contend" validate schedulers)
printf '%s\n' "$printed"
sed 's/^/    /; s/ *$//' <<<"$printed" >"$results"
put schedulers
"$contend" validate schedulers-table | tee "$results"
put tables
