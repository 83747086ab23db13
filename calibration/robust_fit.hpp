#pragma once
// Robust regression for times with relative noise and occasional outliers: small and large values count alike, and
// outliers do not count.

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

/// A fitted number with its 95% confidence interval; NaN if the data do not determine it.
struct FittedNumber {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct RobustFit {
  std::vector<FittedNumber> coefficients;  ///< one for each column, each >= 0
  std::vector<double> covariance;          ///< of the coefficients, row-major; 0 for one that the bound holds at 0
  std::vector<double> fitted;              ///< > 0
  std::vector<double> residuals;           ///< (y - fitted) / fitted
  std::vector<double> weights;             ///< of each row: 1 counts fully, 0 marks an outlier
  double deviation = 0;                    ///< scaled median of the absolute relative residuals (the standard deviation
                                           ///< if they are normal)
  double r_squared = 0;                    ///< of the weighted rows; NaN if all y are equal
  std::size_t rank = 0;                    ///< of the columns; if less than their number, single coefficients mean
                                           ///< nothing
  /// Half the width of a 95% interval in standard errors; NaN unless there are more rows than columns.
  [[nodiscard]] double interval_factor() const;
};

/// Fits coefficients x >= 0 of y = X x to relative residuals r = (y - X x) / X x, by solving sum of psi(r / s) X_c / (X
/// x) = 0 for every column c that is not held at 0. Dividing by the fit instead of y keeps the coefficients unbiased
/// under relative noise.
///
/// The estimate is an M-estimate by iteratively reweighted non-negative least squares: first Huber's rho (k = 1.345),
/// then Tukey's biweight (c = 4.685) with the scale s kept; each is 95% efficient under normal noise (Huber and
/// Ronchetti, Robust Statistics, 2nd edition, 2009, 7.8). s is the median of |r| / 0.6745. Below ten rows only Huber's
/// is used: a median of so few residuals does not tell which row is an outlier. Intervals use Student's t with rows -
/// columns degrees of freedom and the asymptotic covariance of the same book, 7.6, equation 7.81; they assume
/// independent noise and a correct model.
///
/// `matrix` is row-major with y.size() rows of 1 to 3 columns, no number negative and a positive one in each row; y >
/// 0.
[[nodiscard]] RobustFit robust_fit(std::span<const double> matrix, std::size_t columns, std::span<const double> y);

/// Median of |values| / 0.6745: the standard deviation if the values are normal around 0 with few outliers.
[[nodiscard]] double robust_deviation(std::span<const double> values);

inline constexpr double kHuber = 1.345;
inline constexpr double kTukey = 4.685;

}  // namespace contend
