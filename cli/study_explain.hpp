#pragma once
// `contend run --explain`: the messages of an iteration, one by one.

#include "scenarios/study/study_run.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>

namespace contend {

/// A table for each number of workers, method, phase of it and fusion policy. The rows must have been run with
/// StudyDetail::messages.
[[nodiscard]] std::string messages_text(std::span<const StudyRow> rows);
/// The same as a file, `overlap-messages.csv`.
[[nodiscard]] std::string messages_csv(std::span<const StudyRow> rows);
/// The member `phases` of the object of a row.
void messages_json(JsonWriter& json, const StudyRow& row);

}  // namespace contend
