#include "report/plot_scale.hpp"

#include "report/sweep_names.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace contend {
namespace {

/// 1, 2 or 5 times a power of ten, such that about `count` steps cover the range.
double round_step(double range, double count) {
  const double rough = range / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

PlotScale linear(double low, double high, bool tight, double room) {
  constexpr double kTicks = 5;
  if (!(low < high)) {
    const double space = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= space;
    high += space;
  }
  if (tight) {
    const double space = room * (high - low);
    low -= space;
    high += space;
  }
  const double step = round_step(high - low, kTicks);
  PlotScale scale{.from = low, .to = high, .logarithmic = false, .ticks = {}};
  if (!tight) {
    scale.from = std::floor(low / step + 1e-9) * step;
    scale.to = std::ceil(high / step - 1e-9) * step;
  }
  for (double i = std::ceil(scale.from / step - 1e-9); i * step <= scale.to + step * 1e-9; ++i)
    scale.ticks.push_back(i == 0 ? 0 : i * step);  // no -0
  return scale;
}

/// Round times, in seconds, for a logarithmic axis: whole units and their tens.
constexpr double kRoundTimes[] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4,  1e-3,  1e-2,   1e-1,
                                  1,    10,   60,   600,  3600, 36000, 86400, 864000, 8640000};
/// More of them, for an axis that has few of these.
constexpr double kMoreTimes[] = {2e-9, 5e-9, 2e-8, 5e-8, 2e-7, 5e-7,  2e-6,  5e-6,   2e-5,   5e-5,   2e-4,
                                 5e-4, 2e-3, 5e-3, 2e-2, 5e-2, 0.2,   0.5,   2,      5,      20,     30,
                                 120,  300,  1200, 1800, 7200, 18000, 72000, 172800, 432000, 1728000};

std::vector<double> round_times(double from, double to) {
  const auto is_within = [=](double tick) { return tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9); };
  std::vector<double> ticks;
  std::ranges::copy_if(kRoundTimes, std::back_inserter(ticks), is_within);
  if (ticks.size() >= 3) return ticks;
  std::ranges::copy_if(kMoreTimes, std::back_inserter(ticks), is_within);
  std::ranges::sort(ticks);
  return ticks;
}

/// A round time with the largest unit of which it is at least one: `1 min`, not `60 s`.
std::string round_time_text(double seconds) {
  static constexpr TimeUnit kUnits[] = {{"d", 86400}, {"h", 3600},  {"min", 60}, {"s", 1},
                                        {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  for (const TimeUnit& each : kUnits)
    if (seconds >= each.length * (1 - 1e-9)) return fmt::format("{:.4g} {}", seconds / each.length, each.name);
  return fmt::format("{:.4g} s", seconds);
}

/// The distance of a tick from its neighbours.
double step_of(const PlotScale& scale, std::size_t i) {
  if (scale.logarithmic || scale.ticks.size() < 2) return scale.ticks[i] == 0 ? 1 : std::abs(scale.ticks[i]);
  return scale.ticks[1] - scale.ticks[0];
}

bool is_time(const FigureAxis& axis) {
  return axis.unit == "s" && axis.ticks.empty();
}

PlotScale logarithmic(double low, double high, bool tight, double room) {
  constexpr double kRoom = 1.25;  // left free at both ends
  const double space = tight ? std::pow(high / low, room) : kRoom;
  low /= space;
  high *= space;
  const double first = std::floor(std::log10(low) + 1e-9), last = std::ceil(std::log10(high) - 1e-9);
  PlotScale scale{.from = low, .to = high, .logarithmic = true, .ticks = {}};
  if (!(low < high)) {
    scale.from = low / 2;
    scale.to = low * 2;
  }
  const double decades = last - first;
  for (double power = first; power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, power);
      if (decades > 3 && factor != 1.0) continue;
      if (tick >= scale.from * (1 - 1e-9) && tick <= scale.to * (1 + 1e-9)) scale.ticks.push_back(tick);
    }
  }
  return scale;
}

PlotScale round_scale(const FigureAxis& axis, const std::vector<double>& values, bool tight, double room) {
  double low = INFINITY, high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value) || (axis.logarithmic && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) low = high = axis.logarithmic ? 1 : 0;
  if (axis.logarithmic) return logarithmic(low, high, tight, room);
  if (axis.from_zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  return linear(low, high, tight, room);
}

/// Units as people write them.
std::string_view unit_text(std::string_view unit) {
  if (unit == "s_per_B") return "s/B";
  if (unit == "per_s") return "1/s";
  return unit == "Bps" ? "B/s" : unit;
}

}  // namespace

double PlotScale::at(double value) const {
  return logarithmic ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
}

PlotScale fit_scale(const FigureAxis& axis, const std::vector<double>& values, bool tight, double room) {
  if (!is_time(axis) || axis.logarithmic) {
    PlotScale scale = round_scale(axis, values, tight, room);
    if (!axis.ticks.empty()) scale.ticks = axis.ticks;
    if (!is_time(axis)) return scale;
    if (std::vector<double> ticks = round_times(scale.from, scale.to); ticks.size() >= 2)
      scale.ticks = std::move(ticks);
    return scale;
  }
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  const TimeUnit unit = time_unit(largest);
  std::vector<double> told = values;
  for (double& value : told) value /= unit.length;
  PlotScale scale = round_scale(axis, told, tight, room);
  scale.unit = unit.name;
  scale.length = unit.length;
  scale.from *= unit.length;
  scale.to *= unit.length;
  for (double& tick : scale.ticks) tick *= unit.length;
  return scale;
}

void add_size_ticks(FigureAxis& axis, const std::vector<double>& bytes) {
  constexpr int kMostTicks = 9, kLargest = 62;
  if (bytes.empty()) return;
  const auto [low, high] = std::ranges::minmax(bytes);
  const int first = std::max(0, static_cast<int>(std::ceil(std::log2(low) - 1e-9)));
  const int last = std::min(kLargest, static_cast<int>(std::floor(std::log2(high) + 1e-9)));
  if (first > last) return;
  const int step = (last - first) / kMostTicks + 1;
  for (int power = first; power <= last; power += step) {
    const std::int64_t size = std::int64_t{1} << power;
    axis.ticks.push_back(static_cast<double>(size));
    axis.tick_names.push_back(print_quantity(Bytes{size}));
  }
}

std::string tick_text(double value, const std::string& unit, double step) {
  const double factor = unit == "share" ? 100 : 1;
  const double shown = value * factor, apart = step * factor;
  if (std::abs(shown) >= 1e6) return fmt::format("{:.4g}", shown);
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(apart) - 1e-9)), 0, 9);
  std::string text = fmt::format("{:.{}f}", shown == 0 ? 0.0 : shown, digits);
  if (unit == "share") text += '%';
  return text;
}

std::vector<std::string> tick_labels(const PlotScale& scale, const FigureAxis& axis) {
  if (!axis.categories.empty()) return axis.drawn_categories();
  if (!axis.ticks.empty()) return axis.tick_names;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < scale.ticks.size(); ++i) {
    labels.push_back(is_time(axis) && scale.logarithmic
                         ? round_time_text(scale.ticks[i])
                         : tick_text(scale.ticks[i] / scale.length, axis.unit, step_of(scale, i) / scale.length));
  }
  return labels;
}

std::string axis_text(const FigureAxis& axis, const PlotScale& scale) {
  const std::string& unit = scale.unit.empty() ? axis.unit : scale.unit;
  const bool in_labels = unit == "share" || (is_time(axis) && scale.logarithmic);
  return unit.empty() || in_labels || axis.unit == axis.title || !axis.ticks.empty()
             ? axis.drawn_title()
             : fmt::format("{} [{}]", axis.drawn_title(), unit_text(unit));
}

}  // namespace contend
