#pragma once
// A device as its calibration shows it: what operations, kernels and layers take on it. What was not measured is
// predicted, and every answer says on what ground it stands (docs/models/calibration.md).

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

  /// Why layers can't be timed.
  struct Fault {
    enum About { type, memory } about;  ///< no products were measured in this type; no copies were
    std::string text;
  };
  /// Empty if layers can be timed in this type; if there is none about the memory, at least kernels can be.
  [[nodiscard]] std::vector<Fault> faults(DataType type) const;

  /// By the table of the operator; nothing if there is none.
  [[nodiscard]] std::optional<Prediction> by_table(std::string_view op, DataType type,
                                                   std::span<const std::int64_t> shape) const {
    return predictor_.predict(op, type, shape);
  }
  /// The same, but without a table by the operator's least work: extrapolated, error unknown (taken as 100%).
  [[nodiscard]] Prediction operation(std::string_view op, DataType type, std::span<const std::int64_t> shape) const;
  /// Of work that no operator stands for: each kernel takes as long as a copy that moves as many bytes, or, if that is
  /// more, its flops at the highest rate of products of this type. Needs a table of copies.
  [[nodiscard]] Prediction work(const LayerWork& work, DataType type) const;
  /// The kernel's operator by its table, or else its work. Needs a table of copies.
  [[nodiscard]] double seconds(const KernelWork& kernel) const override;

 private:
  CalibrationProfile profile_;
  OperatorPredictor predictor_;
};

/// Times of all layers by layer_operators(). `batch` >= 1. Throws InputError with what faults() has to say, and for a
/// layer that takes longer than a day.
[[nodiscard]] TimedModel calibrated_times(const LayerTable& table, const CalibratedDevice& device, int batch,
                                          DataType type);

/// How much of a model's time stands on what ground.
struct BasisSummary {
  bool known = false;      ///< there are layers that say their basis
  double seconds[3] = {};  ///< forward and backward, by PredictionBasis
  int layers[3] = {};      ///< with time
  double together = 0;     ///< expected relative error of the sum if all layers err the same way
  double independent = 0;  ///< the same if they err independently
};
[[nodiscard]] BasisSummary summarise_basis(const TimedModel& model);

}  // namespace contend
