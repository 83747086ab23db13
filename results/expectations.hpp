#pragma once
// What the figures of a run must be (`expect` of a scenario), and whether they are.

#include "results/metric_bound.hpp"
#include "results/replica.hpp"
#include "text/json_writer.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// One bound on one figure: a relation to a level, or an interval whose ends belong to it.
struct Expectation {
  std::string metric;  ///< its full name
  Relation relation = Relation::equal;
  MetricLevel level;
  std::optional<MetricLevel> upper;  ///< of an interval from `level` on; `relation` is of no meaning then
  bool operator==(const Expectation&) const = default;
};

/// `avg_jct < 2h`, `finished = 160`, `p95_jct in [10min, 3h]`
[[nodiscard]] std::string to_string(const Expectation& expectation);

struct ExpectationOutcome {
  std::string expectation;  ///< its text
  double value = 0;         ///< the mean over replicas
  double half_width = 0;    ///< of its 95% Student-t interval; NaN for a single replica
  bool met = false;         ///< by the mean; false if there is none
  std::string reason;       ///< one line for people
};

/// Of one figure in several runs; NaN where a run has no value.
[[nodiscard]] ExpectationOutcome judge_expectation(const Expectation& expectation, std::span<const double> values);
/// Of the replicas that ran.
[[nodiscard]] std::vector<ExpectationOutcome> judge_expectations(std::span<const Expectation> expectations,
                                                                 std::span<const Replica> replicas);
[[nodiscard]] bool all_met(std::span<const ExpectationOutcome> outcomes);

/// A line for each.
[[nodiscard]] std::string expectations_text(std::span<const ExpectationOutcome> outcomes);
/// Appends the member `expectations` to an object that has begun.
void write_expectations(JsonWriter& json, std::span<const ExpectationOutcome> outcomes);

}  // namespace contend
