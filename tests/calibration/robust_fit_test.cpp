#include "calibration/robust_fit.hpp"
#include "synthetic_times.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <cmath>

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
