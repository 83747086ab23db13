#pragma once
// The one table of the figures of an iteration study, for printed tables, files and sweep stores.

#include "results/result_columns.hpp"
#include "scenarios/study/study_run.hpp"

#include <span>
#include <string>
#include <string_view>

namespace contend {

/// One figure.
struct StudyColumn {
  std::string_view name;   ///< in files, with the unit
  std::string_view title;  ///< for people, in the unit that they see
  double shown;            ///< factor to that unit
  std::string_view unit;   ///< `s`, `share` (of 1), `per_s`, `B` or `messages`
  std::string_view text;
  double (*value)(const StudyRow&);
  bool of_compression = false;  ///< shown to people only if something is compressed
  bool of_levels = false;       ///< shown to people only if servers have several workers
  bool optional = false;        ///< may be NaN; shown to people only if some row has it
};
[[nodiscard]] std::span<const StudyColumn> study_columns();
/// The same figures in the same order, for rules about changes; Metric::value, which is about jobs, is not set.
[[nodiscard]] std::span<const Metric> study_metrics();

/// One figure of a message.
struct MessageColumn {
  std::string_view name;
  std::string_view title;
  double shown;
  std::string_view text;
  double (*value)(const StudyMessage&);
};
[[nodiscard]] std::span<const MessageColumn> message_columns();

/// The reference of an iteration study's result files.
[[nodiscard]] std::string study_columns_markdown();

}  // namespace contend
