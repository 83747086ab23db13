#pragma once
// Formats the messages of an iteration one by one, for `contend run --explain` and `contend explain`.

#include "scenarios/study/study_run.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>

namespace contend {

/// A table of the costs that are in the study, and of those that are not, with their sources.
[[nodiscard]] std::string assumptions_text(const ClusterSetup& cluster, const NetworkSetup& network,
                                           const IterationStudy& study, const std::vector<TrainingEntry>& training);
/// For what a GPU of the job spends an iteration, as a table.
[[nodiscard]] std::string account_text(const StudyMessages& job);
/// A table for each phase of the method of the job; the text begins with `title`.
[[nodiscard]] std::string phases_text(const StudyMessages& job, const std::string& title);
/// Both for each job.
[[nodiscard]] std::string messages_text(std::span<const StudyMessages> jobs);
/// The content of the file `messages.csv`.
[[nodiscard]] std::string messages_csv(std::span<const StudyMessages> jobs);
/// Appends the members `account` and `phases` to the JSON object of a job.
void messages_json(JsonWriter& json, const StudyMessages& job);

}  // namespace contend
