// Products against three plain loops, least squares against lines worked out by hand.

#include "calibration/dense.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

std::vector<float> drawn(RandomStream& stream, std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& each : out) each = static_cast<float>(stream.uniform(-1, 1));
  return out;
}

/// Element (row, column) of matrix `batch` of `rows` x `columns`, in either layout.
float at(const std::vector<float>& v, Layout layout, std::int64_t batch, std::int64_t rows, std::int64_t columns,
         std::int64_t row, std::int64_t column) {
  const std::int64_t inside = layout == Layout::plain ? row * columns + column : column * rows + row;
  return v[static_cast<std::size_t>(batch * rows * columns + inside)];
}

}  // namespace

TEST_CASE("products are the products of three loops, whatever the layout") {
  RandomStream stream{1, "dense_test"};
  for (const ProductShape s : {ProductShape{1, 1, 1, 1}, ProductShape{1, 5, 7, 3}, ProductShape{3, 16, 1, 33},
                               ProductShape{2, 1, 9, 20}, ProductShape{1, 64, 40, 50}}) {
    const auto a = drawn(stream, s.batch * s.m * s.k), b = drawn(stream, s.batch * s.k * s.n);
    const auto before = drawn(stream, s.batch * s.m * s.n);
    for (int which = 0; which < 8; ++which) {
      const Layout left = which % 2 == 0 ? Layout::plain : Layout::transposed;
      const Layout right = which / 2 % 2 == 0 ? Layout::plain : Layout::transposed;
      const bool accumulate = which / 4 == 1;
      std::vector<float> c = before;
      multiply(s, a, b, c, left, right, accumulate);
      double worst = 0;
      for (std::int64_t i = 0; i < s.batch; ++i)
        for (std::int64_t row = 0; row < s.m; ++row)
          for (std::int64_t column = 0; column < s.n; ++column) {
            const auto place = static_cast<std::size_t>((i * s.m + row) * s.n + column);
            double sum = accumulate ? static_cast<double>(before[place]) : 0;
            for (std::int64_t x = 0; x < s.k; ++x)
              sum += static_cast<double>(at(a, left, i, s.m, s.k, row, x)) *
                     static_cast<double>(at(b, right, i, s.k, s.n, x, column));
            worst = std::max(worst, std::abs(sum - static_cast<double>(c[place])));
          }
      INFO(fmt::format("{} x {} x {} x {}, variant {}", s.batch, s.m, s.n, s.k, which));
      CHECK(worst < 1e-5);
    }
  }
}

TEST_CASE("a line through four points") {
  // y = 1, 3, 2, 5 at x = 0, 1, 2, 3. Means 1.5 and 2.75; Sxx = 5, Sxy = 5.5, so slope 1.1, intercept 1.1.
  // Residuals -0.1, 0.8, -1.3, 0.6: squares sum to 2.7, variance 2.7 / 2 = 1.35; about the mean 8.75, so
  // R^2 = 1 - 2.7 / 8.75. Variance of the slope 1.35 / 5 = 0.27; of the intercept 1.35 (1/4 + 2.25/5) = 0.945;
  // covariance -1.35 x 1.5 / 5 = -0.405.
  const std::vector<double> x{1, 0, 1, 1, 1, 2, 1, 3}, y{1, 3, 2, 5};
  const LinearFit fit = least_squares(x, 2, y);
  CHECK(fit.rank == 2);
  CHECK(fit.coefficients[0] == near(1.1));
  CHECK(fit.coefficients[1] == near(1.1));
  CHECK(fit.deviation == near(std::sqrt(1.35)));
  CHECK(fit.r_squared == near(1 - 2.7 / 8.75));
  CHECK(fit.standard_errors[0] == near(std::sqrt(0.945)));
  CHECK(fit.standard_errors[1] == near(std::sqrt(0.27)));
  CHECK(fit.covariance[1] == near(-0.405));
  CHECK(fit.covariance[2] == near(-0.405));
}

TEST_CASE("weights: of 2 like a row twice, of 0 like no row") {
  const LinearFit weighted = least_squares(std::vector<double>{1, 0, 1, 1, 1, 2, 1, 9}, 2,
                                           std::vector<double>{1, 3, 2, 50}, std::vector<double>{1, 2, 1, 0});
  const LinearFit repeated =
      least_squares(std::vector<double>{1, 0, 1, 1, 1, 1, 1, 2}, 2, std::vector<double>{1, 3, 3, 2});
  CHECK(weighted.coefficients[0] == near(repeated.coefficients[0]));
  CHECK(weighted.coefficients[1] == near(repeated.coefficients[1]));
  CHECK(weighted.r_squared == near(repeated.r_squared));
}

TEST_CASE("columns of very different units don't change the rank") {
  // y = 1e-6 + 1e-12 x, as a start-up time and a time per byte.
  std::vector<double> x, y;
  for (const double bytes : {1e3, 1e5, 1e7, 1e9}) {
    x.insert(x.end(), {1, bytes});
    y.push_back(1e-6 + 1e-12 * bytes);
  }
  const LinearFit fit = least_squares(x, 2, y);
  CHECK(fit.rank == 2);
  CHECK(fit.coefficients[0] == near(1e-6, 1e-9));
  CHECK(fit.coefficients[1] == near(1e-12, 1e-9));
}

TEST_CASE("what rows don't determine has no error bars") {
  SUBCASE("columns alike: the sum is known, each is not") {
    const LinearFit fit = least_squares(std::vector<double>{1, 1, 2, 2, 3, 3}, 2, std::vector<double>{2, 4, 6});
    CHECK(fit.rank == 1);
    CHECK(fit.coefficients[0] == near(1));
    CHECK(fit.coefficients[1] == near(1));
    CHECK(std::isnan(fit.standard_errors[0]));
    CHECK(std::isnan(fit.covariance[3]));
  }
  SUBCASE("a column of zeros") {
    const LinearFit fit = least_squares(std::vector<double>{1, 0, 2, 0, 3, 0}, 2, std::vector<double>{2, 4, 6});
    CHECK(fit.rank == 1);
    CHECK(fit.coefficients[0] == near(2));
    CHECK(fit.coefficients[1] == 0);
  }
  SUBCASE("as many rows as columns: met exactly, errors unknown") {
    const LinearFit fit = least_squares(std::vector<double>{1, 0, 1, 1}, 2, std::vector<double>{1, 3});
    CHECK(fit.rank == 2);
    CHECK(fit.coefficients[1] == near(2));
    CHECK(fit.deviation == 0);
    CHECK(std::isnan(fit.standard_errors[0]));
  }
}
