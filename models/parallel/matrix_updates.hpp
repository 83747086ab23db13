#pragma once
// The products of an update, for optimizers that multiply matrices.
//
// Muon (Keller Jordan, 2024; arXiv 2502.16982, section 2.1): Newton-Schulz iterations on the momentum X of m rows and n
// columns, m <= n, in bf16: A = X X^T, B = b A + c A A, X = a X + B X. So 4 m^2 n + 2 m^3 flops each.
// Shampoo (arXiv 1802.09568, algorithm 1; arXiv 2309.06497), by blocks of m x n numbers in fp32: L += G G^T and R +=
// G^T G, L^-1/4 G R^-1/4, and once in an interval the inverse roots by eigenvalues. Eigenvalues and -vectors of a
// symmetric matrix of n rows are 9 n^3 flops (Golub and Van Loan, Matrix Computations, 4th ed., section 8.3.3), the
// root out of them 2 n^3.

#include "models/overlap/optimizers.hpp"
#include "models/parallel/operators.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// Products of one update of one matrix: of each update, and of one in `interval`. Only their forward passes count.
struct MatrixProducts {
  std::vector<TransformerOperator> each, seldom;
  int interval = 1;
};
/// By the optimizer's row for such a matrix; none where it has no products.
[[nodiscard]] MatrixProducts products_of(const Optimizer& optimizer, const WeightShape& shape);
/// Kernels of these products for one matrix, of each update.
[[nodiscard]] std::int64_t product_kernels(const Optimizer& optimizer, const WeightShape& shape);

/// Matrices alike that lie one behind another in a buffer, and what the update of each computes.
struct TimedMatrix {
  std::int64_t elements = 0;  ///< of the rank's part of one, >= 1
  std::int64_t count = 1;     ///< >= 0
  Time time{};
  std::int64_t gathered = 0;  ///< elements of the whole matrix where several ranks have parts of it, or 0
  std::int64_t kernels = 0;
};
/// What the rank computes and gathers that has most to do if `ranks` cut the buffer into equal slices, >= 1. A rank
/// computes a matrix whole that its slice has a part of (arXiv 2502.16982, algorithm 1), or, without `whole`, the
/// matrices that begin in its slice.
struct MatrixShare {
  Time time{};
  std::int64_t elements = 0;  ///< of the rank's parts of these matrices
  std::int64_t gathered = 0;  ///< elements of the whole matrices that are cut
  std::int64_t kernels = 0;
};
[[nodiscard]] MatrixShare fullest_share(std::span<const TimedMatrix> matrices, std::int64_t ranks, bool whole);

}  // namespace contend
