#pragma once
// A roofline of one operator on one device (Williams, Waterman and Patterson, CACM 52, 2009), with a fixed cost for
// each execution: time = max(flops / peak, bytes / bandwidth) + overhead.

#include <span>

namespace contend {

/// What an operation moves and computes, not both 0, and how long that took, > 0.
struct TimedWork {
  double bytes = 0;
  double flops = 0;
  double seconds = 0;
  double deviation = 0;  ///< standard deviation of `seconds` as a share of it, >= 0, finite
};

struct RooflineFit {
  double seconds_per_flop = 0;  ///< 1 / peak; 0 if nothing is computed
  double seconds_per_byte = 0;  ///< 1 / bandwidth; 0 if nothing is moved
  double overhead = 0;          ///< seconds, >= 0

  /// > 0 for any work of the kind that was fitted.
  [[nodiscard]] double seconds(double bytes, double flops) const;
};

/// The roofline with the least weighted sum of squared relative errors, found by turns: which of the two terms is the
/// larger one decides what a sample tells about. Weights are noise_weights() with the floor at what the samples are off
/// a roofline without weights, if that is more than their own noise: an interval far narrower than that says nothing
/// more about a roofline. With fewer samples than 4, peak and bandwidth are the highest that were seen.
[[nodiscard]] RooflineFit fit_roofline(std::span<const TimedWork> samples);

}  // namespace contend
