#pragma once
// Formats text tables for people: the first column is left-aligned, figures are right-aligned.

#include "results/tested_changes.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

inline constexpr double kPercent = 100;
/// The most rows of a list that people are shown; the number of further rows is printed.
inline constexpr std::size_t kMaxShown = 20;

/// People read shares (0..1) as per cent, in every table; JSON and CSV have the share itself.
[[nodiscard]] double shown_factor(std::string_view unit);

class Table {
 public:
  /// Titles include the unit: `makespan [s]`.
  explicit Table(std::vector<std::string> titles) { rows_.push_back(std::move(titles)); }
  /// Adds a row with as many cells as there are titles.
  void add(std::vector<std::string> cells);
  /// Left-aligns column `index` too, for columns of words.
  void align_left(std::size_t index) { left_.push_back(index); }
  /// The table for standard output, no wider than that is: see output_width().
  [[nodiscard]] std::string text() const;
  /// The table. If `limit` is not 0 and a line would be wider, left-aligned columns are wrapped between words; where
  /// that is not enough, the rows stand side by side as columns, as many as fit, in one table below the other.
  [[nodiscard]] std::string text(std::size_t limit) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t limit) const;
  [[nodiscard]] std::string drawn(const std::vector<std::size_t>& widths) const;
  [[nodiscard]] std::string transposed(std::size_t limit) const;
  /// The titles as first column, and each of these rows as a further one.
  [[nodiscard]] Table turned(std::size_t first, std::size_t count) const;
  [[nodiscard]] bool is_left(std::size_t column) const;

  std::vector<std::vector<std::string>> rows_;  ///< row 0 holds the titles
  std::vector<std::size_t> left_{0};
};

/// The values as decimals of equal precision, about five significant digits for the largest; `-` for NaN.
[[nodiscard]] std::vector<std::string> format_column(const std::vector<double>& values);

/// A ratio with its interval, if it has one: `0.978 [0.951, 1.006]`; `-` for NaN.
[[nodiscard]] std::string ratio_text(const RatioEstimate& ratio);
/// The cells of a ratio below `p` and `detectable`; `-` where it has none.
[[nodiscard]] std::string p_value_cell(const TestedRatio& ratio);
[[nodiscard]] std::string detectable_cell(const TestedRatio& ratio);
/// The lines below a table that say what its columns `p` and `detectable` are: of so many ratios of `what`, tested
/// together, over so many pairs `of` seeds or runs, which may be few. Empty without tests.
[[nodiscard]] std::string ratio_tests_note(std::size_t tests, std::string_view what, std::size_t pairs, bool detectable,
                                           std::string_view of = "seeds");

/// Microseconds as nccl-tests prints them: at least four digits, at most two of them decimals; `-` for NaN.
[[nodiscard]] std::string microseconds_text(double seconds);

}  // namespace contend
