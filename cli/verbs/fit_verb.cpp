#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "report/figure.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/study/measured_iterations.hpp"
#include "sim/statistics.hpp"
#include "text/atomic_file.hpp"
#include "text/json_writer.hpp"
#include "text/own_files.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kInterferenceColumn = 3;

/// The deviations of predictions from measurements, as shares without sign.
struct Deviations {
  double median = 0, worst = 0;
};
Deviations deviations(const std::vector<MeasuredIteration>& rows, const std::vector<double>& predicted) {
  std::vector<double> all;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (std::isfinite(predicted[i])) all.push_back(std::abs(predicted[i] / rows[i].seconds - 1));
  return {percentile(all, 0.5), percentile(all, 1)};
}

std::vector<std::string> constant_cells(const IterationConstants& constants, bool updates) {
  std::vector<std::string> cells{fmt::format("{:.1f}", constants.alpha_s * 1e6),
                                 fmt::format("{:.4f}", constants.beta_ns_per_byte),
                                 fmt::format("{:.3f}", constants.interference)};
  if (updates) cells.push_back(fmt::format("{:.1f}", constants.update_s * 1e6));
  return cells;
}

/// Bounds of each constant for people; "-" where the rows say nothing.
std::vector<std::string> interval_cells(const MeasuredFit& fit, const ConstantIntervals& bounds) {
  const bool updates = fit.all.knows_update;
  const std::vector<std::string> low = constant_cells(bounds.low, updates), high = constant_cells(bounds.high, updates);
  std::vector<std::string> cells{"95% interval"};
  for (std::size_t i = 0; i < low.size(); ++i) cells.push_back(fmt::format("{} to {}", low[i], high[i]));
  if (!fit.all.knows_interference) cells[kInterferenceColumn] = "-";
  if (updates && std::isinf(bounds.high.update_s)) cells.back() = "-";
  return cells;
}

std::string fit_text(const std::vector<MeasuredIteration>& rows, const MeasuredFit& fit) {
  Table figures{{"iteration", "measured [s]", "fitted [s]", "left out [s]", "deviation [%]"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double predicted = fit.left_out.predicted[i];
    const bool known = std::isfinite(predicted);
    figures.add({rows[i].title, fmt::format("{:.4f}", rows[i].seconds), fmt::format("{:.4f}", fit.all.predicted[i]),
                 known ? fmt::format("{:.4f}", predicted) : "-",
                 known ? fmt::format("{:+.1f}", kPercent * (predicted / rows[i].seconds - 1)) : "-"});
  }
  const bool updates = fit.all.knows_update;
  std::vector<std::string> headings{"fitted to", "alpha [us]", "beta [ns/B]", "interference"};
  if (updates) headings.emplace_back("update [us/tensor]");
  Table constants{std::move(headings)};
  const auto add = [&](std::string name, const IterationFit& found) {
    std::vector<std::string> cells = constant_cells(found.constants, updates);
    if (updates && !found.knows_update) cells.back() = "-";
    cells.insert(cells.begin(), std::move(name));
    constants.add(std::move(cells));
  };
  add("all", fit.all);
  for (std::size_t g = 0; g < fit.left_out.groups.size(); ++g) {
    add("all but " + fit.left_out.groups[g], fit.left_out.fits[g]);
  }
  if (const auto bounds = constant_intervals(fit.all, fit.left_out)) constants.add(interval_cells(fit, *bounds));
  const Deviations with = deviations(rows, fit.all.predicted);
  const Deviations without = deviations(rows, fit.left_out.predicted);
  return fmt::format(
      "{}\n{}\nfitted:   median deviation {:.1f}%, worst {:.1f}%\nleft out: median deviation {:.1f}%, worst {:.1f}%\n",
      figures.text(), constants.text(), kPercent * with.median, kPercent * with.worst, kPercent * without.median,
      kPercent * without.worst);
}

void write_constants(JsonWriter& json, const IterationConstants& constants, bool updates) {
  json.member("alpha_s", constants.alpha_s)
      .member("beta_ns_per_byte", constants.beta_ns_per_byte)
      .member("interference", constants.interference);
  if (updates) json.member("update_per_tensor_s", constants.update_s);
}

std::string fit_json(const std::vector<MeasuredIteration>& rows, const MeasuredFit& fit) {
  JsonWriter json;
  json.begin_object();
  const bool updates = fit.all.knows_update;
  write_constants(json, fit.all.constants, updates);
  const Deviations without = deviations(rows, fit.left_out.predicted);
  json.member("left_out_median_deviation", without.median).member("left_out_worst_deviation", without.worst);
  if (const auto bounds = constant_intervals(fit.all, fit.left_out)) {
    const bool known = updates && std::isfinite(bounds->high.update_s);
    json.key("interval_low").begin_object();
    write_constants(json, bounds->low, known);
    json.end_object().key("interval_high").begin_object();
    write_constants(json, bounds->high, known);
    json.end_object();
  }
  json.key("left_out").begin_array();
  for (std::size_t g = 0; g < fit.left_out.groups.size(); ++g) {
    json.begin_object().member("group", fit.left_out.groups[g]);
    write_constants(json, fit.left_out.fits[g].constants, fit.left_out.fits[g].knows_update);
    json.end_object();
  }
  json.end_array().key("rows").begin_array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json.begin_object()
        .member("iteration", rows[i].title)
        .member("line", rows[i].line)
        .member("measured_s", rows[i].seconds)
        .member("fitted_s", fit.all.predicted[i])
        .member("left_out_s", fit.left_out.predicted[i])
        .end_object();
  }
  json.end_array().end_object();
  return json.take();
}

/// Every row where its measurement and its prediction by the fit without its group cross.
Figure fit_figure(const std::vector<MeasuredIteration>& rows, const MeasuredFit& fit, std::string_view group) {
  constexpr double kDecade = 10;
  const auto [least, most] = std::ranges::minmax(rows, {}, &MeasuredIteration::seconds);
  const auto axis = [far = most.seconds > kDecade * least.seconds](std::string title) {
    return FigureAxis{.title = std::move(title), .unit = "s", .logarithmic = far, .categories = {}};
  };
  XyPlot plot{.x = axis("measured"), .y = axis("predicted"), .series = {}, .diagonal = true};
  for (const std::string& name : fit.left_out.groups) {
    FigureSeries series{.name = name, .mark = SeriesMark::dots, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].group != name || std::isnan(fit.left_out.predicted[i])) continue;
      series.x.push_back(rows[i].seconds);
      series.y.push_back(fit.left_out.predicted[i]);
      series.labels.push_back(rows[i].title);
    }
    plot.series.push_back(std::move(series));
  }
  return {.id = "fit",
          .title = "Iterations, measured and predicted",
          .caption = fmt::format("Each {} is predicted from a fit to the others.", group),
          .plot = std::move(plot)};
}

}  // namespace

int fit_verb(const Arguments& arguments) {
  const std::string& scenario = arguments.positionals()[0];
  const std::string& file = arguments.positionals()[1];
  const auto output = arguments.value("output"), plot = arguments.value("plot");
  if (plot) need_svg("plot", *plot);
  const MeasurementSource source{scenario, arguments.values("set"), arguments.value("by").value_or("model")};
  const std::vector<MeasuredIteration> rows = read_measured_iterations(read_file(file), file, source);
  const MeasuredFit fit = fit_measured(rows);
  print_output("{}", arguments.has("json") ? fit_json(rows, fit) : fit_text(rows, fit));
  std::vector<std::string> open = fit.undetermined;
  if (std::erase(open, kUpdateMember) > 0)
    print_message(
        "contend: {} is below the time of the optimizer's kernels, and any value below that gives the same "
        "iterations\n",
        kUpdateMember);
  if (!open.empty())
    print_message("contend: these rows say nothing about {}: measure policies with other messages\n", join(open));
  const Deviations without = deviations(rows, fit.left_out.predicted);
  if (output) {
    write_own_file(
        *output,
        constants_fragment(fit.all.constants, cost_formula(rows.front().scenario.network).name,
                           {fmt::format("Fitted by `contend fit` to {} measured iterations in {}.", rows.size(), file),
                            fmt::format("With each {} left out: median deviation {:.1f}%, worst {:.1f}%.", source.group,
                                        kPercent * without.median, kPercent * without.worst)}));
    print_message("contend: the constants are in {}\n", *output);
  }
  if (plot) write_own_file(*plot, figure_svg(fit_figure(rows, fit, source.group)));
  return kExitOk;
}

}  // namespace contend
