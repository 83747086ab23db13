#pragma once
// Weights of samples in a fit, from the precision to which each is known.

#include <span>
#include <vector>

namespace contend {

/// Half the width of a 95% interval in standard deviations, for a normal distribution.
inline constexpr double kNormalInterval = 1.959964;

/// The precision of a typical sample: the median of the deviations; 0 if there are none.
[[nodiscard]] double typical_noise(std::span<const double> deviations);

/// Weights (floor / max(deviation, floor))^2: inverse variances in units of the floor (Aitken, Proc. Royal Society of
/// Edinburgh 55, 1936). Every sample known better than the floor weighs 1, so that none counts more because its
/// interval happened to come out narrow. All are 1 if the floor is 0.
[[nodiscard]] std::vector<double> noise_weights(std::span<const double> deviations, double floor);

}  // namespace contend
