#pragma once
// The one table of the figures of a study of one iteration: for tables, files and stores of sweeps.

#include "results/result_columns.hpp"
#include "scenarios/study/study_run.hpp"

#include <span>
#include <string>
#include <string_view>

namespace contend {

struct StudyColumn {
  std::string_view name;   ///< in files, with the unit
  std::string_view title;  ///< for people, in the unit that they are shown in
  double shown;            ///< factor to that unit
  std::string_view unit;   ///< `s`, `share` (of 1), `per_s`, `B` or `messages`
  std::string_view text;
  double (*value)(const StudyRow&);
  bool of_compression = false;  ///< shown to people only where something is compressed
  bool of_levels = false;       ///< shown to people only where servers have several workers
  bool optional = false;        ///< may be NaN; shown to people only where some row has it
};
[[nodiscard]] std::span<const StudyColumn> study_columns();
/// The same, in the same order, for rules about changes; without Metric::value, which is about jobs.
[[nodiscard]] std::span<const Metric> study_metrics();

/// The same of a message.
struct MessageColumn {
  std::string_view name;
  std::string_view title;
  double shown;
  std::string_view text;
  double (*value)(const StudyMessage&);
};
[[nodiscard]] std::span<const MessageColumn> message_columns();

/// What the files of a study hold, for the reference of result files.
[[nodiscard]] std::string study_columns_markdown();

}  // namespace contend
