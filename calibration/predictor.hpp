#pragma once
// Times of operations that were not measured, from those that were.

#include "calibration/profile.hpp"
#include "calibration/roofline_fit.hpp"
#include "models/time_basis.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace contend {

/// The expected error of a prediction that nothing vouches for: 100%.
inline constexpr double kUnknownError = 1;

struct Prediction {
  double seconds = 0;         ///< > 0
  double relative_error = 0;  ///< expected, a share: of the measurement, or from cross-validation
  PredictionBasis basis = PredictionBasis::measured;
};

class OperatorPredictor {
 public:
  /// Fits every table of the profile, when it is first asked for (the profile is copied). May be asked by several
  /// threads at once.
  explicit OperatorPredictor(const CalibrationProfile& profile);
  ~OperatorPredictor();
  OperatorPredictor(OperatorPredictor&&) noexcept;
  OperatorPredictor& operator=(OperatorPredictor&&) noexcept;

  /// Nothing if the profile has no table of this operator in this type. `shape` fits the operator's dimensions.
  [[nodiscard]] std::optional<Prediction> predict(std::string_view op, DataType type,
                                                  std::span<const std::int64_t> shape) const;
  /// The roofline under the predictions of a table: what the device reaches at best. Nothing if there is no table.
  [[nodiscard]] std::optional<RooflineFit> roofline(std::string_view op, DataType type) const;
  /// Median relative error of leave-one-out predictions of a table, as OperatorTable::cross_validation.
  [[nodiscard]] static double cross_validation(const OperatorTable& table);

 private:
  struct Fits;
  std::unique_ptr<Fits> fits_;
};

}  // namespace contend
