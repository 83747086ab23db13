#!/usr/bin/env bash
# Installs a build folder into a temporary one, moves that elsewhere, and uses the program there without the source tree.
# Usage: install_test.sh BUILD_FOLDER
set -euo pipefail
build=$(realpath "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() { echo "install_test: $1" >&2; exit 1; }

cmake --install "$build" --prefix "$place/first" >"$place/log" || { cat "$place/log" >&2; exit 1; }
mv "$place/first" "$place/second"
prefix=$place/second
mkdir "$place/empty"
cd "$place/empty"

program=$prefix/bin/contend
cmp <("$program" --version) <("$build/contend" --version)
# Every shipped scenario is there with the files that it names; without its installation there is none.
count=0
while IFS= read -r file; do
  "$program" show "${file#"$prefix/share/contend/"}" >/dev/null || fail "$file can't be read"
  count=$((count + 1))
done < <(find "$prefix/share/contend/scenarios" -name '*.yaml')
((count > 25)) || fail "only $count scenarios are installed"
"$program" run scenarios/ada-srsf/base.yaml --repeat 1 --until 20s -q || (($? == 4)) || fail "a shipped scenario doesn't run"
if CONTEND_SHARE=/nonexistent "$program" show scenarios/ada-srsf/base.yaml 2>/dev/null; then
  fail "a scenario is found where none is"
fi

cmp "$prefix/share/contend/scenario.schema.json" <("$program" schema)
cmp "$prefix/share/man/man1/contend-run.1" <("$program" man run)
cmp "$prefix/share/bash-completion/completions/contend" <("$program" completion bash)
cmp "$prefix/share/zsh/vendor-completions/_contend" <("$program" completion zsh)
cmp "$prefix/share/fish/vendor_completions.d/contend.fish" <("$program" completion fish)
head -n 1 "$prefix/share/doc/contend/CHANGELOG.md" >/dev/null
# Where these programs are, they have no complaint.
if command -v man >/dev/null; then
  for page in "$prefix"/share/man/man1/*.1; do
    warnings=$(MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
    [[ -z $warnings ]] || fail "$page: $warnings"
  done
fi
if command -v zsh >/dev/null; then zsh -n "$prefix/share/zsh/vendor-completions/_contend"; fi
if command -v fish >/dev/null; then fish -n "$prefix/share/fish/vendor_completions.d/contend.fish"; fi

# The Debian package holds what an installation does, below /usr.
if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null; then
  (cd "$place" && cpack --config "$build/CPackConfig.cmake" -B "$place/packages" >log 2>&1) || { cat "$place/log" >&2; exit 1; }
  package=$(echo "$place"/packages/contend_*.deb)
  dpkg-deb -x "$package" "$place/unpacked"
  cmp <(cd "$place/unpacked/usr" && find . -type f | sort) <(cd "$prefix" && find . -type f -not -path './lib/cmake/*' -not -path './include/*' -not -name '*.a' | sort)
  dpkg-deb -f "$package" Depends | grep -q libyaml-cpp || fail "the package names no libraries that it needs"
  "$place/unpacked/usr/bin/contend" show scenarios/ada-srsf/base.yaml >/dev/null
fi
echo "install_test: ok, $count scenarios"
