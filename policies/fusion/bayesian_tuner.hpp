#pragma once
// Bayesian optimisation of one number: a Gaussian process over the trials made so far (models/gaussian_process.hpp)
// says where the expected improvement is largest.

#include <functional>

namespace contend {

struct TunerOptions {
  double low = 0, high = 1;
  double first = 0;  ///< first trial; clamped into the range
  int trials = 10;   ///< calls of the objective, >= 1
  double xi = 0.1;   ///< exploration: improvement that doesn't count, in standard deviations of the trials
};

/// The trial with the largest value. Deterministic. The kernel is Matern 5/2 over the range scaled to [0, 1]; its
/// length is the most likely of a few; candidates are a grid of 512 points.
[[nodiscard]] double maximise(const std::function<double(double)>& objective, const TunerOptions& options);

}  // namespace contend
