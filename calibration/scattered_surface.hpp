#pragma once
// Values between scattered points: ordinary kriging over the nearest of them (Cressie, Statistics for Spatial Data,
// 1993, section 3.2), so that the cost of a look-up grows with the number of points only by a look at each.

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

/// How values hang together: a Matern 3/2 covariance of that length, and noise of a value around the truth.
struct SurfaceSettings {
  double length = 4;    ///< in units of the coordinates, > 0
  double noise = 1e-3;  ///< variance over that of the surface, > 0
};

/// A point and how far away it is.
struct Neighbour {
  double distance = 0;
  std::size_t index = 0;
};

class ScatteredSurface {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// `coordinates` has `dimensions` >= 1 numbers a point, one point after the other; at least one point.
  ScatteredSurface(std::vector<double> coordinates, std::size_t dimensions);

  [[nodiscard]] std::size_t size() const { return coordinates_.size() / dimensions_; }
  [[nodiscard]] std::span<const double> point(std::size_t index) const;

  /// The up to `count` nearest points, nearest first (of equally near ones, the one given first), without `skip`.
  [[nodiscard]] std::vector<Neighbour> nearest(std::span<const double> where, std::size_t count,
                                               std::size_t skip = kNone) const;
  /// The best linear unbiased guess of the value at `where` from the `values` of all points but `skip`. `extra_noise`
  /// is that of each value beyond settings.noise, a variance over that of the surface; as many as values, or none.
  [[nodiscard]] double at(std::span<const double> where, std::span<const double> values,
                          const SurfaceSettings& settings, std::size_t skip = kNone,
                          std::span<const double> extra_noise = {}) const;
  /// Of a few settings the one that guesses each value best from the others (of many points, an even choice of them).
  [[nodiscard]] SurfaceSettings best_settings(std::span<const double> values,
                                              std::span<const double> extra_noise = {}) const;

 private:
  std::vector<double> coordinates_;
  std::size_t dimensions_;
};

}  // namespace contend
