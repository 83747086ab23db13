#!/usr/bin/env bash
# Whether CUDA's code can run here. To be sourced.

# True where a GPU can run CUDA's code. Elsewhere its compilation would take longer than the compilation of all else.
has_gpu() {
  command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1
}
