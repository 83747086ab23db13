#pragma once
// Tables of published figures beside ours, for suites with known disagreements: each of these has a reason and a stated
// deviation. The suite fails if any other figure leaves its tolerance, and also if one with a reason comes back into it
// or is more than three points from what was stated.

#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A tolerance for figures that are shown but neither judged nor counted, such as those that constants were fitted on.
inline constexpr double kOnlyShown = std::numeric_limits<double>::infinity();

/// How far a figure with a reason may be from its stated deviation: three points.
inline constexpr double kStatedWithin = 0.03;

/// A published figure and the simulated one.
struct CheckedFigure {
  std::string name;
  double published = 0;
  double ours = 0;
  double tolerance = 0;    ///< as a share of the published figure
  std::string_view why;    ///< reason of an expected deviation beyond the tolerance; else empty
  double published_s = 0;  ///< the iteration behind a ratio or a throughput, in seconds; 0 if there is none
  double ours_s = 0;
  double stated = 0;  ///< the expected deviation, if there is a reason

  [[nodiscard]] double deviation() const { return ours / published - 1; }
  [[nodiscard]] bool is_within() const { return deviation() >= -tolerance && deviation() <= tolerance; }
  /// True if the figure deviates as its reason says.
  [[nodiscard]] bool is_as_stated() const {
    return deviation() >= stated - kStatedWithin && deviation() <= stated + kStatedWithin;
  }
};

/// One table of a suite.
struct CheckedTable {
  std::string title;
  std::vector<CheckedFigure> checks;
  std::vector<std::string> notes{};  ///< what was fitted, and to what
  std::string skipped{};             ///< why the table was not computed; else empty
  bool shown_only = false;           ///< no figure is judged, but their spread is printed
};

/// A figure that is known to be outside its tolerance.
struct KnownReason {
  std::string_view figure;  ///< its name
  double deviation = 0;     ///< as a share of the published figure; held within kStatedWithin
  std::string_view why;
};

/// The figures of a suite of reasons.txt that are known to be outside.
[[nodiscard]] std::vector<KnownReason> known_reasons(std::string_view suite);
/// The text of reasons.txt.
[[nodiscard]] std::string_view reasons_text();

/// True if every figure is within its tolerance, or has a reason and deviates as stated.
[[nodiscard]] bool holds(const CheckedTable& table);

/// Attaches the reasons to the figures and prints the tables and the verdict on `suite`. Returns a SuiteVerdict: the
/// suite holds if all tables hold and, unless one was skipped, every reason belongs to a figure. It has compared
/// nothing if no table has a figure that is judged.
int report_tables(std::FILE* out, std::string_view suite, std::string_view document, std::vector<CheckedTable> tables,
                  std::span<const KnownReason> reasons);

}  // namespace contend
