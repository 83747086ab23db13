#pragma once
// Bayesian optimisation of one positive number, such as a size: the next trial is where a Gaussian process over the
// trials made so far (models/gaussian_process.hpp) expects the largest improvement.

#include <functional>

namespace contend {

struct TunerOptions {
  double low = 1, high = 2;  ///< range of the number, both inclusive and > 0
  double first = 0;          ///< first trial; clamped to the range
  int trials = 10;           ///< number of calls of the objective, >= 1
  double xi = 0.1;           ///< exploration: ignored improvement, in standard deviations of the trials
};

/// Returns the trial with the largest objective. Deterministic. The kernel is Matern 5/2 over the logarithm of the
/// number, scaled to [0, 1], with the most likely of a few lengths. The candidates are a grid of 512 points on that
/// scale. On a linear scale of 1 to 256 the numbers below 16 would be a seventeenth of the range.
[[nodiscard]] double maximise(const std::function<double(double)>& objective, const TunerOptions& options);

}  // namespace contend
