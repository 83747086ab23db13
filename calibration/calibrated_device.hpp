#pragma once
// A device described by its calibration profile: how long operations, kernels and layers take on it. Times that were
// not measured are predicted; every result states its basis (docs/models/calibration.md).

#include "calibration/predictor.hpp"
#include "calibration/profile.hpp"
#include "models/layer_work.hpp"
#include "models/layers.hpp"
#include "models/overlap/kernel_costs.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

class CalibratedDevice : public KernelTimer {
 public:
  explicit CalibratedDevice(CalibrationProfile profile);

  [[nodiscard]] const CalibrationProfile& profile() const { return profile_; }

  /// One reason why layers cannot be timed.
  struct Fault {
    enum About { type, memory } about;  ///< no matrix product was measured in this type; no copy was measured
    std::string text;
  };
  /// The reasons why layers of this type cannot be timed; empty if they can. Kernels can be timed if none is about
  /// memory.
  [[nodiscard]] std::vector<Fault> faults(DataType type) const;

  /// The prediction from the operator's table, or nothing if the profile has no such table.
  [[nodiscard]] std::optional<Prediction> by_table(std::string_view op, DataType type,
                                                   std::span<const std::int64_t> shape) const {
    return predictor_.predict(op, type, shape);
  }
  /// As by_table(), slowed down for products, convolutions and attention by heat and the limit of power (slowdown()).
  /// Without a table it takes the table of a similar operator (OperatorInfo::like) in proportion to the least work,
  /// which is never better than interpolated; without that it extrapolates from the operator's least work, with an
  /// unknown error (taken as 100%).
  [[nodiscard]] Prediction operation(std::string_view op, DataType type, std::span<const std::int64_t> shape) const;
  /// Predicts work that no operator covers: each kernel takes as long as a copy of the same number of bytes, or as long
  /// as its flops at the highest measured rate of matrix products in this type, whichever is longer. Needs a table of
  /// copies.
  [[nodiscard]] Prediction work(const LayerWork& work, DataType type) const;
  /// How many times as long products take in a run of hours as in the calibration: the least of `gemm_sustained` over
  /// `gemm` for its largest shape in this type, at least 1; 1 if the profile lacks one of the two.
  [[nodiscard]] double slowdown(DataType type) const;
  /// Seconds in which the host launches one kernel after the other; 0 if that was not measured.
  [[nodiscard]] double launch_seconds() const { return launch_seconds_; }
  /// Seconds of one kernel: from the table of its operator if there is one, else from its work. Needs a table of
  /// copies.
  [[nodiscard]] double seconds(const KernelWork& kernel) const override;

 private:
  CalibrationProfile profile_;
  OperatorPredictor predictor_;
  double launch_seconds_ = 0;
};

/// The times of all layers, composed of the operators that layer_operators() names; `batch` >= 1. Throws InputError
/// with the texts of faults(), and for a layer that takes longer than a day.
[[nodiscard]] TimedModel calibrated_times(const LayerTable& table, const CalibratedDevice& device, int batch,
                                          DataType type);

/// How much of a model's time was measured, interpolated and extrapolated.
struct BasisSummary {
  bool known = false;      ///< false if no layer states the basis of its time
  double seconds[3] = {};  ///< forward and backward time, indexed by PredictionBasis
  int layers[3] = {};      ///< layers that take time, indexed by PredictionBasis
  double together = 0;     ///< expected relative error of the sum if the layers' errors are fully correlated
  double independent = 0;  ///< the same if they are independent
};
[[nodiscard]] BasisSummary summarise_basis(const TimedModel& model);

}  // namespace contend
