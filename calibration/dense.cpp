#include "calibration/dense.hpp"

#include "sim/check.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <Eigen/Core>
#include <Eigen/QR>

namespace contend {

namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Columns = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

/// One product; the layouts are types, so that Eigen packs without a copy.
template <class A, class B>
void multiply_one(const ProductShape& s, const float* a, const float* b, float* c, bool accumulate) {
  const Eigen::Map<const A> left{a, s.m, s.k};
  const Eigen::Map<const B> right{b, s.k, s.n};
  Eigen::Map<Rows> out{c, s.m, s.n};
  if (accumulate)
    out.noalias() += left * right;
  else
    out.noalias() = left * right;
}

std::size_t size(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::size_t>(a * b * c);
}

/// The rows that count, each times the square root of its weight.
struct Weighted {
  Eigen::MatrixXd x;
  Eigen::VectorXd y;
  Eigen::VectorXd w;
};

Weighted weighted_rows(std::span<const double> matrix, std::size_t columns, std::span<const double> rhs,
                       std::span<const double> weights) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < rhs.size(); ++i) {
    CONTEND_CHECK(weights.empty() || weights[i] >= 0, "a negative weight");
    if (weights.empty() || weights[i] > 0) kept.push_back(i);
  }
  CONTEND_CHECK(!kept.empty(), "least squares without a row");
  const auto n = static_cast<Eigen::Index>(kept.size());
  const auto p = static_cast<Eigen::Index>(columns);
  Weighted out{Eigen::MatrixXd(n, p), Eigen::VectorXd(n), Eigen::VectorXd(n)};
  for (Eigen::Index r = 0; r < n; ++r) {
    const std::size_t row = kept[static_cast<std::size_t>(r)];
    out.w[r] = weights.empty() ? 1 : weights[row];
    const double root = std::sqrt(out.w[r]);
    out.y[r] = rhs[row] * root;
    for (Eigen::Index c = 0; c < p; ++c) out.x(r, c) = matrix[row * columns + static_cast<std::size_t>(c)] * root;
  }
  return out;
}

/// (X^T X)^-1 from X P = Q R, of full rank.
Eigen::MatrixXd inverse_of_normal(const Eigen::ColPivHouseholderQR<Eigen::MatrixXd>& qr, Eigen::Index p) {
  const Eigen::MatrixXd inverse =
      qr.matrixQR().topLeftCorner(p, p).triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(p, p));
  return qr.colsPermutation() * (inverse * inverse.transpose()) * qr.colsPermutation().transpose();
}

/// `inverse` of the scaled columns.
void set_errors(LinearFit& fit, const Eigen::MatrixXd& inverse, const Eigen::VectorXd& scale) {
  const Eigen::Index p = scale.size();
  for (Eigen::Index i = 0; i < p; ++i) {
    for (Eigen::Index j = 0; j < p; ++j) {
      const double value = fit.deviation * fit.deviation * inverse(i, j) / (scale[i] * scale[j]);
      fit.covariance[static_cast<std::size_t>(i * p + j)] = value;
      if (i == j) fit.standard_errors[static_cast<std::size_t>(i)] = std::sqrt(value);
    }
  }
}

/// Around the weighted mean; `y` and `residual` hold rows times the root of their weight.
double explained(const Weighted& rows, const Eigen::VectorXd& residual) {
  const double mean = rows.y.dot(rows.w.cwiseSqrt()) / rows.w.sum();
  const double total = (rows.y - mean * rows.w.cwiseSqrt()).squaredNorm();
  const double left = residual.squaredNorm();
  if (total > 0) return 1 - left / total;
  return left > 0 ? 0 : 1;
}

}  // namespace

void multiply(const ProductShape& s, std::span<const float> a, std::span<const float> b, std::span<float> c,
              Layout layout_a, Layout layout_b, bool accumulate) {
  CONTEND_CHECK(s.batch >= 1 && s.m >= 1 && s.n >= 1 && s.k >= 1, "a product of nothing");
  CONTEND_CHECK(
      a.size() == size(s.batch, s.m, s.k) && b.size() == size(s.batch, s.k, s.n) && c.size() == size(s.batch, s.m, s.n),
      "operands of other sizes than their product");
  for (std::int64_t i = 0; i < s.batch; ++i) {
    const float* const left = a.data() + i * s.m * s.k;
    const float* const right = b.data() + i * s.k * s.n;
    float* const out = c.data() + i * s.m * s.n;
    if (layout_a == Layout::plain && layout_b == Layout::plain)
      multiply_one<Rows, Rows>(s, left, right, out, accumulate);
    else if (layout_a == Layout::plain)
      multiply_one<Rows, Columns>(s, left, right, out, accumulate);
    else if (layout_b == Layout::plain)
      multiply_one<Columns, Rows>(s, left, right, out, accumulate);
    else
      multiply_one<Columns, Columns>(s, left, right, out, accumulate);
  }
}

std::string dense_library() {
  return fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

LinearFit least_squares(std::span<const double> matrix, std::size_t columns, std::span<const double> rhs,
                        std::span<const double> weights) {
  CONTEND_CHECK(columns >= 1 && !rhs.empty() && matrix.size() == columns * rhs.size(), "a matrix of another size");
  CONTEND_CHECK(weights.empty() || weights.size() == rhs.size(), "as many weights as rows");
  Weighted rows = weighted_rows(matrix, columns, rhs, weights);
  const auto p = static_cast<Eigen::Index>(columns);
  // Columns of length 1 make the rank a statement about directions, not about units.
  Eigen::VectorXd scale = rows.x.colwise().norm();
  for (Eigen::Index c = 0; c < p; ++c) {
    if (scale[c] == 0) scale[c] = 1;
    rows.x.col(c) /= scale[c];
  }
  const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver{rows.x};
  const Eigen::VectorXd scaled = solver.solve(rows.y);
  const Eigen::VectorXd residual = rows.y - rows.x * scaled;

  LinearFit fit;
  fit.rank = static_cast<std::size_t>(solver.rank());
  const auto count = static_cast<std::size_t>(rows.y.size());
  if (count > fit.rank) fit.deviation = std::sqrt(residual.squaredNorm() / static_cast<double>(count - fit.rank));
  fit.r_squared = explained(rows, residual);
  for (Eigen::Index c = 0; c < p; ++c) fit.coefficients.push_back(scaled[c] / scale[c]);
  fit.standard_errors.assign(columns, std::numeric_limits<double>::quiet_NaN());
  fit.covariance.assign(columns * columns, std::numeric_limits<double>::quiet_NaN());
  if (fit.rank == columns && count > columns)
    set_errors(fit, inverse_of_normal(Eigen::ColPivHouseholderQR<Eigen::MatrixXd>{rows.x}, p), scale);
  return fit;
}

}  // namespace contend
