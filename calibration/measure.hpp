#pragma once
// Measures one operation on one device: warms up, then repeats until the median is known precisely enough or time is
// up.

#include "calibration/backend.h"
#include "calibration/operators.hpp"
#include "calibration/profile.hpp"

#include <functional>
#include <optional>
#include <string>

namespace contend {

/// A monotonic clock in seconds. The caller supplies it, so that tests can use a clock of their own.
using WallClock = std::function<double()>;

/// When to stop repeating.
struct RepetitionRules {
  double half_width = 0.01;  ///< target of the 95% interval of the median, as a share of it; > 0
  /// Duration of a sample, > 0: it consists of as many back-to-back executions as take this long. That is far longer
  /// than a tick of the device's clock (0.5 us for CUDA events), and long enough to make the overhead around them
  /// negligible.
  double sample_seconds = 1e-3;
  double warm_up_seconds = 2e-3;  ///< least duration before the first sample
  /// Instead, for operations of a millisecond and more: a device that computes for so long reaches its limit of power.
  double heavy_warm_up_seconds = 2e-3;
  double limit_seconds = 0.3;  ///< of warm-up and samples together, > 0; preparation does not count
  /// An operation that needs longer than this and than the limit for the fewest samples is too slow; a faster one gets
  /// them.
  double patience_seconds = 0;
  int least_samples = 10;  ///< unless the time is up; never fewer than kLeastForInterval
  int most_samples = 1000;
};

/// A measured operation, or the reason why there is no sample.
struct MeasuredOperation {
  std::optional<OperatorSample> sample;
  /// The back end's error if there is no sample; CONTEND_OK if the operation is too slow for its limit.
  contend_status status = CONTEND_OK;
  std::string reason;    ///< one line, if there is no sample
  int launches = 0;      ///< executions in a sample
  int outliers = 0;      ///< samples far above the median
  bool drifted = false;  ///< the times still had a trend at the end
};

/// Measures an operation. Never throws for an error of the device. While there is time, the older half of drifting
/// samples is dropped.
[[nodiscard]] MeasuredOperation measure(const contend_backend& backend, const OperatorInfo& info, DataType type,
                                        const OperatorShape& shape, const RepetitionRules& rules,
                                        const WallClock& clock);

/// The reason why the back end lacks the operation, found by preparing it without running it. Empty if it has the
/// operation, and also for any other error.
[[nodiscard]] std::string unsupported_reason(const contend_backend& backend, const OperatorInfo& info, DataType type,
                                             const OperatorShape& shape);

/// A status in words: `out of memory`, `not supported here`, ...
[[nodiscard]] std::string_view to_string(contend_status status);

}  // namespace contend
