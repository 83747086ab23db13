#include "policies/scheduling/linear_program.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace contend {

namespace {

constexpr double kLeastGain = 1e-11;         // of a column that is worth taking, of the terms of its difference
constexpr double kLeastPivotPart = 1e-9;     // of the largest entry of a column
constexpr double kRaise = 1e-10;             // by which limits are raised, at least
constexpr std::size_t kUntilInverted = 200;  // exchanges, after which rounding is cleared
constexpr std::size_t kNoColumn = SIZE_MAX;
constexpr double kGolden = 0.6180339887498949;

}  // namespace

LinearProgram::LinearProgram(std::vector<double> limits)
    : rows_{limits.size()}, limits_{std::move(limits)}, factors_(rows_, 1.0), inverse_(rows_ * rows_) {
  for (std::size_t r = 0; r < rows_; ++r) {
    CONTEND_CHECK(limits_[r] >= 0, "a linear program starts at 0");
    columns_.push_back({0, {{r, 1.0}}});
    basis_.push_back(r);
    inverse_[r * rows_ + r] = 1;
  }
}

std::size_t LinearProgram::add(double value, std::vector<std::pair<std::size_t, double>> entries) {
  columns_.push_back({value, std::move(entries)});
  return columns_.size() - 1 - rows_;
}

/// Multiplies each row by the power of two that brings its largest entry into [1/2, 1), which rounds nothing, and
/// raises the limits.
void LinearProgram::scale_rows() {
  std::vector<double> largest(rows_);
  for (std::size_t c = rows_; c < columns_.size(); ++c)
    for (const auto& [row, entry] : columns_[c].entries) largest[row] = std::max(largest[row], std::abs(entry));
  for (std::size_t r = 0; r < rows_; ++r) {
    if (largest[r] == 0) continue;
    int exponent = 0;
    static_cast<void>(std::frexp(largest[r], &exponent));
    factors_[r] = std::ldexp(1.0, -exponent);
    limits_[r] *= factors_[r];
  }
  for (std::size_t c = rows_; c < columns_.size(); ++c)
    for (auto& [row, entry] : columns_[c].entries) entry *= factors_[row];
  for (std::size_t r = 0; r < rows_; ++r) {
    const double part = static_cast<double>(r) * kGolden;
    raised_.push_back(limits_[r] + kRaise * (1 + part - std::floor(part)) * std::max(1.0, limits_[r]));
  }
}

std::vector<double> LinearProgram::duals() const {
  std::vector<double> duals = duals_of_scaled();
  for (std::size_t r = 0; r < rows_; ++r) duals[r] *= factors_[r];
  return duals;
}

std::vector<double> LinearProgram::duals_of_scaled() const {
  std::vector<double> duals(rows_);
  for (std::size_t r = 0; r < rows_; ++r) {
    const double value = columns_[basis_[r]].value;
    if (value == 0) continue;
    const double* const row = inverse_.data() + r * rows_;
    for (std::size_t k = 0; k < rows_; ++k) duals[k] += value * row[k];
  }
  return duals;
}

/// The column with the largest gain. A gain is a difference, and one that is tiny beside its two terms
/// is rounding.
std::size_t LinearProgram::best_column(const std::vector<double>& duals) const {
  double most = 0;
  std::size_t best = kNoColumn;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (is_basic_[c] != 0) continue;
    double gain = columns_[c].value, size = std::abs(gain);
    for (const auto& [row, entry] : columns_[c].entries) {
      gain -= duals[row] * entry;
      size += std::abs(duals[row] * entry);
    }
    if (gain <= most || gain <= kLeastGain * size) continue;
    most = gain;
    best = c;
  }
  return best;
}

std::vector<double> LinearProgram::change_of(std::size_t column) const {
  std::vector<double> change(rows_);
  for (const auto& [row, entry] : columns_[column].entries)
    for (std::size_t r = 0; r < rows_; ++r) change[r] += inverse_[r * rows_ + row] * entry;
  return change;
}

std::vector<double> LinearProgram::weights(std::span<const double> limits) const {
  std::vector<double> weights(rows_);
  for (std::size_t r = 0; r < rows_; ++r)
    for (std::size_t k = 0; k < rows_; ++k) weights[r] += inverse_[r * rows_ + k] * limits[k];
  return weights;
}

void LinearProgram::exchange(std::size_t row, std::size_t column, const std::vector<double>& change) {
  is_basic_[basis_[row]] = 0;
  is_basic_[column] = 1;
  basis_[row] = column;
  double* const pivot = inverse_.data() + row * rows_;
  for (std::size_t k = 0; k < rows_; ++k) pivot[k] /= change[row];
  for (std::size_t r = 0; r < rows_; ++r) {
    if (r == row || change[r] == 0) continue;
    double* const other = inverse_.data() + r * rows_;
    for (std::size_t k = 0; k < rows_; ++k) other[k] -= change[r] * pivot[k];
  }
}

/// The inverse of the basis again, by exchanges of slacks for its other columns, each at the row with the largest
/// pivot.
void LinearProgram::invert() {
  const std::vector<std::size_t> wanted = basis_;
  std::fill(inverse_.begin(), inverse_.end(), 0);
  std::vector<char> is_taken(rows_);
  for (std::size_t r = 0; r < rows_; ++r) {
    inverse_[r * rows_ + r] = 1;
    basis_[r] = r;
  }
  for (const std::size_t column : wanted)
    if (column < rows_) is_taken[column] = 1;
  for (const std::size_t column : wanted) {
    if (column < rows_) continue;
    const std::vector<double> change = change_of(column);
    std::size_t row = rows_;
    for (std::size_t r = 0; r < rows_; ++r)
      if (is_taken[r] == 0 && (row == rows_ || std::abs(change[r]) > std::abs(change[row]))) row = r;
    CONTEND_CHECK(row < rows_ && change[row] != 0, "the basis of a linear program is regular");
    is_taken[row] = 1;
    exchange(row, column, change);
  }
  std::fill(is_basic_.begin(), is_basic_.end(), 0);
  for (const std::size_t column : basis_) is_basic_[column] = 1;
}

std::vector<double> LinearProgram::solve() {
  CONTEND_CHECK(raised_.empty(), "a linear program is solved once");
  scale_rows();
  is_basic_.assign(columns_.size(), 0);
  for (const std::size_t column : basis_) is_basic_[column] = 1;
  std::vector<double> now = weights(raised_);
  std::size_t exchanges = 0;
  for (;;) {
    const std::size_t entering = best_column(duals_of_scaled());
    if (entering == kNoColumn) break;
    const std::vector<double> change = change_of(entering);
    double largest = 0, least = std::numeric_limits<double>::infinity();
    for (const double each : change) largest = std::max(largest, std::abs(each));
    std::size_t leaving = rows_;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (!(change[r] > kLeastPivotPart * largest)) continue;
      const double ratio = std::max(0.0, now[r]) / change[r];
      if (ratio < least || (ratio == least && change[r] > change[leaving])) {
        least = ratio;
        leaving = r;
      }
    }
    CONTEND_CHECK(leaving < rows_, "something limits a linear program");
    for (std::size_t r = 0; r < rows_; ++r) now[r] -= least * change[r];
    now[leaving] = least;
    exchange(leaving, entering, change);
    if (++exchanges % kUntilInverted != 0) continue;
    invert();
    now = weights(raised_);
  }
  invert();
  const std::vector<double> at = weights(limits_);
  std::vector<double> values(columns_.size() - rows_);
  for (std::size_t r = 0; r < rows_; ++r)
    if (basis_[r] >= rows_) values[basis_[r] - rows_] = std::max(0.0, at[r]);
  return values;
}

}  // namespace contend
