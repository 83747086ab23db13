#!/usr/bin/env bash
# Installs what the build needs, builds the program and runs the main study: the policies of scenarios/ada-srsf side
# by side. Further arguments go to `contend run`, e.g. scripts/quickstart.sh --json
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/gpu.sh

scripts/install_deps.sh --minimal
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

mkdir -p build
log=build/quickstart.log
build() {
  # The tests need more packages than the program; a build folder that has them keeps them.
  local options=(-DCONTEND_TESTS=OFF -DCONTEND_CUDA=OFF)
  if has_gpu; then options=(-DCONTEND_TESTS=OFF -DCONTEND_CUDA=AUTO -DCMAKE_CUDA_ARCHITECTURES=native); fi
  [[ -f build/release/build.ninja ]] || cmake --preset release "${options[@]}" || return
  cmake --build --preset release --target contend
}
echo "Building build/release/contend ..." >&2
if ! build >"$log" 2>&1; then
  cat "$log" >&2
  echo "quickstart: the build failed; its output is above and in $log" >&2
  exit 1
fi

scenarios=()
for file in scenarios/ada-srsf/*.yaml; do
  [[ ${file##*/} == base.yaml ]] || scenarios+=("$file")
done
exec build/release/contend run "${scenarios[@]}" "$@"
