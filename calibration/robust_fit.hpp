#pragma once
// Regression of times whose noise is relative and which now and then are far off: small and large values count alike,
// outliers don't count.

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

/// A fitted number with its 95% confidence interval; NaN where the data don't tell.
struct FittedNumber {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct RobustFit {
  std::vector<FittedNumber> coefficients;  ///< one a column, each >= 0
  std::vector<double> covariance;          ///< of them, row by row; 0 for one that the bound holds at 0
  std::vector<double> fitted;              ///< > 0
  std::vector<double> residuals;           ///< (y - fitted) / fitted
  std::vector<double> weights;             ///< of each row: 1 counts fully, 0 is an outlier
  double deviation = 0;                    ///< of the relative residuals, from their median (1 for a normal)
  double r_squared = 0;                    ///< of the weighted rows; NaN where all y are alike
  std::size_t rank = 0;                    ///< of the columns; if less, coefficients mean nothing one by one
  /// Half the width of a 95% interval in standard errors; NaN if there are no more rows than columns.
  [[nodiscard]] double interval_factor() const;
};

/// Coefficients x >= 0 of y = X x in terms of relative residuals r = (y - X x) / X x: those for which
/// sum of psi(r / s) X_c / (X x) = 0 for every column c that isn't held at 0. Dividing by the fit instead of y keeps
/// them unbiased under relative noise.
///
/// An M-estimate by iteratively reweighted non-negative least squares: Huber's rho (k = 1.345), then Tukey's biweight
/// (c = 4.685) with the scale s kept, each 95% efficient under normal noise (Huber and Ronchetti, Robust Statistics,
/// 2nd edition, 2009, 7.8); s is the median of |r| / 0.6745. With fewer than ten rows Huber's alone: a median of so few
/// doesn't say whom to throw out. Intervals: Student's t with rows - columns degrees and the asymptotic covariance of
/// the same book, 7.6, equation 7.81; they suppose independent noise, and a model that is right.
///
/// `matrix` has y.size() rows of 1 to 3 columns, row by row, none negative, a positive one in each row; y > 0.
[[nodiscard]] RobustFit robust_fit(std::span<const double> matrix, std::size_t columns, std::span<const double> y);

/// Median of |values| / 0.6745: the standard deviation, if they are normal around 0 and few are far off.
[[nodiscard]] double robust_deviation(std::span<const double> values);

inline constexpr double kHuber = 1.345;
inline constexpr double kTukey = 4.685;

}  // namespace contend
