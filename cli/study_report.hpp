#pragma once
// Formats iteration studies (`overlap.*`) for people and programs.

#include "results/replica.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/study/study_run.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>

namespace contend {

/// A table for each number of workers with one line for each job: figures are means over the replicas, of which there
/// is at least one.
[[nodiscard]] std::string study_text(const std::string& name, const IterationStudy& study,
                                     std::span<const Replica> replicas);
/// Appends the member `jobs` to an open JSON object, with the same figures, and the messages of those jobs that are
/// explained.
void write_study_members(JsonWriter& json, std::span<const Replica> replicas, std::span<const StudyMessages> messages);

}  // namespace contend
