#pragma once
// The roofline of one operator on one device (Williams, Waterman and Patterson, CACM 52, 2009) with a fixed cost for
// each execution: time = max(flops / peak, bytes / bandwidth) + overhead.

#include <span>

namespace contend {

/// The bytes and flops of an operation, not both 0, and the seconds it took, > 0.
struct TimedWork {
  double bytes = 0;
  double flops = 0;
  double seconds = 0;
  double deviation = 0;  ///< standard deviation of `seconds` as a share of it, >= 0, finite
};

struct RooflineFit {
  double seconds_per_flop = 0;  ///< 1 / peak; 0 if no sample computes
  double seconds_per_byte = 0;  ///< 1 / bandwidth; 0 if no sample moves bytes
  double overhead = 0;          ///< seconds, >= 0

  /// Predicted seconds, > 0 for any work of the kind that was fitted.
  [[nodiscard]] double seconds(double bytes, double flops) const;
};

/// Finds the roofline with the least weighted sum of squared relative errors, alternating between two steps: assign
/// each sample to the term of the roofline that is larger for it, then fit both terms. Weights are noise_weights();
/// their floor is the typical noise or, if that is more, the error of a roofline fitted without weights, because an
/// interval far narrower than that carries no more information about a roofline. With fewer than 4 samples, peak and
/// bandwidth are the highest seen.
[[nodiscard]] RooflineFit fit_roofline(std::span<const TimedWork> samples);

}  // namespace contend
