#pragma once
// A TimeBasis says how a calibrated time was obtained: measured, interpolated or extrapolated.

#include <string_view>

namespace contend {

/// How a time was obtained, from the strongest basis to the weakest.
enum class PredictionBasis {
  measured,      ///< this shape was measured
  interpolated,  ///< the shape lies inside the measured grid
  extrapolated,  ///< the shape lies outside: an estimate by the nearest efficiency, which users must be warned of
};
[[nodiscard]] std::string_view to_string(PredictionBasis basis);

/// The basis of a time or of a sum of times. A sum has the weakest basis of its terms, and the mean of their errors
/// weighted by time, as if all errors had the same sign.
struct TimeBasis {
  PredictionBasis basis = PredictionBasis::measured;
  double relative_error = 0;  ///< expected error as a share of the time; < 0: unknown
};

}  // namespace contend
