#pragma once
// Rules that make a comparison fail, such as `avg_jct > 1%`.
//
//   RULE   := METRIC RELATION [+|-] AMOUNT
//   METRIC := a metric, with or without the suffix of its unit: avg_jct
//   RELATION := < | <= | > | >=
//   AMOUNT := NUMBER%           change relative to BASE: NEW / BASE - 1
//           | a time            change of a time: NEW - BASE, e.g. 30s or -2min
//           | NUMBERpp          change of a share in percentage points
//           | NUMBER            change of a count, e.g. of jobs
//
// A rule holds, and the comparison fails, if the change of the metric has the given relation to the amount: `avg_jct >
// 1%` if the average grew by more than 1%, `finished < 0` if fewer jobs finished, `gpu_utilisation < -2pp` if it fell
// by more than 2 points.

#include "results/metric_bound.hpp"
#include "results/regression.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

struct RegressionRule {
  std::string text;  ///< as the user wrote it
  const Metric* metric = nullptr;
  Relation relation = Relation::more;
  bool relative = false;
  double amount = 0;  ///< a fraction if relative, else in the unit of the metric
};

/// Parses rules about the `known` metrics. Throws one InputError with the complaints about all rules, each with a caret
/// under the fault.
[[nodiscard]] std::vector<RegressionRule> parse_rules(const std::vector<std::string>& texts,
                                                      std::span<const Metric> known = metrics());

/// The verdict on one rule.
struct RuleOutcome {
  RegressionRule rule;
  double change = 0;            ///< in the unit of RegressionRule::amount
  ConfidenceInterval interval;  ///< of the change
  bool fails = false;           ///< true if the rule holds, and also if the change has no value, which must not pass as
                                ///< success
  std::string reason;           ///< one line for people
};

/// Applies the rules. With `significant`, a rule holds only if its whole 95% interval does, if there is an interval.
[[nodiscard]] std::vector<RuleOutcome> judge(std::span<const RegressionRule> rules, const Regression& regression,
                                             bool significant);

/// A change in the unit of the rule: `+1.25%`, `-30 s`, `+2 pp`, `+3 jobs`.
[[nodiscard]] std::string change_text(const Metric& metric, bool relative, double change);
/// The words that follow "changed": `by +5%`, `from 0`.
[[nodiscard]] std::string changed_text(const Metric& metric, bool relative, double change);
/// The interval in the unit of the rule, `[+0.5, +2]%`; empty if there is none.
[[nodiscard]] std::string interval_text(const Metric& metric, bool relative, const ConfidenceInterval& interval);

}  // namespace contend
