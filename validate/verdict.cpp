#include "validate/verdict.hpp"

#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/core.h>

namespace contend {

bool within(const Comparison& comparison, double tolerance) {
  return std::abs(comparison.deviation()) <= tolerance;
}

std::string signed_text(double value, int decimals) {
  const double unit = std::pow(10.0, -decimals);
  return fmt::format("{:.{}f}", std::abs(value) < unit / 2 ? 0.0 : value, decimals);
}

Interval prediction_interval(std::span<const double> values) {
  CONTEND_CHECK(values.size() >= 2, "a spread needs two values");
  const double center = mean(values);
  const double half_width = student_t_975(values.size() - 1) * sample_deviation(values) *
                            std::sqrt(1 + 1 / static_cast<double>(values.size()));
  return {center - half_width, center + half_width};
}

std::vector<Comparison> averages_by_name(std::span<const Comparison> comparisons) {
  std::vector<Comparison> sums;
  std::vector<int> counts;
  for (const Comparison& each : comparisons) {
    const auto found = std::find_if(sums.begin(), sums.end(), [&](const Comparison& c) { return c.name == each.name; });
    const auto at = static_cast<std::size_t>(found - sums.begin());
    if (found == sums.end()) {
      sums.push_back({each.name, 0, 0});
      counts.push_back(0);
    }
    sums[at].reference += each.reference;
    sums[at].ours += each.ours;
    ++counts[at];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].reference /= counts[i];
    sums[i].ours /= counts[i];
  }
  return sums;
}

std::vector<OrderViolation> order_violations(std::span<const Comparison> comparisons, double gap) {
  std::vector<OrderViolation> violations;
  for (const Comparison& a : comparisons) {
    for (const Comparison& b : comparisons) {
      const bool apart = b.reference > a.reference * (1 + gap);
      if (apart && !(a.ours < b.ours)) violations.push_back({a.name, b.name});
    }
  }
  return violations;
}

}  // namespace contend
