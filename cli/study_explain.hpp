#pragma once
// Formats the messages of an iteration one by one, for `contend run --explain`.

#include "scenarios/study/study_run.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>

namespace contend {

/// A table of the costs that are in the study, and of those that are not, with their sources.
[[nodiscard]] std::string assumptions_text(const Scenario& scenario);
/// A table for each job and each phase of its method.
[[nodiscard]] std::string messages_text(std::span<const StudyMessages> jobs);
/// The content of the file `messages.csv`.
[[nodiscard]] std::string messages_csv(std::span<const StudyMessages> jobs);
/// Appends the member `phases` to the JSON object of a job.
void messages_json(JsonWriter& json, const StudyMessages& job);

}  // namespace contend
