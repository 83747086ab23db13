#pragma once
// How far measured collectives are from what a library expects.

#include "calibration/library_fit.hpp"
#include "calibration/median.hpp"

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace contend {

/// The medians of the deviation and of its absolute value over points.
struct LibraryDeviation {
  std::size_t points = 0;
  double median = 0, median_error = 0;
};

[[nodiscard]] inline LibraryDeviation deviation_of(std::span<const LibraryPoint> points) {
  if (points.empty()) return {};
  std::vector<double> signed_ones, absolute;
  for (const LibraryPoint& point : points) {
    signed_ones.push_back(point.deviation());
    absolute.push_back(std::abs(point.deviation()));
  }
  return {points.size(), median_interval(signed_ones).median, median_interval(absolute).median};
}

}  // namespace contend
