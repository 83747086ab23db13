#pragma once
// One operation measured on one device: warmed up, repeated until its median is known well, or until its time is over.

#include "calibration/backend.h"
#include "calibration/operators.hpp"
#include "calibration/profile.hpp"

#include <functional>
#include <optional>
#include <string>

namespace contend {

/// Seconds since some instant, never backwards. The caller's, so that tests have a clock of their own.
using WallClock = std::function<double()>;

struct RepetitionRules {
  double half_width = 0.01;  ///< of the 95% interval of the median, as a share: narrow enough to stop, > 0
  /// A sample is as many executions back to back as take so long, > 0: far longer than the clock of the device ticks
  /// (0.5 us for CUDA events), and long enough that what surrounds the executions doesn't count.
  double sample_seconds = 1e-3;
  double warm_up_seconds = 2e-3;  ///< at least, before the first sample
  double limit_seconds = 0.3;     ///< of all that, > 0, preparation aside
  /// What needs longer than this, and than the limit, for the fewest samples is too slow; what doesn't gets them.
  double patience_seconds = 0;
  int least_samples = 10;  ///< unless the time is over: never fewer than kLeastForInterval
  int most_samples = 1000;
};

struct MeasuredOperation {
  std::optional<OperatorSample> sample;
  /// Why there is none: the answer of the back end, or CONTEND_OK if the operation is too slow for its limit.
  contend_status status = CONTEND_OK;
  std::string reason;    ///< one line, if there is no sample
  int launches = 0;      ///< executions a sample
  int outliers = 0;      ///< samples that came late
  bool drifted = false;  ///< times still moved at the end
};

/// Never throws for what goes wrong on the device. Samples that drift are dropped by halves while there is time.
[[nodiscard]] MeasuredOperation measure(const contend_backend& backend, const OperatorInfo& info, DataType type,
                                        const OperatorShape& shape, const RepetitionRules& rules,
                                        const WallClock& clock);

/// Why the back end doesn't have the operation, by making it ready without running it; empty if it has, also where
/// something else went wrong.
[[nodiscard]] std::string unsupported_reason(const contend_backend& backend, const OperatorInfo& info, DataType type,
                                             const OperatorShape& shape);

/// `out of memory`, `not supported here`, ...
[[nodiscard]] std::string_view to_string(contend_status status);

}  // namespace contend
