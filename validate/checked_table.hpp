#pragma once
// Tables of published figures beside ours, for suites with known disagreements: each of these has a reason. The suite
// fails if any other figure leaves its tolerance, and also if one with a reason comes back into it.

#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// A tolerance for figures that are shown but not judged.
inline constexpr double kOnlyShown = std::numeric_limits<double>::infinity();

/// A published figure and the simulated one.
struct CheckedFigure {
  std::string name;
  double published = 0;
  double ours = 0;
  double tolerance = 0;  ///< as a share of the published figure
  std::string_view why;  ///< reason of an expected deviation beyond the tolerance; else empty

  [[nodiscard]] double deviation() const { return ours / published - 1; }
  [[nodiscard]] bool is_within() const { return deviation() >= -tolerance && deviation() <= tolerance; }
};

/// One table of a suite.
struct CheckedTable {
  std::string title;
  std::vector<CheckedFigure> checks;
  std::vector<std::string> notes{};  ///< what was fitted, and to what
  std::string skipped{};             ///< why the table was not computed; else empty
};

/// The name of a figure that is known to be outside its tolerance, and the reason.
using KnownReason = std::pair<std::string_view, std::string_view>;

/// True if every figure is within its tolerance or has a reason, and none that is within has one.
[[nodiscard]] bool holds(const CheckedTable& table);

/// Attaches the reasons to the figures and prints the tables and the verdict on `suite`. Returns 0 if all tables hold
/// and, unless one was skipped, every reason belongs to a figure; else 1.
int report_tables(std::FILE* out, std::string_view suite, std::string_view document, std::vector<CheckedTable> tables,
                  std::span<const KnownReason> reasons);

}  // namespace contend
