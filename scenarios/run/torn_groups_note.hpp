#pragma once
// Warns of jobs whose tensor-parallel groups may lie on several servers.

#include "scenarios/scenario.hpp"
#include "sim/result.hpp"

#include <string>

namespace contend {

/// The first job with tensor parallelism that lay on more servers than it needs, and how many more there were; empty if
/// none did. Passes are timed as if such groups were inside servers (docs/models/parallel.md).
[[nodiscard]] std::string seen_torn_groups(const Scenario& scenario, const RunResult& result);

}  // namespace contend
