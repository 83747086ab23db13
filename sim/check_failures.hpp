#pragma once
// Checks what is to fail in a run against its cluster and its jobs.

#include "sim/engine_state.hpp"

namespace contend {

/// Throws InputError if the failures don't suit the cluster, or their redundancy the jobs.
void check_failure_spec(const EngineState& state);

}  // namespace contend
