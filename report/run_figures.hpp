#pragma once
// The figures of one run, and of several runs side by side.

#include "report/figure.hpp"
#include "report/replay.hpp"
#include "report/run_folder.hpp"

#include <span>
#include <vector>

namespace contend {

/// Figures over time show the replica `run`; distributions cover all replicas of the folder. Without a replay, the
/// figures that need spans are left out.
[[nodiscard]] std::vector<Figure> run_figures(const RunFolder& folder, const RunFolder::Run& run, const Replay* replay);

/// Figures over all folders and, for each folder but the first, its jobs against the jobs of the first under the first
/// seed that both have.
[[nodiscard]] std::vector<Figure> comparison_figures(std::span<const RunFolder> folders);

}  // namespace contend
