#pragma once
// Checks what is to fail in a run against its cluster and its jobs.

#include "sim/engine_state.hpp"

namespace contend {

/// Throws InputError if the failures don't suit the cluster, or their redundancy the jobs. Adds to EngineState::remarks
/// what is possible and seldom meant: domains of two kinds that overlap in part.
void check_failure_spec(EngineState& state);

}  // namespace contend
