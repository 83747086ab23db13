#pragma once
// Interpolates between scattered points by ordinary kriging over the nearest of them (Cressie, Statistics for Spatial
// Data, 1993, section 3.2). A look-up is linear in the number of points, with a small constant.

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

/// The covariance model: a Matern 3/2 covariance of the given length, and the noise of a value around the truth.
struct SurfaceSettings {
  double length = 4;    ///< variance, relative to the surface's; > 0
  double noise = 1e-3;  ///< variance over the surface's, > 0
};

/// The index of a point and its distance.
struct Neighbour {
  double distance = 0;
  std::size_t index = 0;
};

class ScatteredSurface {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// `coordinates` has `dimensions` >= 1 numbers for each point, point after point, and at least one point.
  ScatteredSurface(std::vector<double> coordinates, std::size_t dimensions);

  [[nodiscard]] std::size_t size() const { return coordinates_.size() / dimensions_; }
  [[nodiscard]] std::span<const double> point(std::size_t index) const;

  /// The up to `count` nearest points without `skip`, nearest first; equally near ones in the order given.
  [[nodiscard]] std::vector<Neighbour> nearest(std::span<const double> where, std::size_t count,
                                               std::size_t skip = kNone) const;
  /// The best linear unbiased prediction at `where` from the `values` of all points but `skip`. `extra_noise` is the
  /// noise of each value beyond settings.noise, as a variance relative to the variance of the surface; one for each
  /// value, or empty.
  [[nodiscard]] double at(std::span<const double> where, std::span<const double> values,
                          const SurfaceSettings& settings, std::size_t skip = kNone,
                          std::span<const double> extra_noise = {}) const;
  /// The candidate settings that best predict each value from the others: of all `judged` points, or of an even
  /// selection if they are many. Empty: all points.
  [[nodiscard]] SurfaceSettings best_settings(std::span<const double> values, std::span<const double> extra_noise = {},
                                              std::span<const std::size_t> judged = {}) const;
  /// The mean absolute difference between those values and what the others predict; infinite with a single point.
  [[nodiscard]] double error(std::span<const double> values, const SurfaceSettings& settings,
                             std::span<const double> extra_noise = {}, std::span<const std::size_t> judged = {}) const;

 private:
  std::vector<double> coordinates_;
  std::size_t dimensions_;
};

}  // namespace contend
