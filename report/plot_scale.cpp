#include "report/plot_scale.hpp"

#include <algorithm>
#include <cmath>

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
  PlotScale scale = round_scale(axis, values, tight, room);
  if (!axis.ticks.empty()) scale.ticks = axis.ticks;
  return scale;
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

std::string axis_text(const FigureAxis& axis) {
  return axis.unit.empty() || axis.unit == "share" || axis.unit == axis.title || !axis.ticks.empty()
             ? axis.drawn_title()
             : fmt::format("{} [{}]", axis.drawn_title(), unit_text(axis.unit));
}

}  // namespace contend
