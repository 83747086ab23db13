#include "report/fit_figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kResidualHeight = 260;
constexpr double kMicroseconds = 1e-3;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

FigureSeries series_named(std::string name, SeriesMark mark) {
  return {.name = std::move(name), .mark = mark, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
}

std::string ranks_text(int ranks) {
  return ranks == 0 ? std::string{} : fmt::format(" x{}", ranks);
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

FigureAxis residual_axis() {
  return {.title = "off by", .unit = "share", .categories = {}};
}

void add_size_series(PanelPair& plots, const SeriesFit& series) {
  const std::string name = fmt::format("{}{}", to_string(series.exchange), ranks_text(series.ranks));
  FigureSeries points = series_named(name, SeriesMark::dots), line = series_named(name, SeriesMark::line);
  FigureSeries off = series_named(name, SeriesMark::dots);
  std::size_t region = 0;
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    const CollectiveSample& sample = series.samples[i];
    const double x = sample.size.to_double(), time = static_cast<double>(sample.time.ns());
    if (sample.size > series.regions[region].last) {
      ++region;
      line.x.push_back(x);  // the pen goes up
      line.y.push_back(kNaN);
    }
    points.x.push_back(x);
    points.y.push_back(time * kMicroseconds);
    line.x.push_back(x);
    line.y.push_back(series.fitted[i] * kMicroseconds);
    off.x.push_back(x);
    off.y.push_back(time / series.fitted[i] - 1);
  }
  plots.fit.series.push_back(std::move(points));
  plots.fit.series.push_back(std::move(line));
  plots.off.series.push_back(std::move(off));
}

std::vector<FigurePanel> size_panels(const std::vector<SeriesFit>& all) {
  const FigureAxis sizes{.title = "size", .unit = "B", .logarithmic = true, .categories = {}};
  PanelPair plots{
      .fit = {.x = sizes, .y = {.title = "time", .unit = "us", .logarithmic = true, .categories = {}}, .series = {}},
      .off = {.x = sizes, .y = residual_axis(), .series = {}}};
  for (const SeriesFit& series : all)
    if (series.samples.front().size < series.samples.back().size) add_size_series(plots, series);
  if (plots.fit.series.empty()) return {};
  return panels_of(std::move(plots), "fit", "Time of an exchange by its size",
                   "Dots: measured. Lines: alpha + beta m, a line a region.");
}

std::vector<FigurePanel> contention_panels(const std::vector<ContentionFit>& fits) {
  const FigureAxis jobs{.title = "at the same time", .unit = "", .categories = {}};
  PanelPair plots{
      .fit = {.x = jobs,
              .y = {.title = "time over that of one alone", .unit = "", .from_zero = true, .categories = {}},
              .series = {}},
      .off = {.x = jobs, .y = residual_axis(), .series = {}}};
  for (const ContentionFit& fit : fits) {
    const std::string name = fmt::format("{}{}", to_string(fit.exchange), ranks_text(fit.ranks));
    FigureSeries points = series_named(name, SeriesMark::dots), line = series_named(name, SeriesMark::line);
    FigureSeries off = series_named(name, SeriesMark::dots);
    for (std::size_t i = 0; i < fit.jobs.size(); ++i) {
      points.x.push_back(fit.jobs[i]);
      points.y.push_back(fit.ratio[i]);
      line.x.push_back(fit.jobs[i]);
      line.y.push_back(fit.fitted[i]);
      off.x.push_back(fit.jobs[i]);
      off.y.push_back(fit.ratio[i] / fit.fitted[i] - 1);
    }
    plots.fit.series.push_back(std::move(points));
    plots.fit.series.push_back(std::move(line));
    plots.off.series.push_back(std::move(off));
  }
  if (plots.fit.series.empty()) return {};
  return panels_of(std::move(plots), "contention", "Several at the same time",
                   "Dots: measured. Lines: 1 + (k - 1) (1 + penalty).");
}

}  // namespace

std::vector<FigurePanel> fit_panels(const NetworkCalibration& calibration) {
  std::vector<FigurePanel> panels = size_panels(calibration.series);
  for (FigurePanel& panel : contention_panels(calibration.contention)) panels.push_back(std::move(panel));
  return panels;
}

}  // namespace contend
