#include "results/tested_changes.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

double chance_of_none(const ChangeEstimate& change) {
  if (std::isnan(change.error) || !std::isfinite(change.value) || (change.error == 0 && change.value == 0)) return kNaN;
  return std::min(1.0, 2 * std::min(change.chance_beyond(0, true), change.chance_beyond(0, false)));
}

bool is_told_relative(const Metric& metric) {
  return metric.unit == "s" || metric.unit == "per_s";
}

const ChangeEstimate& told_change(const MetricChange& change) {
  return is_told_relative(*change.metric) ? change.change.relative : change.change.difference;
}

TestedRatio tested_ratio(std::span<const double> own, std::span<const double> base, Draws draws) {
  const ChangeEstimate change = paired_change(base, own, draws).relative;
  return {.geometric = paired_ratio(own, base, draws),
          .of_means = ratio_of_means(own, base, draws),
          .detectable = change.detectable_beside_none(),
          .p_value = chance_of_none(change)};
}

namespace {

/// Corrects the p-values of all these tests.
template <class Tested>
std::size_t correct_all(std::span<Tested* const> tested) {
  std::vector<double> p_values;
  for (const Tested* each : tested) p_values.push_back(each->p_value);
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->p_value = adjusted[i];
  return static_cast<std::size_t>(std::ranges::count_if(adjusted, [](double p) { return !std::isnan(p); }));
}

}  // namespace

std::size_t test_together(std::span<MetricChange* const> changes) {
  for (MetricChange* each : changes) each->p_value = chance_of_none(told_change(*each));
  return correct_all(changes);
}

std::size_t test_together(std::span<TestedRatio* const> ratios) {
  return correct_all(ratios);
}

}  // namespace contend
