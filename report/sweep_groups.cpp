#include "report/sweep_groups.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace contend {

SweepLevels levels_of(const SweepData::Parameter& parameter) {
  const auto key = [&](std::size_t row) {
    const double number = parameter.numbers[row];
    return std::tuple{std::isnan(number), std::isnan(number) ? 0.0 : number, parameter.values[row]};
  };
  std::map<std::tuple<bool, double, std::string>, std::size_t> order;
  for (std::size_t row = 0; row < parameter.values.size(); ++row) order[key(row)] = 0;
  SweepLevels levels;
  for (auto& [level, index] : order) {
    index = levels.names.size();
    levels.names.push_back(std::get<2>(level).empty() ? "(none)" : std::get<2>(level));
    levels.numbers.push_back(std::get<0>(level) ? NAN : std::get<1>(level));
  }
  for (std::size_t row = 0; row < parameter.values.size(); ++row) levels.of_row.push_back(order[key(row)]);
  return levels;
}

const SweepData::Parameter& parameter_of(const SweepData& data, const std::string& key) {
  const auto at = std::ranges::find(data.parameters, key, &SweepData::Parameter::key);
  CONTEND_CHECK(at != data.parameters.end(), "choose_axes() names parameters of the sweep");
  return *at;
}

const SweepData::Metric& metric_of(const SweepData& data, const std::string& name) {
  const auto at = std::ranges::find(data.metrics, name, [](const auto& metric) { return metric.description.name; });
  CONTEND_CHECK(at != data.metrics.end(), "choose_axes() names a metric of the sweep");
  return *at;
}

Estimate SweepGroup::figure() const {
  std::vector<double> means;
  for (const auto& [seed, values] : by_seed)
    if (values.size() == points.size() + waiting) means.push_back(mean(values));
  return estimate(means);
}

std::vector<std::vector<SweepGroup>> grouped(const SweepData& data, const std::vector<double>& values,
                                             const SweepLevels& x, const SweepLevels& by,
                                             const std::vector<bool>& only) {
  std::vector<std::vector<SweepGroup>> groups(by.names.size(), std::vector<SweepGroup>(x.names.size()));
  for (std::size_t row = 0; row < x.of_row.size(); ++row) {
    if (!only.empty() && !only[row]) continue;
    SweepGroup& group = groups[by.of_row[row]][x.of_row[row]];
    if (row >= data.runs()) {
      ++group.waiting;
      continue;
    }
    group.points.insert(data.points[row]);
    if (!std::isnan(values[row])) group.by_seed[data.seeds[row]].push_back(values[row]);
  }
  return groups;
}

}  // namespace contend
