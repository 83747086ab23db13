#pragma once
// The Pareto front of points that have figures under several seeds.

#include "sim/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// What points are judged by.
struct ParetoGoal {
  bool maximise = false;
  std::vector<std::vector<double>> values{};  ///< by point, under each seed; the seeds of all points are in one order
};

enum class ParetoPlace : std::uint8_t {
  front,  ///< no other point is as good in the means of all goals and better in one
  /// Off the front, and of the points that are as good in all goals and better in one none is better beyond the 95%
  /// interval of the paired difference in any goal. Never with a single seed, which has no interval.
  tie,
  dominated,
};

/// The place of each of `points`, which have a finite mean of each goal, among them; in their order. `draws` says what
/// the figures of a point have in common. O(points^2).
[[nodiscard]] std::vector<ParetoPlace> pareto_places(std::span<const ParetoGoal> goals,
                                                     std::span<const std::size_t> points, Draws draws);

}  // namespace contend
