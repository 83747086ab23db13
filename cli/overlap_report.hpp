#pragma once
// Studies of one iteration (`overlap.*`) for people and programs.

#include "scenarios/overlap_run.hpp"
#include "scenarios/scenario.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// A table a number of workers, one line a policy.
[[nodiscard]] std::string overlap_text(const Scenario& scenario, const TimedModel& model,
                                       std::span<const OverlapRow> rows);
[[nodiscard]] std::string overlap_json(std::span<const Scenario> scenarios,
                                       std::span<const std::vector<OverlapRow>> rows);
[[nodiscard]] std::string overlap_csv(std::span<const OverlapRow> rows);

/// Writes one settled iteration as a Chrome trace: a lane for each role and one for each channel. Throws InputError.
void write_overlap_timeline(const std::string& path, const OverlapTimeline& timeline);

}  // namespace contend
