#pragma once
// LinearProgram solves   max c x   subject to   A x <= b,  x >= 0,   with b >= 0 and sparse columns, by the revised
// simplex method with an explicit inverse (Dantzig, Orchard-Hays, Mathematical Tables and Other Aids to Computation 8,
// 1954). It is for programs of some hundred rows; an iteration costs O(rows^2 + entries). Many programs of schedulers
// start at a vertex where most rows hold with equality, so b is raised by amounts near 1e-10 that differ from row to
// row; the result belongs to the true b at the basis found. Before that each row is multiplied by a power of two, so
// that entries far from 1 in one row don't decide which pivots of the others count as 0 (Tomlin, Mathematical
// Programming Study 4, 1975, on scaling). It uses nothing but sums, products and quotients in a fixed order, so every
// machine gives equal results.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace contend {

class LinearProgram {
 public:
  /// `limits`: b, each >= 0, and 0 or, over the largest entry of its row, of the size of 1 to 10^6.
  explicit LinearProgram(std::vector<double> limits);

  /// Adds a column with its entries by row, each row at most once, and returns its index.
  std::size_t add(double value, std::vector<std::pair<std::size_t, double>> entries);
  /// The values of the columns at an optimum. To be called once. Nothing limits the sum: a broken invariant.
  [[nodiscard]] std::vector<double> solve();
  /// By row: how much the optimum that solve() has found rises with the limit. Where that is > 0, the row holds with
  /// equality in every optimum.
  [[nodiscard]] std::vector<double> duals() const;

 private:
  struct Column {
    double value = 0;
    std::vector<std::pair<std::size_t, double>> entries;
  };

  void scale_rows();
  [[nodiscard]] std::vector<double> duals_of_scaled() const;
  [[nodiscard]] std::size_t best_column(const std::vector<double>& duals) const;
  [[nodiscard]] std::vector<double> change_of(std::size_t column) const;
  [[nodiscard]] std::vector<double> weights(std::span<const double> limits) const;
  void exchange(std::size_t row, std::size_t column, const std::vector<double>& change);
  void invert();

  std::size_t rows_;
  std::vector<double> limits_, raised_;
  std::vector<double> factors_;     // by which solve() has multiplied the rows, and their limits
  std::vector<Column> columns_;     // the slacks first
  std::vector<std::size_t> basis_;  // by row
  std::vector<char> is_basic_;      // by column
  std::vector<double> inverse_;     // [row x rows + row]
};

}  // namespace contend
