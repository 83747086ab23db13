#pragma once
// The times of the operators of a transformer on a calibrated device (docs/models/parallel.md).

#include "calibration/calibrated_device.hpp"
#include "models/parallel/operators.hpp"
#include "models/time_basis.hpp"

#include <span>

namespace contend {

struct CalibratedOperatorTimes {
  OperatorTimes times;
  TimeBasis basis;  ///< of all three passes together
};

/// The times of operators one after the other. Products, attention, norms, softmax and look-ups take what their tables
/// predict; all else takes as long as copies of its bytes. Attention whose keys are not the keys of its queries' own
/// tokens, or that skips masked scores, takes the share of the measured kernel's time that it has of its flops: never
/// better than interpolated. Throws InputError if the profile has no products in a type that is needed or no copies,
/// and for a pass that takes longer than a day.
[[nodiscard]] CalibratedOperatorTimes calibrated_operator_times(std::span<const TransformerOperator> operators,
                                                                const CalibratedDevice& device);

}  // namespace contend
