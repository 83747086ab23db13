#include "tests/policies/assignment.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <limits>

namespace contend::test {

namespace {

constexpr std::size_t kNoLine = SIZE_MAX;

/// The state of the method: dual values of rows and columns, and the assignment so far.
class Assigner {
 public:
  Assigner(std::span<const double> costs, std::size_t columns)
      : costs_{costs},
        columns_{columns},
        rows_{costs.size() / std::max<std::size_t>(columns, 1)},
        u_(rows_),
        v_(columns),
        shortest_(columns),
        path_(columns, kNoLine),
        column_of_(rows_, kNoLine),
        row_of_(columns, kNoLine) {}

  std::vector<std::size_t> assign() {
    for (std::size_t row = 0; row < rows_; ++row) add(row);
    return column_of_;
  }

 private:
  void add(std::size_t first) {
    double least = 0;
    const std::size_t sink = find_path(first, least);
    u_[first] += least;
    for (std::size_t i = 0; i < rows_; ++i)
      if (row_is_seen_[i] && i != first) u_[i] += least - shortest_[column_of_[i]];
    for (std::size_t j = 0; j < columns_; ++j)
      if (column_is_seen_[j]) v_[j] -= least - shortest_[j];
    for (std::size_t j = sink;;) {  // turn the path round
      const std::size_t i = path_[j];
      row_of_[j] = i;
      std::swap(column_of_[i], j);
      if (i == first) return;
    }
  }

  /// The free column that is nearest to the row.
  std::size_t find_path(std::size_t row, double& least) {
    row_is_seen_.assign(rows_, false);
    column_is_seen_.assign(columns_, false);
    std::fill(shortest_.begin(), shortest_.end(), std::numeric_limits<double>::infinity());
    std::vector<std::size_t> left(columns_);
    for (std::size_t j = 0; j < columns_; ++j) left[j] = columns_ - j - 1;
    for (std::size_t i = row;;) {
      std::size_t index = kNoLine;
      double lowest = std::numeric_limits<double>::infinity();
      row_is_seen_[i] = true;
      for (std::size_t at = 0; at < left.size(); ++at) {
        const std::size_t j = left[at];
        const double length = least + costs_[i * columns_ + j] - u_[i] - v_[j];
        if (length < shortest_[j]) {
          path_[j] = i;
          shortest_[j] = length;
        }
        if (shortest_[j] < lowest || (shortest_[j] == lowest && row_of_[j] == kNoLine)) {
          lowest = shortest_[j];
          index = at;
        }
      }
      CONTEND_CHECK(index != kNoLine, "every row has a column of finite cost");
      least = lowest;
      const std::size_t j = left[index];
      column_is_seen_[j] = true;
      left[index] = left.back();
      left.pop_back();
      if (row_of_[j] == kNoLine) return j;
      i = row_of_[j];
    }
  }

  std::span<const double> costs_;
  std::size_t columns_, rows_;
  std::vector<double> u_, v_, shortest_;
  std::vector<std::size_t> path_, column_of_, row_of_;
  std::vector<bool> row_is_seen_, column_is_seen_;
};

}  // namespace

std::vector<std::size_t> cheapest_assignment(std::span<const double> costs, std::size_t columns) {
  CONTEND_CHECK(columns > 0 && costs.size() % columns == 0 && costs.size() / columns <= columns,
                "there are as many columns as rows, or more");
  return Assigner{costs, columns}.assign();
}

}  // namespace contend::test
