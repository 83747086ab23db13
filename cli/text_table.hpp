#pragma once
// Text tables for people: the first column to the left, figures to the right.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace contend {

inline constexpr double kPercent = 100;
/// Rows of a list that people are shown; how many more there are is said.
inline constexpr std::size_t kMaxShown = 20;

class Table {
 public:
  /// Titles carry the unit: `makespan [s]`.
  explicit Table(std::vector<std::string> titles) { rows_.push_back(std::move(titles)); }
  /// As many cells as titles.
  void add(std::vector<std::string> cells);
  /// For a table of words: column `index` goes to the left too.
  void align_left(std::size_t index) { left_.push_back(index); }
  /// Columns on the left are wrapped between words so that no line is wider than `limit`; 0: as wide as it gets.
  [[nodiscard]] std::string text(std::size_t limit = 0) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t limit) const;
  [[nodiscard]] std::size_t lines(const std::vector<std::size_t>& widths) const;
  [[nodiscard]] bool is_left(std::size_t column) const;

  std::vector<std::vector<std::string>> rows_;  ///< row 0 are the titles
  std::vector<std::size_t> left_{0};
};

/// The values as decimals of equal precision, about five significant digits for the largest; `-` for NaN.
[[nodiscard]] std::vector<std::string> format_column(const std::vector<double>& values);

}  // namespace contend
