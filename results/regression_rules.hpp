#pragma once
// When a comparison fails: rules such as `avg_jct > 1%`.
//
//   RULE   := METRIC RELATION [+|-] AMOUNT
//   METRIC := a metric, with or without the suffix of its unit: avg_jct
//   RELATION := < | <= | > | >=
//   AMOUNT := NUMBER%           change relative to BASE: NEW / BASE - 1
//           | a time            change of a time: NEW - BASE, e.g. 30s or -2min
//           | NUMBERpp          change of a share in percentage points
//           | NUMBER            change of a count, e.g. of jobs
//
// A rule holds, and so the comparison fails, when the change of the metric stands in the relation to the amount:
// `avg_jct > 1%` when the average grew by more than 1%, `finished < 0` when fewer jobs finished, `gpu_utilisation <
// -2pp` when it fell by more than 2 points.

#include "results/metric_bound.hpp"
#include "results/regression.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

struct RegressionRule {
  std::string text;  ///< as it was given
  const Metric* metric = nullptr;
  Relation relation = Relation::more;
  bool relative = false;
  double amount = 0;  ///< a fraction if relative, else in the unit of the metric
};

/// About the metrics of jobs, or those that are `known`. Throws one InputError with the complaints about all rules,
/// each with a caret under what is wrong.
[[nodiscard]] std::vector<RegressionRule> parse_rules(const std::vector<std::string>& texts,
                                                      std::span<const Metric> known = metrics());

struct RuleOutcome {
  RegressionRule rule;
  double change = 0;            ///< as RegressionRule::amount
  ConfidenceInterval interval;  ///< of the change
  bool fails = false;           ///< the rule holds; also if the change has no value, which nobody may take for success
  std::string reason;           ///< one line for people
};

/// With `significant` a rule holds only if the whole 95% interval does, where there is one.
[[nodiscard]] std::vector<RuleOutcome> judge(std::span<const RegressionRule> rules, const Regression& regression,
                                             bool significant);

/// `+1.25%`, `-30 s`, `+2 pp`, `+3 jobs`: a change as the rule measures it.
[[nodiscard]] std::string change_text(const Metric& metric, bool relative, double change);
/// The same behind "changed": `by +5%`, `from 0`.
[[nodiscard]] std::string changed_text(const Metric& metric, bool relative, double change);
/// `[+0.5, +2]%`, or empty if there is none.
[[nodiscard]] std::string interval_text(const Metric& metric, bool relative, const ConfidenceInterval& interval);

}  // namespace contend
