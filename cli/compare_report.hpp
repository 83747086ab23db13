#pragma once
// What `contend compare` says, in four forms: text, JSON, a Markdown comment for a pull request, and JUnit XML, which
// build servers show as test results.

#include "scenarios/regression.hpp"
#include "scenarios/regression_rules.hpp"

#include <string>
#include <vector>

namespace contend {

struct ComparisonReport {
  std::string base, other;  ///< paths as the user gave them
  Regression regression;
  std::vector<RuleOutcome> outcomes;

  [[nodiscard]] std::size_t failures() const;
};

[[nodiscard]] std::string comparison_text(const ComparisonReport& report);
[[nodiscard]] std::string comparison_json(const ComparisonReport& report);
[[nodiscard]] std::string comparison_markdown(const ComparisonReport& report);
/// A test case a rule.
[[nodiscard]] std::string comparison_junit(const ComparisonReport& report);

/// A row of the table of figures, as text and Markdown show it.
struct FigureRow {
  std::string title, base, other, change, interval;
};
[[nodiscard]] std::vector<FigureRow> figure_rows(const Regression& regression);
/// `10 seeds (1 to 10); 95% intervals: bootstrap over seeds`
[[nodiscard]] std::string pairing_text(const Regression& regression);
/// `1600 jobs finished on both sides: 320 slower, 280 faster, 1000 the same`
[[nodiscard]] std::string jobs_text(const Regression& regression);

}  // namespace contend
