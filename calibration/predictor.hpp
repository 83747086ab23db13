#pragma once
// Predicts the times of operations that were not measured from those that were.

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
  double relative_error = 0;  ///< expected, as a share: of the measurement itself, or from cross-validation
  PredictionBasis basis = PredictionBasis::measured;
};

class OperatorPredictor {
 public:
  /// Copies the profile; each table is fitted when it is first used. Several threads may call the members at once.
  explicit OperatorPredictor(const CalibrationProfile& profile);
  ~OperatorPredictor();
  OperatorPredictor(OperatorPredictor&&) noexcept;
  OperatorPredictor& operator=(OperatorPredictor&&) noexcept;

  /// The predicted time; nothing if the profile has no table of this operator in this type. `shape` fits the operator's
  /// dimensions.
  [[nodiscard]] std::optional<Prediction> predict(std::string_view op, DataType type,
                                                  std::span<const std::int64_t> shape) const;
  /// The roofline on which a table's predictions build: the device's best rates. Nothing if there is no table.
  [[nodiscard]] std::optional<RooflineFit> roofline(std::string_view op, DataType type) const;
  /// Sets the relevance of a table's features, and for operators that mostly move bytes its baseline, to those that
  /// predict its samples best from each other, and its cross_validation to the median relative error of predicting each
  /// sample from all others, with what the samples of the other four fifths choose. `profile` has the tables of copies
  /// and of similar operators. Takes up to ten seconds.
  static void fit(OperatorTable& table, const CalibrationProfile& profile);
  /// The same for each table of the profile, in so many threads. The result doesn't depend on their number.
  static void fit_all(CalibrationProfile& profile, unsigned threads);

 private:
  struct Fits;
  std::unique_ptr<Fits> fits_;
};

}  // namespace contend
