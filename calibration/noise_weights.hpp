#pragma once
// How much a sample counts in a fit by how well it is known.

#include <span>
#include <vector>

namespace contend {

/// Half a 95% interval in standard deviations, of a normal distribution.
inline constexpr double kNormalInterval = 1.959964;

/// What most samples are known to: the median of the deviations; 0 for none.
[[nodiscard]] double typical_noise(std::span<const double> deviations);

/// Weights (floor / max(deviation, floor))^2, the inverse variances in units of the floor (Aitken, Proc. Royal Society
/// of Edinburgh 55, 1936): 1 for all that are known better than the floor, so that no sample counts more than others
/// because its interval came out narrow by luck. All 1 if the floor is 0.
[[nodiscard]] std::vector<double> noise_weights(std::span<const double> deviations, double floor);

}  // namespace contend
