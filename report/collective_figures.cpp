#include "report/collective_figures.hpp"

#include "network/collectives/algorithm.hpp"
#include "network/library/nccl_model.hpp"
#include "report/plot_scale.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kPanelHeight = 320;

FigurePanel panel(const std::string& id, const std::string& title, FigureAxis y, const std::vector<double>& sizes) {
  XyPlot plot;
  plot.x = {.title = "size", .unit = "B", .logarithmic = true, .categories = {}};
  add_size_ticks(plot.x, sizes);
  plot.y = std::move(y);
  return {.figure = {.id = id, .title = title, .caption = "Dots: measured. Lines: expected.", .plot = std::move(plot)},
          .height = kPanelHeight};
}

void add(FigurePanel& panel, const CollectiveCurve& curve, std::vector<double> values) {
  std::get<XyPlot>(panel.figure.plot)
      .series.push_back({.name = curve.name,
                         .mark = curve.measured ? SeriesMark::dots : SeriesMark::line,
                         .x = curve.bytes,
                         .y = std::move(values),
                         .low = {},
                         .high = {},
                         .labels = {}});
}

}  // namespace

std::vector<FigurePanel> collective_panels(std::span<const CollectiveCurve> curves) {
  constexpr double kMicro = 1e6, kGiga = 1e-9;
  std::vector<TimedExchange> exchanges;
  for (const CollectiveCurve& curve : curves)
    if (std::ranges::find(exchanges, curve.exchange) == exchanges.end()) exchanges.push_back(curve.exchange);
  std::vector<FigurePanel> panels;
  for (const TimedExchange exchange : exchanges) {
    const std::string name{to_string(exchange)};
    std::vector<double> sizes;
    std::set<std::string> names;
    for (const CollectiveCurve& curve : curves) {
      if (curve.exchange != exchange) continue;
      sizes.insert(sizes.end(), curve.bytes.begin(), curve.bytes.end());
      names.insert(curve.name);
    }
    // A figure with one name has no legend.
    const std::string of = names.size() == 1 ? fmt::format(": {}", *names.begin()) : std::string{};
    FigurePanel times = panel("time-" + name, fmt::format("Time of one {} by its size{}", name, of),
                              {.title = "time", .unit = "us", .logarithmic = true, .categories = {}}, sizes);
    FigurePanel rates = panel("busbw-" + name, fmt::format("Bus bandwidth of one {} by its size{}", name, of),
                              {.title = "bus bandwidth", .unit = "GB/s", .from_zero = true, .categories = {}}, sizes);
    for (const CollectiveCurve& curve : curves) {
      if (curve.exchange != exchange) continue;
      std::vector<double> us, bus;
      for (std::size_t i = 0; i < curve.bytes.size(); ++i) {
        us.push_back(curve.seconds[i] * kMicro);
        bus.push_back(curve.bytes[i] / curve.seconds[i] * bus_factor(exchange, curve.ranks) * kGiga);
      }
      add(times, curve, std::move(us));
      add(rates, curve, std::move(bus));
    }
    panels.push_back(std::move(times));
    panels.push_back(std::move(rates));
  }
  return panels;
}

}  // namespace contend
