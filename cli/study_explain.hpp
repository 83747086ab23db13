#pragma once
// Formats the messages of an iteration one by one, for `contend run --explain`.

#include "scenarios/study/study_run.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>

namespace contend {

/// A table of the costs that are in the study, and of those that are not, with their sources.
[[nodiscard]] std::string assumptions_text(const Scenario& scenario);
/// A table for each number of workers, compression method, phase of it and fusion policy. The rows must come from a run
/// with StudyDetail::messages.
[[nodiscard]] std::string messages_text(std::span<const StudyRow> rows);
/// The content of the file `overlap-messages.csv`.
[[nodiscard]] std::string messages_csv(std::span<const StudyRow> rows);
/// Appends the member `phases` to the JSON object of a row.
void messages_json(JsonWriter& json, const StudyRow& row);

}  // namespace contend
