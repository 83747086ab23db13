#pragma once
// A Gaussian process over a few trials predicts the values of points not yet tried, and says which point to try next.
// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equations 2.25, 2.26 and 2.30; Snoek
// et al., NIPS 2012, for expected improvement.

#include <memory>
#include <span>
#include <vector>

namespace contend {

/// A Gaussian process with a Matern 5/2 kernel. The kernel has one length for all directions, the most likely of a few.
/// Inside, the values are scaled to mean 0 and deviation 1; results are in their units.
class GaussianProcess {
 public:
  using Point = std::vector<double>;

  /// Takes points within the unit cube, all of one dimension, and a value for each that is not NaN. `noise` is the
  /// variance of a value around the true function, as a share of the variance of all values, > 0.
  GaussianProcess(std::vector<Point> points, std::span<const double> values, double noise = 1e-6);
  ~GaussianProcess();
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;

  /// Mean and standard deviation of the true function at a point.
  struct Prediction {
    double mean = 0, deviation = 0;
  };
  [[nodiscard]] Prediction at(const Point& point) const;
  /// The expected amount by which the true function at the point exceeds the largest value plus `xi` standard
  /// deviations of all values; 0 where it does not exceed that.
  [[nodiscard]] double expected_improvement(const Point& point, double xi) const;

 private:
  struct Fit;
  std::unique_ptr<Fit> fit_;
};

}  // namespace contend
