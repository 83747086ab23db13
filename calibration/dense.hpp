#pragma once
// Dense linear algebra: matrix products, which the CPU back end times, and least squares, which fits use. Its
// implementation is the only file that includes Eigen.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The sizes of `batch` products C = A B of m x k and k x n matrices; all >= 1.
struct ProductShape {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
};
/// How a row-major factor is stored: as it is, or as its transpose.
enum class Layout { plain, transposed };

/// C = A B in fp32, computed by Eigen on one thread; C = C + A B if `accumulate`. Matrices are row-major, one batch
/// after the other. The spans have the sizes of the shape (checked) and do not overlap.
void multiply(const ProductShape& shape, std::span<const float> a, std::span<const float> b, std::span<float> c,
              Layout layout_a = Layout::plain, Layout layout_b = Layout::plain, bool accumulate = false);

/// The library that multiplies, with its version: `Eigen 3.4.0`.
[[nodiscard]] std::string dense_library();

/// The coefficients that minimise the weighted sum of squared residuals.
struct LinearFit {
  std::vector<double> coefficients;  ///< one for each column
  /// Covariance of the coefficients, row-major, for independent errors of variance `deviation`^2 / weight: the inverse
  /// of X^T W X times deviation^2. All NaN unless there are more rows than columns and rank == columns.
  std::vector<double> covariance;
  /// Square roots of the covariance's diagonal.
  std::vector<double> standard_errors;
  double deviation = 0;  ///< sqrt(sum w r^2 / (rows - rank)); 0 if rows == rank
  double r_squared = 0;  ///< 1 - sum w r^2 / sum w (y - mean)^2; 1 if all y are equal and fitted exactly
  /// Numerical rank of the columns, each first scaled to length 1. If it is less than the number of columns, they do
  /// not determine the coefficients; those given are then the shortest of all best vectors (in scaled columns). These
  /// predict well where rows are like those given, but single coefficients mean nothing.
  std::size_t rank = 0;
};

/// Solves the weighted least-squares problem. `matrix` is row-major with rhs.size() rows of `columns` numbers; all
/// numbers finite, at least one row and one column. `weights` are >= 0, one for each row, or empty for all 1. Rows of
/// weight 0 count as absent; at least one weight is positive.
[[nodiscard]] LinearFit least_squares(std::span<const double> matrix, std::size_t columns, std::span<const double> rhs,
                                      std::span<const double> weights = {});

}  // namespace contend
