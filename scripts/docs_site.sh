#!/usr/bin/env bash
# Builds the documentation as a site of static pages, with search and without network: build/site/index.html.
# Needs Debian's package mkdocs: scripts/install_deps.sh --site installs it.
#   scripts/docs_site.sh                  into build/site
#   scripts/docs_site.sh FOLDER           into FOLDER, whose content is replaced
#   scripts/docs_site.sh FOLDER DOCS      of other pages than docs/
# Exits 1 if mkdocs warns, or if a link on a page leads nowhere; exits 77 where mkdocs is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if (($# > 2)) || [[ ${1-} == -* ]]; then
  echo "usage: ${0##*/} [FOLDER [DOCS]]" >&2
  exit 2
fi
if ! command -v mkdocs >/dev/null; then
  echo "${0##*/}: mkdocs is missing; scripts/install_deps.sh --site installs it" >&2
  exit 77
fi
site=$(realpath -m "${1:-$here/build/site}")
pages=$(realpath "${2:-$here/docs}")

# An old folder is replaced only if it's a site.
if [[ -e $site && ! -e $site/sitemap.xml && -n $(ls -A "$site") ]]; then
  echo "${0##*/}: $site has files and is no site; name another folder" >&2
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/scripts/site/stage.py" "$here" "$pages" "$work/docs"
cp "$here/mkdocs.yml" "$work/"
cp "$here/scripts/site/hooks.py" "$work/"
good=true
if ! mkdocs build --strict --clean --config-file "$work/mkdocs.yml" --site-dir "$site" >"$work/log" 2>&1; then
  grep -v '^INFO' "$work/log" >&2
  good=false
fi
python3 "$here/scripts/site/check_links.py" "$site" || good=false
$good
