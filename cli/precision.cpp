#include "cli/precision.hpp"

#include "cli/interrupt.hpp"
#include "cli/text_table.hpp"
#include "results/comparison.hpp"
#include "results/metric_bound.hpp"
#include "results/paired_change.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "sim/fields.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kMostSeeds = 320, kMostSeedsLimit = 100'000;

/// The widest of the intervals that are to be precise; NaN if one has no value.
double widest_of(const Metric& metric, std::span<const std::vector<Replica>> results) {
  std::vector<SeededFigure> figures;
  for (const std::vector<Replica>& each : results) figures.push_back(seeded_figure(metric, each));
  if (figures.size() == 1) return half_width_of(estimate(figures.front().values, figures.front().draws));
  double widest = 0;
  const std::vector<std::optional<TestedRatio>> ratios = ratios_to_first(figures);
  for (std::size_t i = 1; i < ratios.size(); ++i) {
    const double half_width = ratios[i] ? half_width_of(ratios[i]->geometric) : kNaN;
    if (std::isnan(half_width)) return kNaN;
    widest = std::max(widest, half_width);
  }
  return widest;
}

}  // namespace

std::size_t Precision::seeds_to_add(double half_width, std::size_t seeds) const {
  constexpr double kMore = 1.25;
  if (half_width <= share || seeds >= most_seeds || (std::isnan(half_width) && seeds > 1)) return 0;
  const auto now = static_cast<double>(seeds);
  const double asked = std::isnan(half_width) ? 0 : now * std::pow(half_width / share, 2);
  const double next = std::min(std::max(asked, kMore * now), static_cast<double>(most_seeds));
  return static_cast<std::size_t>(std::ceil(next)) - seeds;
}

std::string Precision::reached(double half_width, std::size_t seeds, bool several) const {
  const std::string begin = fmt::format("{} seeds: ", seeds);
  if (std::isnan(half_width))
    return begin + fmt::format("the {} has no interval, because a run has no value of it", metric->title);
  return begin + fmt::format("the {}95% interval of the {} is within {:.2g}% of it{}", several ? "widest " : "",
                             metric->title, kPercent * half_width,
                             half_width <= share ? "" : fmt::format(", not within the {} asked for", text));
}

std::optional<Precision> precision_of(const Arguments& arguments) {
  const auto text = arguments.value("until-precise");
  const auto most = arguments.whole_number("most-seeds", 2, kMostSeedsLimit);
  if (!text) {
    if (most) throw UsageError{"--most-seeds needs --until-precise"};
    return std::nullopt;
  }
  Precision wanted;
  wanted.metric = &metric("avg_jct_s");
  wanted.most_seeds = most.value_or(kMostSeeds);
  const std::size_t equals = text->find('=');
  wanted.text = std::string{trimmed(equals == std::string::npos ? *text : text->substr(equals + 1))};
  if (equals != std::string::npos) {
    const std::string name{trimmed(std::string_view{*text}.substr(0, equals))};
    wanted.metric = find_metric(name);
    if (wanted.metric == nullptr)
      throw UsageError{fmt::format("--until-precise: unknown metric \"{}\"; {}", name, metric_hint(name))};
  }
  if (wanted.text.ends_with('%'))
    if (const auto percent = parse_decimal(trimmed(std::string_view{wanted.text}.substr(0, wanted.text.size() - 1)));
        percent && *percent > 0) {
      wanted.share = *percent / kPercent;
      return wanted;
    }
  throw UsageError{fmt::format("--until-precise: expected a share such as 2%, got \"{}\"", *text)};
}

void check_precision(const Precision& wanted, const WorkloadSetup& workload, const IterationStudy& study, int repeat) {
  if (!draws_jobs(workload, study) || draws_of(workload) == Draws::resamples)
    throw UsageError{
        "--until-precise needs scenarios that draw their jobs; more resamples say no more about a job list"};
  if (wanted.most_seeds < static_cast<std::size_t>(repeat))
    throw UsageError{fmt::format("--most-seeds: expected at least the {} seeds with which it begins, got {}", repeat,
                                 wanted.most_seeds)};
}

int first_seeds(const Arguments& arguments, int repeat) {
  return repeat > 1 || arguments.has("repeat") ? repeat : static_cast<int>(kUsualPairs);
}

double half_width_of(const RatioEstimate& ratio) {
  return (std::log(ratio.high) - std::log(ratio.low)) / 2;
}

double half_width_of(const Estimate& mean) {
  return mean.half_width == 0 ? 0 : mean.half_width / std::abs(mean.mean);
}

std::optional<std::string> run_until_precise(const Precision& wanted, std::vector<Scenario>& scenarios,
                                             std::vector<std::vector<Replica>>& results, const MoreRuns& run) {
  for (;;) {
    if (interrupted()) return std::nullopt;
    const std::size_t seeds = results.front().size();
    const double half_width = widest_of(*wanted.metric, results);
    const std::size_t more = wanted.seeds_to_add(half_width, seeds);
    for (Scenario& each : scenarios) each.repeat = static_cast<int>(seeds);
    if (more == 0) return wanted.reached(half_width, seeds, results.size() > 2);
    std::vector<Scenario> further = scenarios;
    for (Scenario& each : further) {
      each.seed += seeds;
      each.repeat = static_cast<int>(more);
    }
    std::vector<std::vector<Replica>> added = run(further);
    if (interrupted()) return std::nullopt;
    for (std::size_t i = 0; i < results.size(); ++i) std::ranges::move(added[i], std::back_inserter(results[i]));
  }
}

}  // namespace contend
