#pragma once
// Expected figures of a run (`expect` of a scenario), and the check whether a run meets them.

#include "results/metric_bound.hpp"
#include "results/replica.hpp"
#include "text/json_writer.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// A bound on one figure: a relation to a level, or a closed interval.
struct Expectation {
  std::string metric;  ///< its full name
  Relation relation = Relation::equal;
  MetricLevel level;
  std::optional<MetricLevel> upper;  ///< upper end of an interval that begins at `level`; `relation` is then ignored
  bool operator==(const Expectation&) const = default;
};

/// The expectation as text: `avg_jct < 2h`, `finished = 160`, `p95_jct in [10min, 3h]`.
[[nodiscard]] std::string to_string(const Expectation& expectation);

/// The verdict on one expectation.
struct ExpectationOutcome {
  std::string expectation;  ///< its text
  double value = 0;         ///< the mean over replicas
  double half_width = 0;    ///< of its 95% Student-t interval; NaN for a single replica
  bool met = false;         ///< the mean meets the expectation; false if there is no mean
  std::string reason;       ///< one line for people
};

/// Checks one expectation against the figure's values in several runs; NaN is a run without a value.
[[nodiscard]] ExpectationOutcome judge_expectation(const Expectation& expectation, std::span<const double> values,
                                                   Draws draws = Draws::independent);
/// Checks all expectations against the replicas that ran.
[[nodiscard]] std::vector<ExpectationOutcome> judge_expectations(std::span<const Expectation> expectations,
                                                                 std::span<const Replica> replicas);
[[nodiscard]] bool all_met(std::span<const ExpectationOutcome> outcomes);

/// The outcomes as text, one line each.
[[nodiscard]] std::string expectations_text(std::span<const ExpectationOutcome> outcomes);
/// Appends the members of one outcome to an open JSON object.
void write_members(JsonWriter& json, const ExpectationOutcome& outcome);
/// Appends the member `expectations` to an open JSON object.
void write_expectations(JsonWriter& json, std::span<const ExpectationOutcome> outcomes);

}  // namespace contend
