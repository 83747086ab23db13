#include "sim/statistics.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("mean and sample deviation by hand") {
  // 2, 4, 9: mean 5; squares 9 + 1 + 16 = 26; 26 / 2 = 13.
  const std::vector<double> values{2, 4, 9};
  CHECK(mean(values) == 5.0);
  CHECK(sample_deviation(values) == near(std::sqrt(13.0)));
  CHECK(sample_deviation(std::vector<double>{1, 3}) == near(std::sqrt(2.0)));
  CHECK(std::isnan(mean({})));
  CHECK(std::isnan(sample_deviation(std::vector<double>{1})));
}

TEST_CASE("sample skewness by hand") {
  // 2, 4, 9: distances -3, -1, 4; squares 26, cubes 36; (36 / 3) / (26 / 3)^1.5 * sqrt(3 * 2) / 1.
  CHECK(sample_skewness(std::vector<double>{2, 4, 9}) == near(12 / std::pow(26.0 / 3, 1.5) * std::sqrt(6.0)));
  CHECK(sample_skewness(std::vector<double>{-2, -4, -9}) == near(-12 / std::pow(26.0 / 3, 1.5) * std::sqrt(6.0)));
  CHECK(sample_skewness(std::vector<double>{1, 2, 3}) == 0);
  CHECK(sample_skewness(std::vector<double>{5, 5, 5, 5}) == 0);
  CHECK(sample_skewness(std::vector<double>{1, 9}) == 0);
}

TEST_CASE("percentiles interpolate between order statistics") {
  // Sorted 1 2 3 4: the 95th percentile lies at position 0.95 * 3 = 2.85, between 3 and 4.
  const std::vector<double> values{4, 1, 3, 2};
  CHECK(percentile(values, 0.5) == 2.5);
  CHECK(percentile(values, 0.95) == near(3.85));
  CHECK(percentile(values, 0) == 1);
  CHECK(percentile(values, 1) == 4);
  CHECK(percentile({7}, 0.95) == 7);
  CHECK(std::isnan(percentile({}, 0.5)));
}

TEST_CASE("values that are equal but for rounding have an interval of no width") {
  CHECK(estimate(std::vector<double>{0.1 + 0.2, 0.3, 0.3}).half_width == 0);
  CHECK(estimate(std::vector<double>{0.3, 0.3 + 1e-12, 0.3}).half_width > 0);
  CHECK(std::isnan(estimate(std::vector<double>{1, std::nan(""), 1}).half_width));
}

TEST_CASE("Student-t quantiles of the printed tables") {
  CHECK(student_t_975(1) == near(12.7062, 3e-5));
  CHECK(student_t_975(9) == near(2.2622, 3e-5));
  CHECK(student_t_975(30) == near(2.0423, 3e-5));
  CHECK(student_t_975(40) == near(2.0211, 3e-5));
  CHECK(student_t_975(120) == near(1.9799, 3e-5));
  CHECK(student_t_975(1'000'000) == near(1.95997, 3e-5));
  // The table ends at 30, with a figure that is closer than the expansion behind it.
  CHECK(student_t_975(30) == near(2.0422724563, 1e-7));
  CHECK(student_t_975(31) == near(2.0395134464, 2e-6));
  CHECK(std::isnan(student_t_975(0)));
  for (std::size_t v = 1; v < 200; ++v) CHECK(student_t_975(v) > student_t_975(v + 1));  // also across the table's end
}

TEST_CASE("95% of the density of Student's t lies within the quantiles") {
  for (std::size_t v = 1; v <= 400; ++v) {
    const auto degrees = static_cast<double>(v);
    const double t = student_t_975(v);
    const auto density = [&](double x) {
      const double scale = std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2);
      return std::exp(scale) / std::sqrt(degrees * std::acos(-1.0)) * std::pow(1 + x * x / degrees, -(degrees + 1) / 2);
    };
    // By Simpson's rule, which is exact to 1e-10 here.
    constexpr int kSteps = 4000;
    double sum = 0;
    for (int i = 0; i <= kSteps; ++i) {
      sum += (i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2) * density(t * i / kSteps);
    }
    const double off = (2 * sum * t / kSteps / 3 - 0.95) / (2 * density(t));  // of the quantile
    CAPTURE(v);
    // The table has seven digits behind the point; the first term that the expansion leaves out is 1.59 / v^4.
    CHECK(off == near_absolute(0, v <= 30 ? 5.1e-8 : 1.7 / std::pow(degrees, 4) + 1e-10));
  }
}

TEST_CASE("a confidence interval of three replicas by hand") {
  // 2, 4, 9: standard error sqrt(13 / 3) = 2.081666; t with 2 degrees of freedom is 4.302653.
  const Estimate result = estimate(std::vector<double>{2, 4, 9});
  CHECK(result.mean == 5);
  CHECK(result.half_width == near(4.302653 * 2.081666, 1e-6));
  CHECK(result.count == 3);
  // Of two, 1 and 3, the standard error is sqrt(2 / 2) = 1.
  CHECK(estimate(std::vector<double>{1, 3}).half_width == near(student_t_975(1)));
  CHECK(std::isnan(estimate(std::vector<double>{3}).half_width));
}

TEST_CASE("a paired ratio is symmetric and does not depend on a common factor of a seed") {
  const std::vector<double> base{10, 100, 1000}, half{5, 50, 500};
  const RatioEstimate exact = paired_ratio(half, base);
  CHECK(exact.ratio == near(0.5));
  CHECK(exact.low == near(0.5));
  CHECK(exact.high == near(0.5));

  const std::vector<double> other{8, 90, 1200};
  const RatioEstimate there = paired_ratio(other, base), back = paired_ratio(base, other);
  CHECK(there.ratio == near(1 / back.ratio));
  CHECK(there.low == near(1 / back.high));
  CHECK(there.low < there.ratio);
  CHECK(std::isnan(paired_ratio(std::vector<double>{0}, std::vector<double>{1}).ratio));
  CHECK(std::isnan(paired_ratio(std::vector<double>{1}, std::vector<double>{0}).ratio));
  CHECK(std::isnan(paired_ratio(std::vector<double>{1}, std::vector<double>{1}).low));
}

TEST_CASE("a ratio of means by hand") {
  // Means 6 and 4, ratio 1.5. Residuals 2 - 3, 4 - 4.5 and 12 - 10.5: -1, -0.5 and 1.5, deviation sqrt(1.75).
  const std::vector<double> below{2, 3, 7}, above{2, 4, 12};
  const RatioEstimate ratio = ratio_of_means(above, below);
  CHECK(ratio.ratio == near(1.5));
  const double half_width = 4.3026527 * std::sqrt(1.75 / 3) / 4;
  CHECK(ratio.high == near(1.5 + half_width));
  CHECK(ratio.low == near(1.5 - half_width));
  // Equal ratios have no scatter, however different the values are; a positive ratio isn't below 0.
  const RatioEstimate equal = ratio_of_means(std::vector<double>{1, 10, 100}, std::vector<double>{2, 20, 200});
  CHECK(equal.low == near(0.5));
  CHECK(equal.high == near(0.5));
  CHECK(ratio_of_means(std::vector<double>{1, 0, 0}, std::vector<double>{1, 1, 1}).low == 0);
  CHECK(std::isnan(ratio_of_means(std::vector<double>{1, 2}, std::vector<double>{0, 0}).ratio));
  CHECK(std::isnan(ratio_of_means(std::vector<double>{1}, std::vector<double>{2}).low));
}

TEST_CASE("the error of resamples does not shrink with their number") {
  const std::vector<double> four{1, 2, 3, 4};
  // Deviation sqrt(5 / 3): of the mean of independent draws sqrt(5 / 12), of resamples sqrt(5 / 3 * 5 / 4).
  CHECK(estimate(four).half_width == near(student_t_975(3) * std::sqrt(5.0 / 12)));
  CHECK(estimate(four, Draws::resamples).half_width == near(student_t_975(3) * std::sqrt(25.0 / 12)));
}
