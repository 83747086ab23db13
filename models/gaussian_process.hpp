#pragma once
// A Gaussian process over a few trials: what is to be expected where nothing has been tried, and where to try next
// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equations 2.25, 2.26 and 2.30; Snoek et al.,
// NIPS 2012, for expected improvement).

#include <memory>
#include <span>
#include <vector>

namespace contend {

/// Matern 5/2 kernel with one length for all directions, the most likely of a few; values are scaled to mean 0 and
/// deviation 1 inside, results are in their units.
class GaussianProcess {
 public:
  using Point = std::vector<double>;

  /// Points within the unit cube, all of one dimension; a value each, not NaN. `noise` is the variance of a value
  /// around the truth as a share of the variance of all values, > 0.
  GaussianProcess(std::vector<Point> points, std::span<const double> values, double noise = 1e-6);
  ~GaussianProcess();
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;

  /// Of the truth at a point.
  struct Prediction {
    double mean = 0, deviation = 0;
  };
  [[nodiscard]] Prediction at(const Point& point) const;
  /// By how much the truth there is expected to exceed the largest value, counting only what exceeds it by `xi`
  /// deviations of all values.
  [[nodiscard]] double expected_improvement(const Point& point, double xi) const;

 private:
  struct Fit;
  std::unique_ptr<Fit> fit_;
};

}  // namespace contend
