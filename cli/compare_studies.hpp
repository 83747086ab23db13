#pragma once
// What `contend compare` says about two studies of an iteration.

#include "cli/compare_report.hpp"
#include "scenarios/study/study_comparison.hpp"

#include <string>

namespace contend {

struct StudyComparison : JudgedSides {
  StudySide base_rows, other_rows;
};

/// A line each iteration that both have, what only one has, and the rules.
[[nodiscard]] std::string study_comparison_text(const StudyComparison& comparison);
[[nodiscard]] std::string study_comparison_json(const StudyComparison& comparison);
[[nodiscard]] std::string study_comparison_markdown(const StudyComparison& comparison);

}  // namespace contend
