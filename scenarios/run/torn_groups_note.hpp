#pragma once
// Warns of jobs whose groups of ranks lay on several servers though each of them fits into one.

#include "scenarios/scenario.hpp"
#include "sim/result.hpp"

#include <string>

namespace contend {

/// The first such job and how many more there were; empty if there was none, or if their entries allow it
/// (ParallelSetup::across_servers).
[[nodiscard]] std::string seen_torn_groups(const std::vector<TrainingEntry>& training, const RunResult& result);

}  // namespace contend
