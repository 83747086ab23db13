#pragma once
// A non-decreasing, piecewise linear curve through measured times.

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

class MonotoneCurve {
 public:
  /// `x` rises strictly and has at least one element; `y` has as many. Neighbours that fall are replaced by their
  /// weighted mean, which gives the least-squares fit among non-decreasing curves (pool adjacent violators; Barlow et
  /// al., Statistical Inference under Order Restrictions, 1972). `weights` are > 0, one for each x, or empty for all 1.
  MonotoneCurve(std::vector<double> x, std::span<const double> y, std::span<const double> weights = {});
  /// The curve at `x`; beyond the ends, the value at the end.
  [[nodiscard]] double at(double x) const;

 private:
  std::vector<double> x_, y_;
};

}  // namespace contend
