#include "calibration/monotone_curve.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <utility>

namespace contend {

MonotoneCurve::MonotoneCurve(std::vector<double> x, std::span<const double> y, std::span<const double> weights)
    : x_{std::move(x)} {
  CONTEND_CHECK(!x_.empty() && x_.size() == y.size(), "a value for each point");
  CONTEND_CHECK(weights.empty() || weights.size() == y.size(), "a weight for each value");
  struct Pool {
    double sum = 0, weight = 0;
    std::size_t count = 0;
    [[nodiscard]] double mean() const { return sum / weight; }
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double weight = weights.empty() ? 1 : weights[i];
    CONTEND_CHECK(weight > 0, "a weight is positive");
    pools.push_back({weight * y[i], weight, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().weight += last.weight;
      pools.back().count += last.count;
    }
  }
  for (const Pool& pool : pools) y_.insert(y_.end(), pool.count, pool.mean());
}

double MonotoneCurve::at(double x) const {
  const auto above = std::lower_bound(x_.begin(), x_.end(), x);
  if (above == x_.end()) return y_.back();
  const auto i = static_cast<std::size_t>(above - x_.begin());
  if (i == 0) return y_.front();
  const double share = (x - x_[i - 1]) / (x_[i] - x_[i - 1]);
  return y_[i - 1] + share * (y_[i] - y_[i - 1]);
}

}  // namespace contend
