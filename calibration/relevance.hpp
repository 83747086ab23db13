#pragma once
// Finds how much each coordinate matters for what a surface interpolates: automatic relevance determination (Neal,
// Bayesian Learning for Neural Networks, 1996, section 1.2.4), here by the error of predicting values from the others
// instead of a likelihood. A coordinate of relevance 0 is left out, so samples that differ in it alone are neighbours.

#include "calibration/scattered_surface.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

/// With fewer points than this every coordinate has relevance 1.
inline constexpr std::size_t kLeastForRelevance = 8;

/// `coordinates` has `dimensions` numbers for each point, point after point. The coordinates times their relevance.
[[nodiscard]] std::vector<double> scaled(std::span<const double> coordinates, std::span<const double> relevance);

/// One number >= 0 for each dimension, the largest 1: by coordinate descent from equal ones, those that best predict
/// the `judged` values from the others. `extra_noise` as in ScatteredSurface::at().
[[nodiscard]] std::vector<double> find_relevance(std::span<const double> coordinates, std::size_t dimensions,
                                                 std::span<const double> values, std::span<const double> extra_noise,
                                                 std::span<const std::size_t> judged);

}  // namespace contend
