#pragma once
// Formats iteration studies (`overlap.*`) for people and programs.

#include "scenarios/scenario.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/study/study_timeline.hpp"
#include "sim/result.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>

namespace contend {

/// A table for each number of workers with one line for each job.
[[nodiscard]] std::string study_text(const Scenario& scenario, std::span<const JobResult> jobs);
/// Appends the member `jobs` to an open JSON object, with the messages of those jobs that are explained.
void write_study_members(JsonWriter& json, std::span<const JobResult> jobs, std::span<const StudyMessages> messages);

/// Writes one settled iteration as a Chrome trace, with a lane for each role and each channel. Throws InputError.
void write_study_timeline(const std::string& path, const StudyTimeline& timeline);

}  // namespace contend
