#pragma once
// Tables of published figures beside ours, for suites whose disagreements are known: each has a reason, and the suite
// fails if another figure leaves its tolerance, and also if one with a reason comes back into it.

#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// As a tolerance: the figure is shown, not judged.
inline constexpr double kOnlyShown = std::numeric_limits<double>::infinity();

/// A published figure and ours.
struct CheckedFigure {
  std::string name;
  double published = 0;
  double ours = 0;
  double tolerance = 0;  ///< share of the published figure
  std::string_view why;  ///< why it is outside, if that is known and expected; else empty

  [[nodiscard]] double deviation() const { return ours / published - 1; }
  [[nodiscard]] bool is_within() const { return deviation() >= -tolerance && deviation() <= tolerance; }
};

/// One table of a suite.
struct CheckedTable {
  std::string title;
  std::vector<CheckedFigure> checks;
  std::vector<std::string> notes{};  ///< what was fitted, on what
  std::string skipped{};             ///< why it was not run, else empty
};

/// Name of a figure that is known to be outside, and why.
using KnownReason = std::pair<std::string_view, std::string_view>;

/// A table holds if every figure is within its tolerance or has a reason, and none that is within has one.
[[nodiscard]] bool holds(const CheckedTable& table);

/// Gives the figures their reasons and prints the tables and the verdict on `suite`. 0 if all tables hold and, unless
/// one was skipped, every reason belongs to a figure; else 1.
int report_tables(std::FILE* out, std::string_view suite, std::string_view document, std::vector<CheckedTable> tables,
                  std::span<const KnownReason> reasons);

}  // namespace contend
