#include "results/tested_changes.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

double chance_of_none(const ChangeEstimate& change) {
  if (std::isnan(change.error) || !std::isfinite(change.value) || (change.error == 0 && change.value == 0)) return kNaN;
  return std::min(1.0, 2 * std::min(change.chance_beyond(0, true), change.chance_beyond(0, false)));
}

bool is_told_relative(const Metric& metric) {
  return metric.unit == "s";
}

const ChangeEstimate& told_change(const MetricChange& change) {
  return is_told_relative(*change.metric) ? change.change.relative : change.change.difference;
}

std::size_t test_together(std::span<MetricChange* const> changes) {
  std::vector<double> p_values;
  for (const MetricChange* each : changes) p_values.push_back(chance_of_none(told_change(*each)));
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < changes.size(); ++i) changes[i]->p_value = adjusted[i];
  return static_cast<std::size_t>(std::ranges::count_if(adjusted, [](double p) { return !std::isnan(p); }));
}

}  // namespace contend
