#pragma once
// The fit of one table: a roofline, and on top of it how far each shape is from that (docs/models/calibration.md).

#include "calibration/predictor.hpp"
#include "calibration/profile.hpp"
#include "calibration/roofline_fit.hpp"
#include "calibration/scattered_surface.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace contend {

class TableFit {
 public:
  /// Fewer samples than this are no ground for an expected error.
  static constexpr std::size_t kLeastForError = 4;

  /// The table's operator exists, and its samples are sound: at least one.
  explicit TableFit(const OperatorTable& table);

  [[nodiscard]] Prediction predict(std::span<const std::int64_t> shape) const;
  [[nodiscard]] const RooflineFit& roofline() const { return model_.roofline; }
  /// Relative error of predicting each sample from all others; none if there are too few.
  [[nodiscard]] const std::vector<double>& errors() const { return errors_; }

 private:
  struct Range {
    double least = 0, most = 0;
  };
  /// What depends on which samples are looked at.
  struct Model {
    RooflineFit roofline;
    std::vector<double> corrections;  ///< log(time / roofline) of each sample, also of one that is left out
  };

  [[nodiscard]] TimedWork work(std::span<const std::int64_t> shape) const;
  [[nodiscard]] std::vector<double> features(std::span<const std::int64_t> shape) const;
  [[nodiscard]] std::vector<double> varying(const std::vector<double>& features) const;
  [[nodiscard]] Model fit(std::size_t skip) const;
  [[nodiscard]] double seconds(const Model& model, const std::vector<double>& features, const TimedWork& work,
                               std::size_t skip) const;
  [[nodiscard]] double on_curve(const Model& model, double x, const TimedWork& work, std::size_t skip) const;
  [[nodiscard]] bool inside(const std::vector<double>& features) const;
  [[nodiscard]] double expected_error(const std::vector<double>& features, bool is_inside) const;
  [[nodiscard]] std::vector<double> extra_noise() const;
  void find_ranges();
  void find_errors();

  const OperatorInfo* info_;
  DataType type_;
  std::vector<OperatorSample> samples_;  ///< by shape
  std::vector<TimedWork> works_;
  std::vector<double> deviations_;  ///< of each time, as a share of it
  std::vector<double> weights_;     ///< by those, with the floor at what is typical
  std::vector<std::vector<double>> features_;
  std::vector<Range> ranges_;         ///< of each feature
  std::vector<std::size_t> varying_;  ///< the features that differ between samples
  Model model_;
  std::optional<ScatteredSurface> surface_;  ///< over those; none if the samples have no feature that differs
  std::vector<double> extra_noise_;          ///< of each sample on it
  SurfaceSettings settings_;
  double reach_ = 0;   ///< so far from the nearest sample is still between samples
  double spread_ = 0;  ///< of the corrections around their mean
  std::vector<double> errors_;
};

}  // namespace contend
