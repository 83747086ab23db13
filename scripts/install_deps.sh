#!/usr/bin/env bash
# Installs the packages that Contend needs on Debian 12. Returns at once if they are all installed.
#   scripts/install_deps.sh            everything: build, tests, checks
#   scripts/install_deps.sh --minimal  only what a release build of the program needs
#   scripts/install_deps.sh --site     only what builds the site of the documentation (scripts/docs_site.sh)
#   scripts/install_deps.sh --list     installs nothing, and prints the names of all packages
set -euo pipefail

build_packages=(g++ cmake ninja-build libboost-program-options1.81-dev libyaml-cpp-dev libfmt-dev zlib1g-dev
                nlohmann-json3-dev libsqlite3-dev libboost-graph1.81-dev libeigen3-dev pybind11-dev python3-dev)
test_packages=(doctest-dev
               clang-14 lld-14 libclang-rt-14-dev clang-format-14 clang-tidy-14
               python3 python3-jsonschema python3-yaml python3-numpy python3-pandas mypy python3-simgrid
               chromium nodejs npm git slurmctld slurmd slurm-client munge dpkg-dev man-db pkg-config)

wanted=("${build_packages[@]}" "${test_packages[@]}")
case "${1-}" in
  "") ;;
  --minimal) wanted=("${build_packages[@]}") ;;
  --site) wanted=(mkdocs) ;;
  --list) printf '%s\n' "${wanted[@]}"; exit ;;
  *) echo "usage: ${0##*/} [--minimal | --site | --list]" >&2; exit 2 ;;
esac

# Tools that were installed without apt count as well.
available_without_package() {
  case "$1" in
    g++ | cmake | git | python3 | clang-format-14 | clang-tidy-14) command -v "$1" ;;
    ninja-build) command -v ninja ;;
    clang-14) command -v clang++-14 ;;
    lld-14) command -v ld.lld-14 || command -v ld.lld ;;
    python3-jsonschema) python3 -c "import jsonschema" ;;
    python3-yaml) python3 -c "import yaml" ;;
    chromium) command -v chromium || command -v chromium-headless-shell ;;
    nodejs) command -v node ;;
    npm) command -v npm ;;
    pkg-config) command -v pkg-config ;;
    python3-simgrid) python3 -c "import simgrid" ;;
    *) false ;;
  esac >/dev/null 2>&1
}

installed=""
if command -v dpkg-query >/dev/null; then
  # dpkg-query exits with 1 for an unknown package, which is an answer and not an error.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
fi
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "installed $package" <<<"$installed" || available_without_package "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "install_deps: this machine has no apt-get; please install the counterparts of: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install_deps: neither root nor sudo; please ask an administrator to install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1
}
echo "install_deps: installing ${missing[*]}" >&2
if [[ " ${missing[*]} " == *1.81-dev* ]] && dpkg-query -W libboost1.74-dev >/dev/null 2>&1; then
  echo "install_deps: note: the headers of Boost 1.81 replace those of 1.74" >&2
fi
# Outdated package lists may suffice, so only the installation itself decides.
apt update || echo "install_deps: the package lists could not be updated; using the old ones" >&2
if ! apt install -y --no-install-recommends "${missing[@]}"; then
  cat "$log" >&2
  echo "install_deps: apt-get could not install: ${missing[*]}" >&2
  exit 1
fi
