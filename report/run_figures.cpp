#include "report/run_figures.hpp"

#include "report/distributions.hpp"
#include "report/fabric_figures.hpp"
#include "report/sweep_names.hpp"
#include "scenarios/run/run_scenario.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kHeatRows = 64;

FigureAxis time_axis() {
  return {.title = "time", .unit = "s", .categories = {}};
}
FigureAxis share_axis(std::string title) {
  return {.title = std::move(title), .unit = "share", .from_zero = true, .categories = {}};
}
FigureAxis jct_axis() {
  return {.title = "JCT", .unit = "s", .logarithmic = true, .categories = {}};
}
FigureSeries series_of(std::string name, SeriesMark mark) {
  return {.name = std::move(name), .mark = mark, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
}

/// The GPUs of each row of Replay::gpu_busy.
std::vector<std::size_t> observed_gpus_of(const RunFolder& folder) {
  const Scenario& scenario = folder.scenario;
  return observed_gpus(scenario.cluster, scenario.network, scenario.overlap);
}
std::vector<std::size_t> one_each(const BusyBins& bins) {
  return std::vector<std::size_t>(bins.rows(), 1);
}

/// The utilisation over all rows, bin by bin; `devices` says how many devices each row represents.
FigureSeries busy_series(std::string name, const BusyBins& bins, std::span<const std::size_t> devices, Time end) {
  const double all = static_cast<double>(std::accumulate(devices.begin(), devices.end(), std::size_t{0}));
  FigureSeries series = series_of(std::move(name), SeriesMark::step);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    GpuTime busy;
    for (std::size_t row = 0; row < bins.rows(); ++row) busy += GpuTime{bins.busy(row, i), 1};
    const Time start = bins.width() * static_cast<std::int64_t>(i);
    const Time length = std::min(bins.width(), end - start);
    series.x.push_back(start.to_seconds());
    series.y.push_back(busy.to_seconds() / (length.to_seconds() * all));
  }
  series.x.push_back(end.to_seconds());
  series.y.push_back(series.y.empty() ? 0 : series.y.back());
  return series;
}

Figure utilisation(const RunFolder& folder, const Replay& replay) {
  XyPlot plot{.x = time_axis(), .y = share_axis("utilisation"), .series = {}};
  plot.series.push_back(busy_series("GPUs", replay.gpu_busy, observed_gpus_of(folder), replay.end));
  plot.series.push_back(busy_series("network interfaces", replay.nic_busy, one_each(replay.nic_busy), replay.end));
  return {.id = "utilisation",
          .title = "Utilisation of GPUs and interfaces",
          .caption = fmt::format("Share of GPU time that executed compute operations or that jobs with a duration "
                                 "held, and of the time of all interfaces "
                                 "with at least one transfer, in bins of {}.",
                                 time_text(replay.gpu_busy.width().to_seconds())),
          .plot = std::move(plot)};
}

/// One row for each server, or for several neighbouring servers if there are many; `devices` as busy_series() has it.
HeatMap server_heat(const BusyBins& bins, std::span<const std::size_t> devices, Time end) {
  HeatMap map;
  map.x = time_axis();
  map.value_title = "busy";
  map.value_unit = "share";
  map.high = 1;
  // An even number of bins becomes one so that a map has some 250 columns.
  const std::size_t fold = 1 + bins.size() / 250, together = 1 + (bins.rows() - 1) / kHeatRows;
  map.columns = (bins.size() + fold - 1) / fold;
  const Time step = bins.width() * static_cast<std::int64_t>(fold);
  map.x_step = step.to_seconds();
  map.y.title = together == 1 ? "server" : "servers";
  for (std::size_t row = 0; row < bins.rows(); row += together) {
    const std::size_t last = std::min(bins.rows(), row + together);
    const auto of_row = devices.subspan(row, last - row);
    const double all = static_cast<double>(std::accumulate(of_row.begin(), of_row.end(), std::size_t{0}));
    map.y.categories.push_back(last == row + 1 ? fmt::format("{}", row) : fmt::format("{}-{}", row, last - 1));
    for (std::size_t column = 0; column < map.columns; ++column) {
      GpuTime busy;
      for (std::size_t r = row; r < last; ++r)
        for (std::size_t i = column * fold; i < std::min(bins.size(), (column + 1) * fold); ++i)
          busy += GpuTime{bins.busy(r, i), 1};
      const Time length = std::min(step, end - step * static_cast<std::int64_t>(column));
      map.values.push_back(std::round(1e4 * busy.to_seconds() / (length.to_seconds() * all)) / 1e4);
    }
  }
  return map;
}

/// A heat map of the links with the highest utilisation.
Figure link_heat(const NetworkReport& fabric, Time end) {
  std::vector<std::size_t> links(fabric.links.size());
  std::iota(links.begin(), links.end(), std::size_t{0});
  std::ranges::stable_sort(
      links, [&](std::size_t a, std::size_t b) { return fabric.links[a].utilisation > fabric.links[b].utilisation; });
  std::erase_if(links, [&](std::size_t link) { return fabric.links[link].bytes <= 0; });
  const std::size_t used = links.size();
  links.resize(std::min(links.size(), kHeatRows / 2));
  HeatMap map;
  map.x = time_axis();
  map.y.title = "link";
  map.value_title = "utilisation";
  map.value_unit = "share";
  map.high = 1;
  const auto intervals = static_cast<std::size_t>((end.ns() + fabric.interval.ns() - 1) / fabric.interval.ns());
  const std::size_t fold = 1 + intervals / 250;
  map.columns = (intervals + fold - 1) / fold;
  map.x_step = (fabric.interval * static_cast<std::int64_t>(fold)).to_seconds();
  std::vector<std::size_t> row_of(fabric.links.size(), SIZE_MAX);
  for (std::size_t row = 0; row < links.size(); ++row) {
    row_of[links[row]] = row;
    map.y.categories.push_back(fabric.links[links[row]].name);
  }
  map.values.assign(links.size() * map.columns, 0.0);
  for (const LinkSample& sample : fabric.samples) {
    if (row_of[sample.link] == SIZE_MAX) continue;
    const auto column = static_cast<std::size_t>(sample.start.ns() / fabric.interval.ns()) / fold;
    if (column >= map.columns) continue;
    const std::size_t together = std::min(fold, intervals - column * fold);  // fewer in the last column
    map.values[row_of[sample.link] * map.columns + column] += sample.utilisation / static_cast<double>(together);
  }
  const double step = map.x_step;
  return {.id = "links",
          .title = "Utilisation of links over time",
          .caption = fmt::format("Bytes over what a link could have carried; the {} busiest of {} links that carried "
                                 "anything, averaged over {}.",
                                 links.size(), used, time_text(step)),
          .plot = std::move(map)};
}

std::vector<double> pick(const std::vector<double>& values, const std::vector<std::size_t>& rows) {
  std::vector<double> picked;
  for (const std::size_t row : rows) picked.push_back(values[row]);
  return picked;
}

Figure queue(const RunFolder& folder, const RunFolder::Run& run) {
  const std::vector<std::size_t> rows = folder.rows_of(folder.jobs, run);
  const auto column = [&](std::string_view name) { return pick(folder.jobs.numbers(name), rows); };
  const std::vector<double> submit = column("submit_s"), start = column("start_s");
  std::vector<double> finish = column("finish_s");
  const std::vector<double> ones(rows.size(), 1.0);
  XyPlot plot{.x = time_axis(), .y = {.title = "jobs", .unit = "", .from_zero = true, .categories = {}}, .series = {}};
  std::vector<double> queued = submit;
  // A job that failed at once was never in the queue.
  const PackedColumn& states = folder.jobs.texts("state");
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (states[rows[i]] == "failed") queued[i] = NAN;
  plot.series.push_back(occupancy("waiting for their first start", queued, start, ones, run.end_s));
  plot.series.push_back(occupancy("started and not finished", start, finish, ones, run.end_s));
  return {.id = "queue",
          .title = "Jobs in the queue and at work",
          .caption = "Jobs that were submitted and have not started yet, and jobs between first start and completion.",
          .plot = std::move(plot)};
}

Figure jct_curve(const RunFolder& folder, const std::vector<double>& jct) {
  XyPlot plot{.x = jct_axis(), .y = share_axis("share of jobs"), .series = {}};
  plot.x.title = "time";
  plot.series.push_back(cumulative("completion (JCT)", jct));
  std::vector<double> queueing = folder.jobs.numbers("queueing_s");
  const std::size_t at_once = static_cast<std::size_t>(std::ranges::count(queueing, 0.0));
  const bool any = std::ranges::any_of(queueing, [](double q) { return q > 0; });
  if (any) plot.series.push_back(cumulative("queueing", std::move(queueing)));
  return {
      .id = "jct-cdf",
      .title = "Completion times",
      .caption = fmt::format("Share of jobs that took at most so long, over {}. {} of {} jobs started at once.",
                             folder.runs.size() == 1 ? "the run" : fmt::format("all {} replicas", folder.runs.size()),
                             at_once, folder.jobs.rows()),
      .plot = std::move(plot)};
}

/// Completion times grouped by another column, in natural order.
Figure jct_boxes(const RunFolder& folder, const std::vector<double>& jct, std::string_view column,
                 const std::string& title, std::string id) {
  struct Order {
    bool operator()(const std::string& a, const std::string& b) const { return natural_less(a, b); }
  };
  const PackedColumn& by = folder.jobs.texts(column);
  std::map<std::string, std::vector<double>, Order> groups;
  std::map<std::string_view, std::vector<double>*> known;  // natural order takes long to find a group for each job
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (std::isnan(jct[i])) continue;
    std::vector<double>*& group = known[by[i]];
    if (group == nullptr) group = &groups[std::string{by[i]}];
    group->push_back(jct[i]);
  }
  BoxPlot plot{.group_title = title, .y = jct_axis(), .groups = {}};
  for (const auto& [name, values] : groups) plot.groups.push_back(box_of(name, values));
  return {
      .id = std::move(id),
      .title = "Completion times by " + title,
      .caption = "Box: quartiles and median. Whiskers: the outermost jobs within 1.5 quartile ranges; dots: the rest.",
      .plot = std::move(plot)};
}

std::vector<Figure> all_figures(const RunFolder& folder, const RunFolder::Run& run, const Replay* replay) {
  std::vector<Figure> figures;
  if (folder.scenario.overlap.given()) return figures;  // its jobs have nothing to do with each other
  if (replay != nullptr && replay->end > Time{}) figures.push_back(utilisation(folder, *replay));
  figures.push_back(queue(folder, run));
  const auto jct = folder.jobs.numbers("jct_s");
  const bool finished = std::ranges::any_of(jct, [](double each) { return each > 0; });
  if (finished) {
    figures.push_back(jct_curve(folder, jct));
    figures.push_back(jct_boxes(folder, jct, "gpus", "number of GPUs", "jct-by-gpus"));
    figures.push_back(jct_boxes(folder, jct, "model", "model", "jct-by-model"));
  }
  if (folder.delays) {
    for (Figure& figure : delay_figures(folder, run)) figures.push_back(std::move(figure));
  }
  if (replay == nullptr) return figures;
  const auto any = [](const BusyBins& bins) {
    for (std::size_t row = 0; row < bins.rows(); ++row)
      for (std::size_t i = 0; i < bins.size(); ++i)
        if (bins.busy(row, i) > Time{}) return true;
    return false;
  };
  if (any(replay->gpu_busy))
    figures.push_back({.id = "gpu-heat",
                       .title = "GPU utilisation by server",
                       .caption = "Share of the time of its GPUs in which they executed compute operations or jobs "
                                  "with a duration held them.",
                       .plot = server_heat(replay->gpu_busy, observed_gpus_of(folder), replay->end)});
  if (any(replay->nic_busy))
    figures.push_back({.id = "nic-heat",
                       .title = "Interface utilisation by server",
                       .caption = "Share of time with at least one transfer.",
                       .plot = server_heat(replay->nic_busy, one_each(replay->nic_busy), replay->end)});
  if (!replay->fabric.samples.empty()) figures.push_back(link_heat(replay->fabric, replay->end));
  if (std::optional<Figure> shares = link_shares(folder, run, *replay)) figures.push_back(std::move(*shares));
  return figures;
}

}  // namespace

std::vector<Figure> run_figures(const RunFolder& folder, const RunFolder::Run& run, const Replay* replay) {
  std::vector<Figure> figures = all_figures(folder, run, replay);
  std::ranges::for_each(figures, say_what_is_left_out);
  return figures;
}

}  // namespace contend
