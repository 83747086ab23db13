#include "calibration/noise_weights.hpp"

#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

double typical_noise(std::span<const double> deviations) {
  return deviations.empty() ? 0 : percentile({deviations.begin(), deviations.end()}, 0.5);
}

std::vector<double> noise_weights(std::span<const double> deviations, double floor) {
  CONTEND_CHECK(floor >= 0 && std::isfinite(floor), "a floor of noise is a share");
  std::vector<double> weights;
  for (const double deviation : deviations) {
    const double share = floor > 0 ? floor / std::max(deviation, floor) : 1;
    weights.push_back(share * share);
  }
  return weights;
}

}  // namespace contend
