#include "report/distributions.hpp"
#include "report/run_figures.hpp"
#include "report/sweep_names.hpp"
#include "results/result_columns.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace contend {
namespace {

FigureSeries empty_series(std::string name, SeriesMark mark) {
  return {.name = std::move(name), .mark = mark, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
}

FigureAxis names_axis(std::span<const RunFolder> folders) {
  FigureAxis axis{.title = "run", .unit = "", .categories = {}};
  for (const RunFolder& folder : folders) axis.categories.push_back(folder.name);
  return axis;
}

/// One metric for all folders, as means with their intervals.
Figure metric_figure(std::span<const RunFolder> folders, const Metric& metric) {
  FigureSeries series = empty_series(std::string{metric.title}, SeriesMark::dots);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    std::vector<double> values;
    for (const RunFolder::Run& run : folders[i].runs) {
      const auto at = run.figures.find(metric.name);
      values.push_back(at == run.figures.end() ? NAN : at->second);
    }
    const Estimate figure = estimate(values, draws_of(folders[i].scenario.workload));
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(figure.mean);
    series.low.push_back(figure.mean - figure.half_width);
    series.high.push_back(figure.mean + figure.half_width);
  }
  const bool intervals = std::ranges::any_of(series.low, [](double low) { return !std::isnan(low); });
  if (!intervals) series.low = series.high = {};
  return {.id = "metric-" + std::string{metric.name},
          .title = capitalised(std::string{metric.title}),
          .caption = fmt::format("{}{}.", capitalised(std::string{metric.text}),
                                 intervals ? "; mean over replicas with its 95% Student-t interval" : ""),
          .plot = XyPlot{.x = names_axis(folders),
                         .y = {.title = std::string{metric.title},
                               .unit = std::string{metric.unit},
                               .from_zero = true,
                               .categories = {}},
                         .series = {std::move(series)}}};
}

Figure all_curves(std::span<const RunFolder> folders) {
  XyPlot plot{.x = {.title = "JCT", .unit = "s", .logarithmic = true, .categories = {}},
              .y = {.title = "share of jobs", .unit = "share", .from_zero = true, .categories = {}},
              .series = {}};
  for (const RunFolder& folder : folders) plot.series.push_back(cumulative(folder.name, folder.jobs.numbers("jct_s")));
  return {.id = "jct-cdf",
          .title = "Completion times",
          .caption = "Share of the finished jobs of all replicas that took at most so long.",
          .plot = std::move(plot)};
}

Figure all_boxes(std::span<const RunFolder> folders) {
  BoxPlot plot{
      .group_title = "run", .y = {.title = "JCT", .unit = "s", .logarithmic = true, .categories = {}}, .groups = {}};
  for (const RunFolder& folder : folders) {
    std::vector<double> jct = folder.jobs.numbers("jct_s");
    if (std::ranges::any_of(jct, [](double each) { return !std::isnan(each); }))
      plot.groups.push_back(box_of(folder.name, std::move(jct)));
  }
  return {
      .id = "jct-box",
      .title = "Completion times side by side",
      .caption = "Box: quartiles and median. Whiskers: the outermost jobs within 1.5 quartile ranges; dots: the rest.",
      .plot = std::move(plot)};
}

const RunFolder::Run* run_with_seed(const RunFolder& folder, std::uint64_t seed) {
  const auto at = std::ranges::find(folder.runs, seed, &RunFolder::Run::seed);
  return at == folder.runs.end() ? nullptr : &*at;
}

/// The completion times of one replica's jobs, by job name.
std::map<std::string, double> jct_by_job(const RunFolder& folder, const RunFolder::Run& run) {
  std::map<std::string, double> jct;
  const PackedColumn& names = folder.jobs.texts("job_id");
  const std::vector<double> times = folder.jobs.numbers("jct_s");
  for (const std::size_t row : folder.rows_of(folder.jobs, run)) jct[std::string{names[row]}] = times[row];
  return jct;
}

struct PairedJobs {
  std::vector<std::string> names;
  std::vector<double> before, after;
  std::uint64_t seed = 0;
};

/// The jobs that finished in both runs.
PairedJobs pair_jobs(const RunFolder& first, const RunFolder& other) {
  PairedJobs pairs;
  for (const RunFolder::Run& run : first.runs) {
    const RunFolder::Run* partner = run_with_seed(other, run.seed);
    if (partner == nullptr) continue;
    const std::map<std::string, double> before = jct_by_job(first, run), after = jct_by_job(other, *partner);
    pairs.seed = run.seed;
    for (const auto& [name, time] : before) {
      const auto at = after.find(name);
      if (at == after.end() || std::isnan(time) || std::isnan(at->second)) continue;
      pairs.names.push_back(name);
      pairs.before.push_back(time);
      pairs.after.push_back(at->second);
    }
    break;
  }
  return pairs;
}

Figure scatter(const RunFolder& first, const RunFolder& other, const PairedJobs& pairs, std::size_t index) {
  FigureSeries series = empty_series(other.name, SeriesMark::dots);
  series.x = pairs.before;
  series.y = pairs.after;
  series.labels = pairs.names;
  return {.id = fmt::format("jobs-{}", index),
          .title = fmt::format("JCT of each job: {} against {}", other.name, first.name),
          .caption =
              fmt::format("A dot a job under seed {}; below the line it ends sooner under {}.", pairs.seed, other.name),
          .plot = XyPlot{.x = {.title = first.name, .unit = "s", .logarithmic = true, .categories = {}},
                         .y = {.title = other.name, .unit = "s", .logarithmic = true, .categories = {}},
                         .series = {std::move(series)},
                         .diagonal = true}};
}

Figure winners(const RunFolder& first, const RunFolder& other, const PairedJobs& pairs, std::size_t index) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < pairs.names.size(); ++i)
    if (pairs.before[i] > 0 && pairs.after[i] > 0) order.push_back(i);
  const auto ratio = [&](std::size_t i) { return pairs.after[i] / pairs.before[i]; };
  std::ranges::stable_sort(order, {}, ratio);
  FigureSeries sooner = empty_series("sooner", SeriesMark::bars), later = empty_series("later", SeriesMark::bars);
  std::size_t same = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double value = ratio(order[rank]);
    if (value == 1) ++same;
    FigureSeries& into = value < 1 ? sooner : later;
    into.x.push_back(static_cast<double>(rank + 1));
    into.y.push_back(value);
    into.labels.push_back(pairs.names[order[rank]]);
  }
  const std::size_t won = sooner.x.size(), lost = later.x.size() - same;
  return {
      .id = fmt::format("winners-{}", index),
      .title = fmt::format("Who wins and who loses: {} against {}", other.name, first.name),
      .caption = fmt::format("JCT under {} over JCT under {}, job by job, sorted: {} jobs end sooner, {} later, {} at "
                             "the same time.",
                             other.name, first.name, won, lost, same),
      .plot = XyPlot{.x = {.title = "job, by rank", .unit = "", .categories = {}},
                     .y = {.title = "JCT ratio", .unit = "", .logarithmic = true, .categories = {}},
                     .series = {std::move(sooner), std::move(later)},
                     .base = 1}};
}

}  // namespace

std::vector<Figure> comparison_figures(std::span<const RunFolder> folders) {
  std::vector<Figure> figures;
  for (const std::string_view name : {"avg_jct_s", "p95_jct_s", "makespan_s", "gpu_utilisation"})
    figures.push_back(metric_figure(folders, metric(name)));
  figures.push_back(all_curves(folders));
  Figure boxes = all_boxes(folders);
  if (!std::get<BoxPlot>(boxes.plot).groups.empty()) figures.push_back(std::move(boxes));
  for (std::size_t i = 1; i < folders.size(); ++i) {
    const PairedJobs pairs = pair_jobs(folders.front(), folders[i]);
    if (pairs.names.empty()) continue;
    figures.push_back(scatter(folders.front(), folders[i], pairs, i));
    figures.push_back(winners(folders.front(), folders[i], pairs, i));
  }
  std::ranges::for_each(figures, say_what_is_left_out);
  return figures;
}

}  // namespace contend
