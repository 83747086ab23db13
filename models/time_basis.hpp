#pragma once
// On what ground a time stands that comes from a calibration.

#include <string_view>

namespace contend {

enum class PredictionBasis {
  measured,      ///< this very shape
  interpolated,  ///< inside the measured grid
  extrapolated,  ///< outside: a guess by the nearest efficiency; callers say so to people
};
[[nodiscard]] std::string_view to_string(PredictionBasis basis);

/// Of a sum of times: the weakest basis of all, and the mean of their errors by time, as if all erred the same way.
struct TimeBasis {
  PredictionBasis basis = PredictionBasis::measured;
  double relative_error = 0;  ///< expected, a share; < 0: unknown
};

}  // namespace contend
