#include "report/fit_figures.hpp"

#include "report/plot_scale.hpp"

#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kResidualHeight = 260;
constexpr double kMicroseconds = 1e-3;
FigureSeries series_named(std::string name, SeriesMark mark) {
  return {.name = std::move(name), .mark = mark, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
}

/// Points of a curve, enough for it to look smooth.
constexpr int kCurve = 64;

std::string name_of(TimedExchange exchange, int ranks) {
  return ranks == 0 ? std::string{to_string(exchange)} : fmt::format("{} ranks", ranks);
}

struct PanelPair {
  XyPlot fit, off;
};

std::vector<FigurePanel> panels_of(PanelPair plots, const std::string& id, const std::string& title,
                                   const std::string& caption) {
  return {{.figure = {.id = id, .title = title, .caption = caption, .plot = std::move(plots.fit)}},
          {.figure = {.id = id + "-residuals",
                      .title = "Measured over fitted, less 1",
                      .caption = "How far each point is from its line.",
                      .plot = std::move(plots.off)},
           .height = kResidualHeight}};
}

/// Measured over fitted, minus 1, rounded to a millionth, so that rounding errors do not show as a pattern.
double residual(double measured, double fitted) {
  return std::round((measured / fitted - 1) * 1e6) * 1e-6;
}

FigureAxis residual_axis() {
  return {.title = "off by", .unit = "share", .categories = {}};
}

/// Adds alpha + beta m with the same number of points for every factor of the size.
void add_line(FigureSeries& line, const LineRegion& region) {
  if (!line.x.empty()) {  // the pen goes up
    line.x.push_back(line.x.back());
    line.y.push_back(kNaN);
  }
  const double first = std::max(1.0, region.first.to_double()), last = region.last.to_double();
  for (int i = 0; i <= kCurve; ++i) {
    const double m = first * std::pow(last / first, static_cast<double>(i) / kCurve);
    line.x.push_back(m);
    line.y.push_back((region.alpha.value + region.beta.value * m) * kMicroseconds);
  }
}

void add_size_series(PanelPair& plots, const SeriesFit& series, const std::string& name) {
  FigureSeries points = series_named(name, SeriesMark::dots), line = series_named(name, SeriesMark::line);
  FigureSeries off = series_named(name, SeriesMark::dots);
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    const double x = series.samples[i].size.to_double(), time = static_cast<double>(series.samples[i].time.ns());
    points.x.push_back(x);
    points.y.push_back(time * kMicroseconds);
    off.x.push_back(x);
    off.y.push_back(residual(time, series.fitted[i]));
  }
  for (const LineRegion& region : series.regions)
    if (region.last > Bytes{}) add_line(line, region);
  plots.fit.series.push_back(std::move(points));
  plots.fit.series.push_back(std::move(line));
  plots.off.series.push_back(std::move(off));
}

std::vector<FigurePanel> size_panels(const std::vector<SeriesFit>& all, TimedExchange exchange) {
  FigureAxis sizes{.title = "size", .unit = "B", .logarithmic = true, .categories = {}};
  std::vector<double> bytes;
  for (const SeriesFit& series : all) {
    if (series.exchange != exchange) continue;
    for (const CollectiveSample& sample : series.samples) bytes.push_back(sample.size.to_double());
  }
  add_size_ticks(sizes, bytes);
  PanelPair plots{
      .fit = {.x = sizes, .y = {.title = "time", .unit = "us", .logarithmic = true, .categories = {}}, .series = {}},
      .off = {.x = sizes, .y = residual_axis(), .series = {}}};
  for (const SeriesFit& series : all)
    if (series.exchange == exchange && series.samples.front().size < series.samples.back().size)
      add_size_series(plots, series, name_of(exchange, series.ranks));
  if (plots.fit.series.empty()) return {};
  return panels_of(std::move(plots), fmt::format("fit-{}", to_string(exchange)),
                   fmt::format("Time of one {} by its size", to_string(exchange)),
                   "Dots: measured. Lines: alpha + beta m, a line a region.");
}

void add_contention(PanelPair& plots, const ContentionFit& fit) {
  const std::string name = name_of(fit.exchange, fit.ranks);
  FigureSeries points = series_named(name, SeriesMark::dots), line = series_named(name, SeriesMark::line);
  FigureSeries off = series_named(name, SeriesMark::dots);
  for (std::size_t i = 0; i < fit.jobs.size(); ++i) {
    points.x.push_back(fit.jobs[i]);
    points.y.push_back(fit.ratio[i]);
    off.x.push_back(fit.jobs[i]);
    off.y.push_back(residual(fit.ratio[i], fit.fitted[i]));
  }
  for (int i = 0; i <= kCurve; ++i) {
    const double share = static_cast<double>(i) / kCurve;
    line.x.push_back(fit.jobs.front() + share * (fit.jobs.back() - fit.jobs.front()));
    line.y.push_back(fit.fitted.front() + share * (fit.fitted.back() - fit.fitted.front()));
  }
  plots.fit.series.push_back(std::move(points));
  plots.fit.series.push_back(std::move(line));
  plots.off.series.push_back(std::move(off));
}

std::vector<FigurePanel> contention_panels(const std::vector<ContentionFit>& fits, TimedExchange exchange) {
  const FigureAxis jobs{.title = "at the same time", .unit = "", .categories = {}};
  PanelPair plots{
      .fit = {.x = jobs,
              .y = {.title = "time over the time of one alone", .unit = "", .from_zero = true, .categories = {}},
              .series = {}},
      .off = {.x = jobs, .y = residual_axis(), .series = {}}};
  for (const ContentionFit& fit : fits)
    if (fit.exchange == exchange) add_contention(plots, fit);
  if (plots.fit.series.empty()) return {};
  return panels_of(std::move(plots), fmt::format("contention-{}", to_string(exchange)),
                   fmt::format("Several {} exchanges at the same time", to_string(exchange)),
                   "Dots: measured. Lines: 1 + (k - 1) (1 + penalty).");
}

}  // namespace

std::vector<FigurePanel> fit_panels(const NetworkCalibration& calibration) {
  std::vector<FigurePanel> panels;
  for (const TimedExchange exchange : timed_exchanges())
    for (FigurePanel& panel : size_panels(calibration.series, exchange)) panels.push_back(std::move(panel));
  for (const TimedExchange exchange : timed_exchanges())
    for (FigurePanel& panel : contention_panels(calibration.contention, exchange)) panels.push_back(std::move(panel));
  return panels;
}

}  // namespace contend
