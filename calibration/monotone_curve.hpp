#pragma once
// A curve through measured times of one size: straight lines between the points, never falling.

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

class MonotoneCurve {
 public:
  /// `x` rises strictly; as many `y`, at least one. Neighbours that fall are replaced by their weighted mean: the least
  /// squares of all that never fall (pool adjacent violators; Barlow et al., Statistical Inference under Order
  /// Restrictions, 1972). As many `weights` > 0, or none: all 1.
  MonotoneCurve(std::vector<double> x, std::span<const double> y, std::span<const double> weights = {});
  /// Beyond the ends, the value at the end.
  [[nodiscard]] double at(double x) const;

 private:
  std::vector<double> x_, y_;
};

}  // namespace contend
