#pragma once
// Decides what counts as agreement, by pure functions over numbers, so that tests can make each of them fail.

#include <span>
#include <string>
#include <vector>

namespace contend {

/// One figure, by a reference and by this simulator.
struct Comparison {
  std::string name;
  double reference = 0;  ///< > 0
  double ours = 0;

  /// ours / reference - 1.
  [[nodiscard]] double deviation() const { return ours / reference - 1; }
};

/// True if `ours` is within the share `tolerance` of the reference (inclusive); false for NaN.
[[nodiscard]] bool within(const Comparison& comparison, double tolerance);

/// The verdict at the end of a table row.
[[nodiscard]] constexpr const char* word(bool holds) {
  return holds ? "ok" : "FAILED";
}

/// A number as text, without the minus sign of a negative number that rounds to zero.
[[nodiscard]] std::string signed_text(double value, int decimals);

/// What the function of a suite returns.
enum SuiteVerdict : int {
  kSuiteHeld = 0,
  kSuiteFailed = 1,
  kSuiteComparedNothing = 2,  ///< all data that it compares with are missing: nobody knows whether it would hold
};

/// The verdict on a suite of which every check that could be made held or not, and of which any could be made.
[[nodiscard]] constexpr SuiteVerdict suite_verdict(bool holds, bool compared_any) {
  return !compared_any ? kSuiteComparedNothing : holds ? kSuiteHeld : kSuiteFailed;
}

/// The word at the end of a suite.
[[nodiscard]] constexpr const char* suite_word(SuiteVerdict verdict) {
  return verdict == kSuiteHeld ? "passed" : verdict == kSuiteFailed ? "FAILED" : "compared nothing";
}

struct Interval {
  double low = 0;
  double high = 0;
  [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }
};

/// The 95% prediction interval for one further draw from the normal population of `values`: mean +- t s sqrt(1 + 1/n).
/// A single run of a chaotic process is such a draw; a confidence interval of the mean would be too narrow for it. At
/// least two values.
[[nodiscard]] Interval prediction_interval(std::span<const double> values);

/// For each name the averages over its comparisons, in order of first appearance.
[[nodiscard]] std::vector<Comparison> averages_by_name(std::span<const Comparison> comparisons);

/// Pairs that the reference orders, apart by more than the share `gap` of the smaller, and that `ours` has in the
/// opposite order or equal.
struct OrderViolation {
  std::string smaller, larger;  ///< in the reference's order
};
[[nodiscard]] std::vector<OrderViolation> order_violations(std::span<const Comparison> comparisons, double gap);

}  // namespace contend
