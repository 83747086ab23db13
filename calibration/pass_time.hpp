#pragma once
// PassTime adds up the operators of a pass on a calibrated device.

#include "calibration/calibrated_device.hpp"
#include "calibration/layer_operators.hpp"
#include "calibration/prediction_sum.hpp"

#include <algorithm>

namespace contend {

class PassTime {
 public:
  /// Adds what follows; work without an operator is in `type`.
  void add(const PassOperators& pass, const CalibratedDevice& device, DataType type) {
    for (const OperatorCall& call : pass.calls) {
      if (call.otherwise && !device.profile().has_samples(call.name, call.type)) {
        add(*call.otherwise, device, type);
        continue;
      }
      if (call.share == 0) continue;
      Prediction one = device.operation(call.name, call.type, call.shape);
      if (call.share != 1) {
        one.seconds *= call.share;
        one.basis = std::max(one.basis, PredictionBasis::interpolated);
      }
      sum_.add(one, call.count);
      launches_ += call.count;
    }
    for (const LayerWork& work : pass.rest) add(work, device, type);
  }

  [[nodiscard]] const PredictionSum& sum() const { return sum_; }
  /// The time of the kernels one after the other, or that in which the host launches as many of them, if it is longer.
  [[nodiscard]] double seconds(const CalibratedDevice& device) const {
    return std::max(sum_.seconds(), static_cast<double>(launches_) * device.launch_seconds());
  }

 private:
  void add(const LayerWork& work, const CalibratedDevice& device, DataType type) {
    sum_.add(device.work(work, type));
    launches_ += work.kernels;
  }

  PredictionSum sum_;
  std::int64_t launches_ = 0;
};

}  // namespace contend
