#pragma once
// A Gaussian process over a few trials predicts the values of points not yet tried, and says which point to try next.
// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equations 2.25, 2.26 and 2.30; Snoek
// et al., NIPS 2012, for expected improvement.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace contend {

/// The kernel of a process, Matern 5/2 with a length for each key. A key is a group of coordinates, such as the
/// coordinates of the words of one parameter.
struct GaussianKernel {
  std::vector<double>
      lengths;       ///< by key, in units of the cube, > 0; one of several means that the key has little effect
  double noise = 0;  ///< variance of a value around the true function, as a share of the variance of all values, > 0
};

/// A Gaussian process with a Matern 5/2 kernel. Inside, the values are scaled to mean 0 and deviation 1; results are in
/// their units.
class GaussianProcess {
 public:
  using Point = std::vector<double>;

  /// Takes points within the unit cube, all of one dimension, and a value for each that is not NaN. `noise` is the
  /// noise of the kernel. The kernel has one length for all directions, the most likely of a few.
  GaussianProcess(std::vector<Point> points, std::span<const double> values, double noise = 1e-6);
  /// The same with a given kernel. Coordinate i of a point belongs to key `key_of[i]`, from 0 on without gaps.
  GaussianProcess(std::vector<Point> points, std::span<const double> values, std::vector<std::size_t> key_of,
                  const GaussianKernel& kernel);
  ~GaussianProcess();
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;

  /// Mean and standard deviation of the true function at a point.
  struct Prediction {
    double mean = 0, deviation = 0;
  };
  [[nodiscard]] Prediction at(const Point& point) const;
  /// The same of a weighted sum of the true function at several points, a weight for each.
  [[nodiscard]] Prediction at(std::span<const Point> points, std::span<const double> weights) const;
  /// The expected amount by which the true function at the point exceeds the largest value plus `xi` standard
  /// deviations of all values; 0 where it does not exceed that.
  [[nodiscard]] double expected_improvement(const Point& point, double xi) const;

 private:
  struct Fit;
  std::unique_ptr<Fit> fit_;
};

/// The expected amount by which a normal variable exceeds `level`.
[[nodiscard]] double expected_gain(const GaussianProcess::Prediction& there, double level);
/// The probability that a normal variable is at least `level`.
[[nodiscard]] double probability_at_least(const GaussianProcess::Prediction& there, double level);

/// The most probable kernel for these values (automatic relevance determination: Rasmussen and Williams, section 5.1).
/// Searches along one length at a time, and along the noise, until nothing improves. The prior of a length is lognormal
/// around 1: a key matters little until the values say otherwise.
[[nodiscard]] GaussianKernel likely_kernel(const std::vector<GaussianProcess::Point>& points,
                                           std::span<const double> values, const std::vector<std::size_t>& key_of);

}  // namespace contend
