#pragma once
// What counts as agreement: pure functions over numbers, so that tests can make each of them say no.

#include <span>
#include <string>
#include <vector>

namespace contend {

/// One figure, measured by a reference and by us.
struct Comparison {
  std::string name;
  double reference = 0;  ///< > 0
  double ours = 0;

  /// ours / reference - 1.
  [[nodiscard]] double deviation() const { return ours / reference - 1; }
};

/// True if ours is within the share `tolerance` of the reference (inclusive). NaN never is.
[[nodiscard]] bool within(const Comparison& comparison, double tolerance);

/// How a table ends its rows.
[[nodiscard]] constexpr const char* word(bool holds) {
  return holds ? "ok" : "FAILED";
}

struct Interval {
  double low = 0;
  double high = 0;
  [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }
};

/// Where one further draw from the normal population of `values` lies with 95% probability: mean +- t s sqrt(1 + 1/n).
/// A single run of a chaotic process is such a draw; an interval of the mean would be too narrow for it. At least two
/// values.
[[nodiscard]] Interval prediction_interval(std::span<const double> values);

/// For each name the averages over its comparisons, in order of first appearance.
[[nodiscard]] std::vector<Comparison> averages_by_name(std::span<const Comparison> comparisons);

/// Pairs `a` before `b` in the reference, apart by more than the share `gap` of the smaller, that we have the other way
/// round or equal.
struct OrderViolation {
  std::string smaller, larger;  ///< as the reference has them
};
[[nodiscard]] std::vector<OrderViolation> order_violations(std::span<const Comparison> comparisons, double gap);

}  // namespace contend
