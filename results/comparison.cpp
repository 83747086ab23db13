#include "results/comparison.hpp"

#include "results/result_columns.hpp"

#include <algorithm>
#include <cmath>

namespace contend {
namespace {

/// By replica, in the order of metrics().
std::vector<std::vector<double>> figures_of_replicas(std::span<const Replica> replicas) {
  std::vector<std::vector<double>> figures;
  for (const Replica& replica : replicas) figures.push_back(figures_of_run(replica.result, replica.summary));
  return figures;
}

std::vector<double> values_of(const Metric& metric, std::span<const std::vector<double>> figures) {
  std::vector<double> values;
  for (const std::vector<double>& run : figures) values.push_back(run[metric_index(metric)]);
  return values;
}

SeededFigure seeded_figure(const Metric& metric, std::span<const Replica> replicas,
                           std::span<const std::vector<double>> figures) {
  SeededFigure figure{{}, values_of(metric, figures), draws_of(replicas)};
  for (const Replica& each : replicas) figure.seeds.push_back(each.seed);
  return figure;
}

}  // namespace

SeededFigure seeded_figure(const Metric& metric, std::span<const Replica> replicas) {
  return seeded_figure(metric, replicas, figures_of_replicas(replicas));
}

const Estimate& ComparisonRow::figure(std::string_view metric_name) const {
  return figures[metric_index(metric(metric_name))];
}

std::vector<std::optional<TestedRatio>> ratios_to_first(std::span<const SeededFigure> sides) {
  std::vector<std::optional<TestedRatio>> ratios;
  for (const SeededFigure& side : sides) {
    std::optional<TestedRatio>& ratio = ratios.emplace_back();
    if (!side.seeds.empty() && side.seeds == sides.front().seeds)
      ratio = tested_ratio(side.values, sides.front().values, side.draws);
  }
  std::vector<TestedRatio*> tested;
  for (auto& each : ratios)
    if (each) tested.push_back(&*each);
  test_together(tested);
  return ratios;
}

std::vector<ComparisonRow> compare(std::span<const std::vector<Replica>> scenarios) {
  std::vector<ComparisonRow> rows;
  std::vector<SeededFigure> averages;
  for (const std::vector<Replica>& replicas : scenarios) {
    ComparisonRow& row = rows.emplace_back();
    const std::vector<std::vector<double>> figures = figures_of_replicas(replicas);
    for (const Metric& metric : metrics())
      row.figures.push_back(estimate(values_of(metric, figures), draws_of(replicas)));
    averages.push_back(seeded_figure(metric("avg_jct_s"), replicas, figures));
  }
  const std::vector<std::optional<TestedRatio>> ratios = ratios_to_first(averages);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].jct_ratio = ratios[i];
  return rows;
}

std::size_t tests_of(std::span<const ComparisonRow> rows) {
  return static_cast<std::size_t>(std::ranges::count_if(
      rows, [](const ComparisonRow& row) { return row.jct_ratio && !std::isnan(row.jct_ratio->p_value); }));
}

}  // namespace contend
