#include "calibration/robust_fit.hpp"
#include "calibration/roofline_fit.hpp"
#include "sim/statistics.hpp"
#include "synthetic_times.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct Rows {
  std::vector<double> matrix, y;
  void add(double one, double m, double time) {
    matrix.insert(matrix.end(), {one, m});
    y.push_back(time);
  }
};

Rows line(const std::vector<double>& sizes, double alpha, double beta, NoisyClock clock) {
  Rows rows;
  for (const double m : sizes) rows.add(1, m, clock(alpha + beta * m));
  return rows;
}

struct Matrix2 {
  double aa = 0, ab = 0, bb = 0;
  [[nodiscard]] Matrix2 inverse() const {
    const double determinant = aa * bb - ab * ab;
    return {bb / determinant, -ab / determinant, aa / determinant};
  }
};

/// What a fit of two columns must meet, from the equations of Huber and Ronchetti written out; `scale` is s.
void check_equations(const Rows& rows, const RobustFit& fit, double scale, bool tukey) {
  const std::size_t size = rows.y.size();
  const auto n = static_cast<double>(size);
  const double a = fit.coefficients[0].value, b = fit.coefficients[1].value;
  double first = 0, second = 0, psi2 = 0, slope = 0, slope2 = 0, sum = 0, moment = 0;
  Matrix2 normal;
  for (std::size_t i = 0; i < size; ++i) {
    CAPTURE(i);
    const double one = rows.matrix[2 * i], m = rows.matrix[2 * i + 1], fitted = a * one + b * m;
    const double r = (rows.y[i] - fitted) / fitted, u = r / scale, v = u / 4.685;
    CHECK(fit.fitted[i] == near(fitted));
    CHECK(fit.residuals[i] == near_absolute(r, 1e-9));
    const double huber = std::abs(u) <= 1.345 ? 1 : 1.345 / std::abs(u);
    const double biweight = std::abs(v) < 1 ? (1 - v * v) * (1 - v * v) : 0;
    const double weight = tukey ? biweight : huber;
    CHECK(fit.weights[i] == near_absolute(weight, 1e-6));
    first += weight * r * one / fitted;
    second += weight * r * m / fitted;
    normal.aa += one * one / fitted / fitted;
    normal.ab += one * m / fitted / fitted;
    normal.bb += m * m / fitted / fitted;
    const double derivative = tukey ? (std::abs(v) < 1 ? (1 - v * v) * (1 - 5 * v * v) : 0) : (huber < 1 ? 0 : 1);
    psi2 += weight * r * weight * r;
    slope += derivative / n;
    slope2 += derivative * derivative / n;
    sum += weight / fitted / fitted;
    moment += weight / fitted / fitted * rows.y[i];
  }
  CHECK(first == near_absolute(0, 1e-6));
  CHECK(second == near_absolute(0, 1e-6));
  const double k = 1 + 2 / n * (slope2 - slope * slope) / (slope * slope);
  const double spread = k * k * psi2 / (n - 2) / (slope * slope);
  const Matrix2 inverse = normal.inverse();
  const std::array<double, 4> covariance{inverse.aa * spread, inverse.ab * spread, inverse.ab * spread,
                                         inverse.bb * spread};
  for (std::size_t i = 0; i < 4; ++i) CHECK(fit.covariance[i] == near(covariance[i], 1e-5));
  for (std::size_t c = 0; c < 2; ++c) {
    const FittedNumber& number = fit.coefficients[c];
    const double half = student_t_975(size - 2) * std::sqrt(covariance[3 * c]);
    CHECK(number.high == near(number.value + half, 1e-5));
    CHECK(number.low == near(std::max(0.0, number.value - half), 1e-5));
  }
  double total = 0, left = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double weight = fit.weights[i] / fit.fitted[i] / fit.fitted[i];
    total += weight * (rows.y[i] - moment / sum) * (rows.y[i] - moment / sum);
    left += weight * (rows.y[i] - fit.fitted[i]) * (rows.y[i] - fit.fitted[i]);
  }
  CHECK(fit.r_squared == near(1 - left / total, 1e-6));
  CHECK(fit.deviation == near(robust_deviation(fit.residuals)));
}

}  // namespace

TEST_CASE("robust fit: exact data are met exactly, and one outlier is thrown out") {
  // t = 10 + 2 m for m = 1..12, but 1000 at m = 7.
  Rows rows;
  for (int m = 1; m <= 12; ++m) rows.add(1, m, m == 7 ? 1000 : 10 + 2 * m);
  const RobustFit fit = robust_fit(rows.matrix, 2, rows.y);
  CHECK(fit.coefficients[0].value == near(10));
  CHECK(fit.coefficients[1].value == near(2));
  CHECK(fit.weights[6] == 0);
  CHECK(fit.residuals[6] == near(1000.0 / 24 - 1));
  CHECK(fit.r_squared == near(1));
  CHECK(fit.rank == 2);
}

TEST_CASE("robust fit: by hand") {
  // One column of ones, noise -10%, 0, +10% around 10: weights are equal and within Huber's 1.345 deviations, as the
  // deviation is 0.1 / 0.6745. So the mean, 10, with the usual interval: t(0.975, 2) = 4.3027, s = 1, n = 3.
  const std::vector<double> ones{1, 1, 1}, y{9, 10, 11};
  const RobustFit fit = robust_fit(ones, 1, y);
  CHECK(fit.coefficients[0].value == near(10));
  CHECK(fit.coefficients[0].high == near(10 + 4.302653 / std::sqrt(3.0), 1e-7));
  CHECK(fit.deviation == near(0.1 / 0.6745));
  // As many rows as columns: a line, and no word about how sure it is.
  const std::vector<double> two{1, 1, 1, 2}, times{3, 5};
  const RobustFit exact = robust_fit(two, 2, times);
  CHECK(exact.coefficients[0].value == near(1));
  CHECK(exact.coefficients[1].value == near(2));
  CHECK(std::isnan(exact.coefficients[1].low));
  CHECK(std::isnan(exact.interval_factor()));
}

TEST_CASE("robust fit: the equations of Huber below ten rows") {
  // One row is a third too long. The scale is the scale of the residuals themselves, which Huber's fit iterates.
  Rows rows;
  const double noise[] = {0.02, -0.03, 0.01, -0.01, 0.33, 0.03, -0.02, 0.015, -0.035};
  for (int m = 1; m <= 9; ++m) rows.add(1, m, (10 + 2 * m) * (1 + noise[m - 1]));
  const RobustFit fit = robust_fit(rows.matrix, 2, rows.y);
  check_equations(rows, fit, fit.deviation, false);
  CHECK(fit.weights[4] < 1);
  CHECK(fit.weights[4] > 0);
  CHECK(fit.interval_factor() == near(student_t_975(7)));
}

TEST_CASE("robust fit: Tukey's equations from ten rows on") {
  Rows rows;
  const double noise[] = {0.02, -0.03, 0.01, -0.01, 0.33, 0.03, -0.02, 0.015, -0.035, 0.04};
  for (int m = 1; m <= 10; ++m) rows.add(1, m, (10 + 2 * m) * (1 + noise[m - 1]));
  const RobustFit fit = robust_fit(rows.matrix, 2, rows.y);
  CHECK(fit.weights[4] == 0);
  // The scale is the scale of Huber's fit; one weight tells it, and all others must agree.
  const double v = std::sqrt(1 - std::sqrt(fit.weights[9]));
  const double scale = std::abs(fit.residuals[9]) / (4.685 * v);
  CHECK(scale == near(fit.deviation, 0.25));
  check_equations(rows, fit, scale, true);
}

TEST_CASE("robust fit: the interval of what the bound holds at 0 is that of the fit without the bound") {
  // Times fall: beta = 0, and alpha is the mean that meets sum of r = 0, which is exact after a step as all are
  // inliers.
  Rows rows;
  for (int m = 1; m <= 6; ++m) rows.add(1, m, 10 - 0.1 * m + (m % 2 == 0 ? 0.05 : -0.05));
  const RobustFit fit = robust_fit(rows.matrix, 2, rows.y);
  double mean = 0, psi2 = 0;
  for (const double y : rows.y) mean += y / 6;
  CHECK(fit.coefficients[0].value == near(mean));
  CHECK(fit.coefficients[1].value == 0);
  CHECK(fit.coefficients[1].low == 0);
  for (const double weight : fit.weights) REQUIRE(weight == 1);
  for (const double y : rows.y) psi2 += (y / mean - 1) * (y / mean - 1);
  // Sums of 1, m and m^2 for m to 6 are 6, 21 and 91; free: the straight line of least squares.
  const Matrix2 inverse = Matrix2{6, 21, 91}.inverse();
  double moment = 0;
  for (std::size_t i = 0; i < 6; ++i) moment += static_cast<double>(i + 1) * rows.y[i];
  const double free = inverse.ab * 6 * mean + inverse.bb * moment, spread = psi2 / 5;
  REQUIRE(free < 0);
  CHECK(fit.coefficients[1].high ==
        near(std::max(0.0, free + student_t_975(4) * std::sqrt(inverse.bb * spread) * mean), 1e-9));
  CHECK(fit.coefficients[1].high > 0);
  CHECK(fit.covariance[0] == near(spread * mean * mean / 6));
  CHECK(fit.covariance[3] == 0);
  const double half = student_t_975(5) * std::sqrt(spread / 6) * mean;
  CHECK(fit.coefficients[0].low == near(mean - half));
  CHECK(fit.coefficients[0].high == near(mean + half));
}

TEST_CASE("robust fit: a single free column of two, and too few rows for an interval") {
  const std::vector<double> matrix{1, 1, 1, 2}, falling{5, 4};
  const RobustFit fit = robust_fit(matrix, 2, falling);
  CHECK(fit.coefficients[1].value == 0);
  CHECK(std::isnan(fit.coefficients[1].high));
  CHECK(fit.coefficients[0].value == near((1 / 5.0 + 1 / 4.0) / (1 / 25.0 + 1 / 16.0)));  // rows over their times
  CHECK_FALSE(std::isnan(fit.coefficients[0].high));
  // Equal times leave nothing to explain.
  const std::vector<double> ones{1, 1, 1}, equal{7, 7, 7};
  CHECK(std::isnan(robust_fit(ones, 1, equal).r_squared));
}

TEST_CASE("robust fit: nothing is negative") {
  // t = 2 m - 1: the line would begin below 0. Then t = 8 - m / 2, which would fall.
  Rows rising, falling;
  for (int m = 1; m <= 12; ++m) rising.add(1, m, 2 * m - 1 + 0.05 * (m % 3));
  for (int m = 1; m <= 12; ++m) falling.add(1, m, 8 - 0.5 * m + 0.05 * (m % 3));
  const RobustFit up = robust_fit(rising.matrix, 2, rising.y), down = robust_fit(falling.matrix, 2, falling.y);
  CHECK(up.coefficients[0].value == 0);
  CHECK(up.coefficients[0].low == 0);
  CHECK(up.coefficients[1].value > 1);
  CHECK(down.coefficients[1].value == 0);
  CHECK(down.coefficients[1].high >= 0);
}

TEST_CASE("robust fit: columns that say the same") {
  std::vector<double> matrix, y;
  for (int m = 1; m <= 12; ++m) {
    matrix.insert(matrix.end(), {1.0, 2.0 * m, 1.0 * m});
    y.push_back(5 + 3.0 * m);
  }
  const RobustFit fit = robust_fit(matrix, 3, y);
  CHECK(fit.rank == 2);
  CHECK(fit.fitted[11] == near(41));
}

TEST_CASE("robust fit: intervals hold the truth 95 times in 100, with and without outliers" *
          doctest::skip(kSanitized)) {
  constexpr int kRuns = 600;
  const std::vector<double> sizes = powers(6, 20, 3);
  for (const bool outliers : {false, true}) {
    CAPTURE(outliers);
    int alpha = 0, beta = 0;
    for (int seed = 1; seed <= kRuns; ++seed) {
      const Rows rows = line(sizes, 20e3, 0.8, NoisyClock{static_cast<std::uint64_t>(seed), 0.04, outliers});
      const RobustFit fit = robust_fit(rows.matrix, 2, rows.y);
      alpha += covers(fit.coefficients[0], 20e3) ? 1 : 0;
      beta += covers(fit.coefficients[1], 0.8) ? 1 : 0;
    }
    // Two standard deviations of 600 draws are 1.8 in 100; asymptotic intervals on 42 points miss a little more.
    CHECK(alpha / static_cast<double>(kRuns) > 0.925);
    CHECK(alpha / static_cast<double>(kRuns) < 0.975);
    CHECK(beta / static_cast<double>(kRuns) > 0.925);
    CHECK(beta / static_cast<double>(kRuns) < 0.975);
    MESSAGE("coverage of alpha " << alpha / static_cast<double>(kRuns) << ", beta "
                                 << beta / static_cast<double>(kRuns));
  }
}

TEST_CASE("a roofline of too few samples for a fit is the highest rates among them") {
  const std::vector<TimedWork> samples{{100, 10, 5}, {60, 40, 2}};
  const RooflineFit fit = fit_roofline(samples);
  CHECK(fit.seconds_per_byte == near(2.0 / 60));
  CHECK(fit.seconds_per_flop == near(2.0 / 40));
  CHECK(fit.overhead == 0);
}
