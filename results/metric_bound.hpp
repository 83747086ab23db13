#pragma once
// Parses bounds on figures as people write them: `avg_jct > 1%`, `"< 2h"`, `gpu_utilisation >= 95%`. The expectations
// of a scenario and the rules of a comparison share this code.

#include "results/result_columns.hpp"
#include "text/quantities.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace contend {

enum class Relation : std::uint8_t { less, at_most, equal, at_least, more };

/// The relation as a sign, `<`, `<=`, `>=` or `>`; empty for `equal`.
[[nodiscard]] std::string_view to_string(Relation relation);
/// True if the relation holds; false if `value` is NaN.
[[nodiscard]] bool holds(double value, Relation relation, double level);
/// The relation at the start of `text` and its length; nothing if there is none.
[[nodiscard]] std::optional<std::pair<Relation, std::size_t>> leading_relation(std::string_view text);

/// The metric's name without its unit suffix, because a level carries its own unit: `avg_jct`.
[[nodiscard]] std::string_view short_name(const Metric& metric);
/// Finds a metric by its short or full name; nullptr if there is none. `known` are all, or the group_metrics().
[[nodiscard]] const Metric* find_metric(std::string_view name, std::span<const Metric> known = metrics());
/// A hint after an unknown name: `did you mean ...?`, or how to list all names.
[[nodiscard]] std::string metric_hint(const std::string& word, std::span<const Metric> known = metrics());

/// A level in the unit of its metric, and its printed form; equal levels have equal text.
struct MetricLevel {
  double value = 0;
  std::string text;
  bool operator==(const MetricLevel&) const = default;
};
/// Parses a level >= 0: a time with its unit, a share such as `95%` or 0.95, or a whole number.
[[nodiscard]] Parsed<MetricLevel> parse_level(const Metric& metric, std::string_view text);

/// Parses a decimal such as `12`, `-0.5`, `1e-05`; nothing if the text is anything else.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);

}  // namespace contend
