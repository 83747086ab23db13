#include "report/colours.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {

std::string heat_colour(double shade) {
  // Every eighth of viridis.
  static constexpr std::array<std::array<double, 3>, 9> kAnchors = {{{68, 1, 84},
                                                                     {71, 45, 123},
                                                                     {59, 82, 139},
                                                                     {44, 114, 142},
                                                                     {33, 144, 140},
                                                                     {39, 173, 129},
                                                                     {93, 200, 99},
                                                                     {170, 220, 50},
                                                                     {253, 231, 37}}};
  const double place = std::clamp(shade, 0.0, 1.0) * static_cast<double>(kAnchors.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kAnchors.size() - 2);
  const double part = place - static_cast<double>(below);
  const auto channel = [&](std::size_t c) {
    return static_cast<int>(std::lround(kAnchors[below][c] * (1 - part) + kAnchors[below + 1][c] * part));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2));
}

std::string diverging_colour(double shade) {
  constexpr std::array<double, 3> kBlue = {0, 114, 178}, kVermilion = {213, 94, 0};  // of Okabe and Ito
  const std::array<double, 3>& end = shade < 0 ? kVermilion : kBlue;
  const double part = std::min(1.0, std::abs(shade));
  const auto channel = [&](std::size_t c) { return static_cast<int>(std::lround(255 + (end[c] - 255) * part)); };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2));
}

std::string cell_colour(const HeatMap& map, double value) {
  const auto [low, high] = heat_range(map);
  if (!std::isnan(map.middle)) {
    const double most = std::log(high / map.middle);
    return diverging_colour(most > 0 ? std::log(value / map.middle) / most : 0);
  }
  if (!(high > low)) return heat_colour(0.5);
  if (map.logarithmic) return heat_colour(std::log(value / low) / std::log(high / low));
  return heat_colour((value - low) / (high - low));
}

std::pair<double, double> heat_range(const HeatMap& map) {
  if (map.low < map.high) return {map.low, map.high};
  double low = INFINITY, high = -INFINITY;
  for (const double value : map.values) {
    if (!std::isfinite(value) || (map.logarithmic && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low <= high) return {low, high};
  return {map.logarithmic ? 0.1 : 0.0, 1.0};
}

}  // namespace contend
