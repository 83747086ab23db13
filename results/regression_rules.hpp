#pragma once
// Rules that make a comparison fail, such as `avg_jct > 1%`.
//
//   RULE   := METRIC [GROUP] RELATION [+|-] AMOUNT
//   METRIC := a metric, with or without the suffix of its unit: avg_jct
//   GROUP  := "[" GROUPING "=" VALUE "]"     the metric over the jobs of a group alone: avg_jct[user=ann]
//           | "[any job]"                    a figure of an iteration of each job: iteration[any job]
//   RELATION := < | <= | > | >=
//   AMOUNT := NUMBER%           change relative to BASE: NEW / BASE - 1
//           | a time            change of a time: NEW - BASE, e.g. 30s or -2min
//           | NUMBERpp          change of a share in percentage points
//           | NUMBER            change of a count, e.g. of jobs
//
// A rule holds, and the comparison fails, if the change of the metric has the given relation to the amount: `avg_jct >
// 1%` if the average grew by more than 1%, `finished < 0` if fewer jobs finished, `gpu_utilisation < -2pp` if it fell
// by more than 2 points. `p95_jct[vc=vision] > 1h` looks at the jobs of one virtual cluster. `iteration > 1%` is about
// the mean over the jobs. `iteration[any job] > 1%` holds if it does for any job that completed iterations on both
// sides, as measured; in a comparison of iteration studies, whose jobs are its variants, rules about iterations mean
// that.
//
// Over several seeds the change must be significantly so: a neutral change makes some rule fail in at most 2.5% of the
// comparisons, however many rules there are (one-sided t tests with Holm's correction). Counts of jobs, and a single
// run, are judged as measured.

#include "results/job_groups.hpp"
#include "results/metric_bound.hpp"
#include "results/regression.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

struct RegressionRule {
  std::string text;                    ///< as the user wrote it
  const Metric* metric = nullptr;      ///< one of group_metrics() if there is a grouping
  bool of_any_job = false;             ///< the metric is one of iteration_metrics()
  const Grouping* grouping = nullptr;  ///< nullptr: over all jobs
  std::string group;                   ///< the value of the grouping
  Relation relation = Relation::more;
  bool relative = false;
  double amount = 0;  ///< a fraction if relative, else in the unit of the metric
};

/// Throws one InputError with the complaints about all rules, each with a caret under the fault.
[[nodiscard]] std::vector<RegressionRule> parse_rules(const std::vector<std::string>& texts);

/// The verdict on one rule.
struct RuleOutcome {
  RegressionRule rule;
  ChangeEstimate change;  ///< in the unit of RegressionRule::amount
  double p_value = kNaN;  ///< of the test, after Holm's correction; NaN if the measured change decides
  bool fails = false;     ///< true if the rule holds, and also if the change has no value, which must not pass as
                          ///< success
  std::string reason;     ///< one line for people
};

/// The two sides of a comparison, which rules about groups look at.
struct ComparedResults {
  const StoredResults* base = nullptr;
  const StoredResults* other = nullptr;
  std::optional<ResampledSides> resampled{};
};

enum class Judgement : std::uint8_t {
  significant,  ///< by tests, as above
  measured,     ///< by the measured change alone
};

/// Applies the rules. A rule about an average over finished jobs fails if different jobs finished on the two sides.
/// Throws InputError if a rule names a group that neither side has.
[[nodiscard]] std::vector<RuleOutcome> judge(std::span<const RegressionRule> rules, const Regression& regression,
                                             const ComparedResults& sides, Judgement judgement);

/// A change in the unit of the rule: `+1.25%`, `-30 s`, `+2 pp`, `+3 jobs`.
[[nodiscard]] std::string change_text(const Metric& metric, bool relative, double change);
/// The words that follow "changed": `by +5%`, `from 0`.
[[nodiscard]] std::string changed_text(const Metric& metric, bool relative, double change);
/// A p-value with two digits: `0.012`, `< 1e-12`; empty for NaN.
[[nodiscard]] std::string p_value_text(double p_value);
/// The smallest change that could be seen, `+3.2%`, of a change whose interval contains none; empty for any other.
[[nodiscard]] std::string detectable_text(const Metric& metric, bool relative, const ChangeEstimate& change);
/// The interval in the unit of the rule, `[+0.5, +2]%`; empty if there is none.
[[nodiscard]] std::string interval_text(const Metric& metric, bool relative, const ConfidenceInterval& interval);

}  // namespace contend
