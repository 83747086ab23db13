#include "results/metric_bound.hpp"

#include "sim/fields.hpp"
#include "text/words.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

struct Sign {
  std::string_view text;
  Relation relation;
};
// The longer ones first: `<` begins `<=`, too.
constexpr Sign kSigns[] = {{"<=", Relation::at_most},
                           {">=", Relation::at_least},
                           {"<", Relation::less},
                           {">", Relation::more},
                           {"", Relation::equal}};

constexpr double kMaxCount = 0x1p53;

Parsed<MetricLevel> parse_time_level(std::string_view text) {
  const Parsed<Time> time = parse_quantity<Time>(text);
  if (!time.value) return {std::nullopt, time.expected, time.hint};
  return {MetricLevel{time.value->to_seconds(), print_quantity(*time.value)}, {}, {}};
}

Parsed<MetricLevel> parse_share_level(std::string_view text) {
  constexpr double kPercent = 100;
  const bool percent = text.ends_with('%');
  const std::optional<double> number = parse_decimal(percent ? trimmed(text.substr(0, text.size() - 1)) : text);
  if (!number || *number < 0 || *number > (percent ? kPercent : 1)) {
    return {std::nullopt, "a share such as 95% or 0.95", "from 0% to 100%"};
  }
  // As it is written: 0.07 x 100 is not 7 in binary fractions.
  return {
      MetricLevel{percent ? *number / kPercent : *number, fmt::format("{}{}", *number, percent ? "%" : "")}, {}, {}};
}

Parsed<MetricLevel> parse_count_level(std::string_view text, std::string_view unit) {
  const std::optional<double> number = parse_decimal(text);
  if (!number || *number < 0 || *number > kMaxCount || std::floor(*number) != *number) {
    return {std::nullopt, fmt::format("a whole number of {}", unit), ""};
  }
  return {MetricLevel{*number, fmt::format("{:.0f}", *number)}, {}, {}};
}

}  // namespace

std::string_view to_string(Relation relation) {
  for (const Sign& sign : kSigns)
    if (sign.relation == relation) return sign.text;
  return {};
}

bool holds(double value, Relation relation, double level) {
  switch (relation) {
    case Relation::less:
      return value < level;
    case Relation::at_most:
      return value <= level;
    case Relation::at_least:
      return value >= level;
    case Relation::more:
      return value > level;
    case Relation::equal:
      break;
  }
  return value == level;
}

std::optional<std::pair<Relation, std::size_t>> leading_relation(std::string_view text) {
  for (const Sign& sign : kSigns)
    if (!sign.text.empty() && text.starts_with(sign.text)) return std::pair{sign.relation, sign.text.size()};
  return std::nullopt;
}

std::string_view short_name(const Metric& metric) {
  std::string_view name = metric.name;
  if (metric.unit == "per_s" && name.ends_with("_per_s")) name.remove_suffix(6);
  if (metric.unit == "s" && name.ends_with("_s")) name.remove_suffix(2);
  return name;
}

const Metric* find_metric(std::string_view name, std::span<const Metric> known) {
  for (const Metric& metric : known)
    if (name == metric.name || name == short_name(metric)) return &metric;
  return nullptr;
}

std::string metric_hint(const std::string& word, std::span<const Metric> known) {
  std::vector<std::string> names;
  for (const Metric& metric : known) names.emplace_back(short_name(metric));
  const std::string nearest = did_you_mean(word, names);
  if (!nearest.empty()) return nearest;
  return known.data() == metrics().data() ? "`contend list metrics` lists all" : "one of " + join(names);
}

Parsed<MetricLevel> parse_level(const Metric& metric, std::string_view text) {
  if (metric.unit == "s") return parse_time_level(text);
  if (metric.unit == "share") return parse_share_level(text);
  if (is_count(metric.unit)) return parse_count_level(text, metric.unit);
  const std::optional<double> number = parse_decimal(text);
  if (!number) return {std::nullopt, fmt::format("a number ({})", metric.unit), ""};
  return {MetricLevel{*number, fmt::format("{}", *number)}, {}, {}};
}

std::optional<double> parse_decimal(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace contend
