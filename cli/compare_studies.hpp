#pragma once
// `contend compare` on two studies of an iteration.

#include "cli/compare_report.hpp"
#include "results/regression_rules.hpp"
#include "scenarios/scenario.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace contend {

struct StudiedIteration {
  std::string workers, compression, policy;
  std::vector<double> figures;  ///< of study_metrics(), in their order; NaN where there is none

  [[nodiscard]] bool is_same(const StudiedIteration& other) const {
    return workers == other.workers && compression == other.compression && policy == other.policy;
  }
};
using StudySide = std::vector<StudiedIteration>;

/// Of a folder that `contend run -o` wrote. Throws InputError.
[[nodiscard]] StudySide read_study(const std::string& folder);
/// Runs the study; `ended` is called after each row, false ends it there. Throws InputError.
[[nodiscard]] StudySide run_study(const Scenario& scenario, const std::function<bool()>& ended);

struct StudyComparison : JudgedSides {
  StudySide base_rows, other_rows;
};

/// A rule fails if its change holds for any iteration that both sides have; rules are about study_metrics(). Throws
/// InputError if they have none in common.
[[nodiscard]] std::vector<RuleOutcome> judge_studies(std::span<const RegressionRule> rules, const StudySide& base,
                                                     const StudySide& other);

/// A line each iteration that both have, what only one has, and the rules.
[[nodiscard]] std::string study_comparison_text(const StudyComparison& comparison);
[[nodiscard]] std::string study_comparison_json(const StudyComparison& comparison);
[[nodiscard]] std::string study_comparison_markdown(const StudyComparison& comparison);

}  // namespace contend
