#include "scenarios/sweep/sweep_columns.hpp"

#include "results/result_columns.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace contend {

StoreParameter parameter_column(const std::string& key, std::span<const std::optional<PlainValue>> values) {
  StoreParameter parameter;
  parameter.key = key;
  parameter.column = key;
  std::replace(parameter.column.begin(), parameter.column.end(), '.', '_');
  bool whole = true, number = true, any = false;
  std::vector<std::string_view> units;
  for (const auto& value : values) {
    if (!value) continue;
    any = true;
    const std::optional<Magnitude>& magnitude = value->magnitude;
    number = number && magnitude && !is_quantity(*magnitude);
    whole = whole && magnitude && is_integer(*magnitude);
    if (magnitude && is_quantity(*magnitude)) units.push_back(base_unit(*magnitude));
  }
  const bool one_unit =
      !units.empty() && std::all_of(units.begin(), units.end(), [&](auto u) { return u == units[0]; });
  if (any && number) {
    parameter.type = whole ? StoreParameter::Type::integer : StoreParameter::Type::number;
  } else if (one_unit) {
    parameter.type = StoreParameter::Type::quantity;
    parameter.unit = units[0];
    parameter.number_column = parameter.column + "_" + parameter.unit;
  }
  return parameter;
}

SqlValue column_value(const StoreParameter& parameter, const std::optional<PlainValue>& value) {
  if (!value) return {};
  switch (parameter.type) {
    case StoreParameter::Type::integer:
      return std::get<std::int64_t>(*value->magnitude);
    case StoreParameter::Type::number:
      return base_number(*value->magnitude);
    default:
      return value->text;
  }
}

double column_number(const StoreParameter& parameter, const std::optional<PlainValue>& value) {
  const bool has_number = parameter.type != StoreParameter::Type::text && value && value->magnitude;
  return has_number ? base_number(*value->magnitude) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<StoreMetric> store_metrics(std::span<const Metric> of) {
  std::vector<StoreMetric> all;
  for (const Metric& each : of)
    all.push_back({std::string{each.name}, std::string{each.title}, std::string{each.unit}, std::string{each.text}});
  return all;
}

}  // namespace contend
