#pragma once
// Times of messages from known parameters, with relative noise and outliers, for the tests of fits.

#include "calibration/robust_fit.hpp"
#include "sim/random_stream.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// Normal noise of standard deviation `noise`; one value in ten, if `outliers`, is 1.5 to 4 times too long.
class NoisyClock {
 public:
  NoisyClock(std::uint64_t seed, double noise, bool outliers)
      : stream_{seed, "times"}, noise_{noise}, outliers_{outliers} {}
  [[nodiscard]] double operator()(double time) {
    const double factor = 1 + stream_.normal(0, noise_);
    const bool far = stream_.uniform() < 0.1;
    const double off = stream_.uniform(1.5, 4);
    return time * factor * (outliers_ && far ? off : 1);
  }

 private:
  RandomStream stream_;
  double noise_;
  bool outliers_;
};

/// 2^from, 2^(from+1/per), ... below 2^to.
inline std::vector<double> powers(int from, int to, int per) {
  std::vector<double> sizes;
  for (int i = from * per; i < to * per; ++i) {
    double size = 1;
    for (int k = 0; k < i / per; ++k) size *= 2;
    sizes.push_back(size * (1 + (i % per) / static_cast<double>(per)));
  }
  return sizes;
}

/// Whether the interval of the number holds the truth.
inline bool covers(const FittedNumber& number, double truth) {
  return number.low <= truth && truth <= number.high;
}

}  // namespace contend
