#pragma once
// Figures of a run held against a level, as people write it: `avg_jct > 1%`, `"< 2h"`, `gpu_utilisation >= 95%`. What
// the expectations of a scenario and the rules of a comparison have in common.

#include "results/result_columns.hpp"
#include "text/quantities.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

enum class Relation : std::uint8_t { less, at_most, equal, at_least, more };

/// `<`, `<=`, empty, `>=` or `>`.
[[nodiscard]] std::string_view to_string(Relation relation);
/// False if `value` is no number.
[[nodiscard]] bool holds(double value, Relation relation, double level);
/// The relation that begins `text`, and its length; nothing if it begins with none.
[[nodiscard]] std::optional<std::pair<Relation, std::size_t>> leading_relation(std::string_view text);

/// The name without the suffix of its unit, which a level brings along: `avg_jct`.
[[nodiscard]] std::string_view short_name(const Metric& metric);
/// By its short or its full name; nullptr if there is none. `known`: those of jobs, or study_metrics().
[[nodiscard]] const Metric* find_metric(std::string_view name, std::span<const Metric> known = metrics());
/// `did you mean ...?`, or how to see all names.
[[nodiscard]] std::string metric_hint(const std::string& word, std::span<const Metric> known = metrics());

/// A level in the unit of its metric, and as it is printed: the same text for the same level.
struct MetricLevel {
  double value = 0;
  std::string text;
  bool operator==(const MetricLevel&) const = default;
};
/// A time with its unit; a share such as `95%` or 0.95; a whole number of jobs. Nothing is negative.
[[nodiscard]] Parsed<MetricLevel> parse_level(const Metric& metric, std::string_view text);

/// A decimal such as `12`, `-0.5`, `1e-05`; nothing if it is none or has other signs around it.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace contend
