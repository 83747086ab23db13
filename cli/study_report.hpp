#pragma once
// Formats iteration studies (`overlap.*`) for people and programs.

#include "scenarios/scenario.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/study/study_timeline.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// A table for each number of workers with one line for each policy.
[[nodiscard]] std::string study_text(const Scenario& scenario, const TimedModel& model, std::span<const StudyRow> rows);
[[nodiscard]] std::string study_json(std::span<const Scenario> scenarios, std::span<const std::vector<StudyRow>> rows);
[[nodiscard]] std::string study_csv(std::span<const StudyRow> rows);

/// Writes one settled iteration as a Chrome trace, with a lane for each role and each channel. Throws InputError.
void write_study_timeline(const std::string& path, const StudyTimeline& timeline);

}  // namespace contend
