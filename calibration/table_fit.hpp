#pragma once
// Fits one table of a profile: a roofline, and a surface of each shape's deviation from it
// (docs/models/calibration.md).

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
  /// With fewer samples than this no error can be estimated.
  static constexpr std::size_t kLeastForError = 4;

  /// The table has at least one sample and its operator exists; its samples are sound. `like`, which outlives this fit,
  /// is the fit of an operator with the same work, or of copies if the table is `from_copies`: the surface is then one
  /// of deviations from its predictions instead of the roofline.
  explicit TableFit(const OperatorTable& table, const TableFit* like = nullptr);

  /// The features of a shape that tell samples of the operator apart: its dimensions, for products in less than 32 bits
  /// the alignment of their rows, and if it has several dimensions the bytes and floating-point operations of its least
  /// work. All are logarithms. OperatorTable::relevance has a number for each.
  [[nodiscard]] static std::vector<std::string_view> feature_names(const OperatorInfo& info, DataType type);
  /// The relevance of the features that best predicts the `judged` samples, in order of shape, from all others.
  [[nodiscard]] std::vector<double> best_relevance(std::span<const std::size_t> judged) const;

  [[nodiscard]] Prediction predict(std::span<const std::int64_t> shape) const;
  [[nodiscard]] const RooflineFit& roofline() const { return model_.roofline; }
  /// Relative error of predicting each sample from all others; empty if there are too few.
  [[nodiscard]] const std::vector<double>& errors() const { return errors_; }

 private:
  struct Range {
    double least = 0, most = 0;
  };
  /// The part of the fit that depends on which samples are used.
  struct Model {
    RooflineFit roofline;
    std::vector<double> corrections;  ///< log(time / baseline) of each sample, including one left out of the fit
  };

  [[nodiscard]] Prediction by_like(std::span<const std::int64_t> shape) const;
  [[nodiscard]] TimedWork work(std::span<const std::int64_t> shape) const;
  [[nodiscard]] std::vector<double> features(std::span<const std::int64_t> shape) const;
  /// The features in which samples differ, times their relevance.
  [[nodiscard]] std::vector<double> coordinates(const std::vector<double>& features) const;
  [[nodiscard]] Model fit(std::size_t skip) const;
  /// The time from which a shape of this work deviates: by the roofline, or the prediction of `like`, if there is one.
  [[nodiscard]] static double baseline(const RooflineFit& roofline, const TimedWork& work, double by_like);
  [[nodiscard]] double seconds(const Model& model, const std::vector<double>& features, const TimedWork& work,
                               double by_like, std::size_t skip) const;
  [[nodiscard]] double on_curve(const Model& model, double x, const TimedWork& work, std::size_t skip) const;
  [[nodiscard]] bool inside(const std::vector<double>& features) const;
  [[nodiscard]] double expected_error(const std::vector<double>& features, bool is_inside) const;
  [[nodiscard]] std::vector<double> extra_noise() const;
  void find_ranges();
  void find_errors();
  void widen_errors();

  const OperatorInfo* info_;
  DataType type_;
  const TableFit* like_;
  bool from_copies_;
  std::vector<OperatorSample> samples_;  ///< ordered by shape
  std::vector<double> relevance_;        ///< of each feature
  double cross_validation_;              ///< of the table, if its relevance was chosen; else -1
  std::vector<TimedWork> works_;
  std::vector<double> by_like_;     ///< seconds that `like` predicts for each sample; 0 without it
  std::vector<double> deviations_;  ///< relative standard deviation of each time
  std::vector<double> weights_;     ///< from the deviations, with the typical noise as their floor
  std::vector<std::vector<double>> features_;
  std::vector<Range> ranges_;         ///< of each feature
  std::vector<std::size_t> varying_;  ///< the features in which samples differ
  Model model_;
  std::optional<ScatteredSurface> surface_;  ///< over the coordinates; none if no feature varies
  std::vector<double> extra_noise_;          ///< of each sample on the surface
  SurfaceSettings settings_;
  double reach_ = 0;   ///< a shape at most this far from the nearest sample counts as between samples
  double spread_ = 0;  ///< typical deviation of the samples from the roofline, as a share
  std::vector<double> errors_;
};

}  // namespace contend
