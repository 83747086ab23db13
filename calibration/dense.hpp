#pragma once
// Dense linear algebra of a calibration: products of matrices, which the CPU back end times, and least squares, which
// fits use. The only file behind it that sees Eigen.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// `batch` products C = A B of m x k and k x n matrices, all numbers >= 1.
struct ProductShape {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
};
/// How a factor lies in memory, row by row: as it is, or as its transpose.
enum class Layout { plain, transposed };

/// C = A B in fp32 by Eigen on one thread; C = C + A B if `accumulate`. Matrices lie row by row, one batch after the
/// other. The spans have the sizes of the shape (checked) and don't overlap.
void multiply(const ProductShape& shape, std::span<const float> a, std::span<const float> b, std::span<float> c,
              Layout layout_a = Layout::plain, Layout layout_b = Layout::plain, bool accumulate = false);

/// What multiplies, with its version: `Eigen 3.4.0`.
[[nodiscard]] std::string dense_library();

/// The coefficients that make the weighted sum of squared residuals least.
struct LinearFit {
  std::vector<double> coefficients;  ///< one a column
  /// Of the coefficients, row by row, under independent errors of variance `deviation`^2 / weight: the inverse of
  /// X^T W X times deviation^2. NaN throughout where there are no more rows than columns, or rank < columns.
  std::vector<double> covariance;
  /// Square roots of its diagonal.
  std::vector<double> standard_errors;
  double deviation = 0;  ///< sqrt(sum w r^2 / (rows - rank)); 0 if rows == rank
  double r_squared = 0;  ///< 1 - sum w r^2 / sum w (y - mean)^2; 1 if all y are alike and met
  /// Numerical rank of the columns, each scaled to length 1 first. If it is less than the number of columns, they don't
  /// determine the coefficients; those given are then the shortest vector (in scaled columns) of all best ones: they
  /// predict well where rows are like those given, and mean nothing one by one.
  std::size_t rank = 0;
};

/// `matrix` has rhs.size() rows of `columns` numbers, row by row; all numbers finite, at least one row and one column.
/// `weights` are >= 0, as many as rows, or none: all 1. Rows of weight 0 count as absent, and all may not be absent.
[[nodiscard]] LinearFit least_squares(std::span<const double> matrix, std::size_t columns, std::span<const double> rhs,
                                      std::span<const double> weights = {});

}  // namespace contend
