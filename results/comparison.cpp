#include "results/comparison.hpp"

#include "results/result_columns.hpp"
#include "results/tested_changes.hpp"

#include <algorithm>
#include <cmath>

namespace contend {
namespace {

std::vector<double> values_of(const Metric& metric, std::span<const Replica> replicas) {
  std::vector<double> values;
  for (const Replica& replica : replicas) values.push_back(metric.value(replica.summary));
  return values;
}

bool same_seeds(std::span<const Replica> a, std::span<const Replica> b) {
  return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                  [](const Replica& x, const Replica& y) { return x.seed == y.seed; });
}

}  // namespace

const Estimate& ComparisonRow::figure(std::string_view metric_name) const {
  return figures[static_cast<std::size_t>(&metric(metric_name) - metrics().data())];
}

std::vector<ComparisonRow> compare(std::span<const std::vector<Replica>> scenarios) {
  std::vector<ComparisonRow> rows;
  const Metric& jct = metric("avg_jct_s");
  std::vector<MetricChange> changes;
  for (const std::vector<Replica>& replicas : scenarios) {
    ComparisonRow row;
    MetricChange change{&jct, {}};
    for (const Metric& metric : metrics())
      row.figures.push_back(estimate(values_of(metric, replicas), draws_of(replicas)));
    if (same_seeds(scenarios.front(), replicas)) {
      const std::vector<double> own = values_of(jct, replicas), first = values_of(jct, scenarios.front());
      row.jct_ratio = paired_ratio(own, first, draws_of(replicas));
      row.jct_ratio_of_means = ratio_of_means(own, first, draws_of(replicas));
      if (!rows.empty()) change.change = paired_change(first, own, draws_of(replicas));
    }
    changes.push_back(change);
    rows.push_back(std::move(row));
  }
  std::vector<MetricChange*> all;
  for (MetricChange& each : changes) all.push_back(&each);
  test_together(all);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].p_value = changes[i].p_value;
  return rows;
}

std::size_t tests_of(std::span<const ComparisonRow> rows) {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [](const ComparisonRow& row) { return !std::isnan(row.p_value); }));
}

}  // namespace contend
