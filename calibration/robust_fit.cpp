#include "calibration/robust_fit.hpp"

#include "calibration/dense.hpp"
#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace contend {
namespace {

constexpr std::size_t kMostColumns = 3;
constexpr std::size_t kFewRows = 10;
/// Times come with three or four digits: what is closer than this is met exactly.
constexpr double kExact = 1e-9;

using ColumnSet = unsigned;  // bit c: column c

/// The fit as it goes along.
class Regression {
 public:
  Regression(std::span<const double> matrix, std::size_t columns, std::span<const double> y)
      : matrix_{matrix}, columns_{columns}, y_{y}, fitted_(y.size()), residuals_(y.size()), robust_(y.size(), 1.0) {}

  RobustFit solve() {
    for (std::size_t i = 0; i < y_.size(); ++i) fitted_[i] = y_[i];
    refit();
    iterate([this] { scale_ = std::max(robust_deviation(residuals_), kExact); },
            [](double u) { return std::abs(u) <= kHuber ? 1.0 : kHuber / std::abs(u); });
    const bool tukey = y_.size() >= kFewRows;
    if (tukey) {
      const auto biweight = [](double u) {
        const double v = u / kTukey;
        return std::abs(v) < 1 ? (1 - v * v) * (1 - v * v) : 0.0;
      };
      iterate([] {}, biweight);
    }
    return result(tukey);
  }

 private:
  [[nodiscard]] std::vector<double> row_weights() const {
    std::vector<double> weights(y_.size());
    for (std::size_t i = 0; i < y_.size(); ++i) weights[i] = robust_[i] / (fitted_[i] * fitted_[i]);
    return weights;
  }
  [[nodiscard]] std::vector<double> columns_of(ColumnSet set) const {
    std::vector<double> some;
    for (std::size_t i = 0; i < y_.size(); ++i)
      for (std::size_t c = 0; c < columns_; ++c)
        if (set >> c & 1U) some.push_back(matrix_[i * columns_ + c]);
    return some;
  }
  [[nodiscard]] static std::size_t size_of(ColumnSet set) {
    return static_cast<std::size_t>((set & 1U) + (set >> 1 & 1U) + (set >> 2 & 1U));
  }

  /// One weighted non-negative least-squares problem. With at most three columns the seven ways to choose those that
  /// aren't 0 can be tried: the best one whose solution has no negative is the optimum, as the problem is convex.
  void refit() {
    const std::vector<double> weights = row_weights();
    double least = std::numeric_limits<double>::infinity();
    std::vector<double> best;
    const ColumnSet all = (1U << columns_) - 1U;
    for (ColumnSet set = all; set > 0; --set) {
      const LinearFit fit = least_squares(columns_of(set), size_of(set), y_, weights);
      if (std::ranges::any_of(fit.coefficients, [](double each) { return each < 0; })) continue;
      std::vector<double> full(columns_, 0.0);
      for (std::size_t c = 0, at = 0; c < columns_; ++c)
        if (set >> c & 1U) full[c] = fit.coefficients[at++];
      const double loss = squares(full, weights);
      if (loss < least) {
        least = loss;
        best = full;
        active_ = set;
        rank_ = fit.rank;
      }
      if (set == all) break;
    }
    CONTEND_CHECK(!best.empty(), "one column alone is never negative");
    coefficients_ = best;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      fitted_[i] = predict(coefficients_, i);
      // Where a column is 0 in some rows, 0 can be the best that the others say about them.
      if (!(fitted_[i] > 0)) fitted_[i] = y_[i] * kExact;
      residuals_[i] = (y_[i] - fitted_[i]) / fitted_[i];
    }
  }
  [[nodiscard]] double predict(const std::vector<double>& coefficients, std::size_t row) const {
    double sum = 0;
    for (std::size_t c = 0; c < columns_; ++c) sum += coefficients[c] * matrix_[row * columns_ + c];
    return sum;
  }
  [[nodiscard]] double squares(const std::vector<double>& coefficients, const std::vector<double>& weights) const {
    double sum = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double off = y_[i] - predict(coefficients, i);
      sum += weights[i] * off * off;
    }
    return sum;
  }

  template <class Rescale, class Weight>
  void iterate(Rescale&& rescale, Weight&& weight) {
    constexpr int kMost = 200;
    for (int i = 0; i < kMost; ++i) {
      rescale();
      const std::vector<double> robust_before = robust_;
      for (std::size_t row = 0; row < y_.size(); ++row) robust_[row] = weight(residuals_[row] / scale_);
      // A fit through fewer rows than it needs says nothing: keep what there is.
      if (static_cast<std::size_t>(std::ranges::count_if(robust_, [](double w) { return w > 0; })) <= columns_) {
        robust_ = robust_before;
        return;
      }
      const std::vector<double> before = fitted_;
      refit();
      double change = 0;
      for (std::size_t row = 0; row < y_.size(); ++row)
        change = std::max(change, std::abs(fitted_[row] / before[row] - 1));
      if (change < kExact) return;
    }
  }

  RobustFit result(bool tukey) {
    RobustFit fit;
    fit.fitted = fitted_;
    fit.residuals = residuals_;
    fit.weights = robust_;
    fit.deviation = robust_deviation(residuals_);
    fit.rank = active_ == (1U << columns_) - 1U ? rank_ : least_squares(matrix_, columns_, y_, row_weights()).rank;
    fit.r_squared = r_squared();
    add_intervals(fit, spread(tukey));
    return fit;
  }
  [[nodiscard]] double r_squared() const {
    const std::vector<double> weights = row_weights();
    double sum = 0, moment = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      sum += weights[i];
      moment += weights[i] * y_[i];
    }
    double total = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) total += weights[i] * (y_[i] - moment / sum) * (y_[i] - moment / sum);
    const double left = squares(coefficients_, weights);
    return total > kExact * moment * moment / sum ? 1 - left / total : kNaN;
  }
  /// K^2 (sum psi^2 / (n - p)) / (mean psi')^2: what the inverse of X^T X is multiplied with.
  [[nodiscard]] double spread(bool tukey) const {
    const auto n = static_cast<double>(y_.size()), p = static_cast<double>(size_of(active_));
    double psi2 = 0, slope = 0, slope2 = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double psi = residuals_[i] * robust_[i];
      const double v = residuals_[i] / (kTukey * scale_), v2 = v * v;
      const double derivative = tukey ? (v2 < 1 ? (1 - v2) * (1 - 5 * v2) : 0.0) : (robust_[i] < 1 ? 0.0 : 1.0);
      psi2 += psi * psi;
      slope += derivative / n;
      slope2 += derivative * derivative / n;
    }
    if (!(n > p) || !(slope > 0)) return kNaN;
    const double k = 1 + p / n * (slope2 - slope * slope) / (slope * slope);
    return k * k * psi2 / (n - p) / (slope * slope);
  }

  /// The inverse of X^T X of these columns, rows divided by what is fitted to them; NaN if it has none.
  [[nodiscard]] std::vector<double> inverse(ColumnSet set) const {
    const std::size_t p = size_of(set);
    std::vector<double> weights(y_.size());
    for (std::size_t i = 0; i < y_.size(); ++i) weights[i] = 1 / (fitted_[i] * fitted_[i]);
    // Whatever the right side is, the covariance over the squared deviation is the inverse. Signs that change give a
    // deviation that isn't 0.
    std::vector<double> rhs(y_.size());
    for (std::size_t i = 0; i < y_.size(); ++i) rhs[i] = i % 2 == 0 ? fitted_[i] : -fitted_[i];
    const LinearFit fit = least_squares(columns_of(set), p, rhs, weights);
    std::vector<double> inverse = fit.covariance;
    for (double& each : inverse) each /= fit.deviation * fit.deviation;
    return inverse;
  }
  void add_intervals(RobustFit& fit, double spread) const {
    const std::size_t n = y_.size();
    fit.coefficients.assign(columns_, {});
    fit.covariance.assign(columns_ * columns_, 0.0);
    const std::vector<double> own = n > size_of(active_) ? inverse(active_) : std::vector<double>{};
    for (std::size_t c = 0, at = 0; c < columns_; ++c) {
      FittedNumber& number = fit.coefficients[c];
      number = {coefficients_[c], kNaN, kNaN};
      if (!(active_ >> c & 1U)) {
        number.low = 0;
        number.high = highest(c, spread);
        continue;
      }
      if (!own.empty()) {
        const std::size_t p = size_of(active_);
        for (std::size_t d = 0, other = 0; d < columns_; ++d)
          if (active_ >> d & 1U) fit.covariance[c * columns_ + d] = own[at * p + other++] * spread;
        const double half = student_t_975(n - p) * std::sqrt(own[at * p + at] * spread);
        number.low = half >= 0 ? std::max(0.0, number.value - half) : kNaN;
        number.high = number.value + half;
      }
      ++at;
    }
  }
  /// The upper end of the interval of a coefficient that the bound holds at 0: the upper end in the fit without the
  /// bound.
  [[nodiscard]] double highest(std::size_t column, double spread) const {
    const std::size_t n = y_.size();
    if (n <= columns_) return kNaN;
    const LinearFit free = least_squares(matrix_, columns_, y_, row_weights());
    const double variance = inverse((1U << columns_) - 1U)[column * columns_ + column] * spread;
    const double high = free.coefficients[column] + student_t_975(n - columns_) * std::sqrt(variance);
    return std::isnan(high) ? kNaN : std::max(0.0, high);
  }

  std::span<const double> matrix_;
  std::size_t columns_;
  std::span<const double> y_;
  std::vector<double> coefficients_, fitted_, residuals_;
  std::vector<double> robust_;
  double scale_ = kExact;
  ColumnSet active_ = 0;
  std::size_t rank_ = 0;
};

}  // namespace

double robust_deviation(std::span<const double> values) {
  constexpr double kMedianOfNormal = 0.6745;
  std::vector<double> sizes;
  for (const double value : values) sizes.push_back(std::abs(value));
  return percentile(std::move(sizes), 0.5) / kMedianOfNormal;
}

double RobustFit::interval_factor() const {
  return residuals.size() > coefficients.size() ? student_t_975(residuals.size() - coefficients.size()) : kNaN;
}

RobustFit robust_fit(std::span<const double> matrix, std::size_t columns, std::span<const double> y) {
  CONTEND_CHECK(columns >= 1 && columns <= kMostColumns && !y.empty() && matrix.size() == columns * y.size(),
                "a matrix of one to three columns");
  CONTEND_CHECK(std::ranges::all_of(y, [](double each) { return each > 0; }) &&
                    std::ranges::all_of(matrix, [](double each) { return each >= 0; }),
                "times are positive, and so is what they consist of");
  return Regression{matrix, columns, y}.solve();
}

}  // namespace contend
