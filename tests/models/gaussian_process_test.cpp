#include "models/gaussian_process.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a process passes through its values and is less certain between them") {
  const std::vector<double> values{3, 5};
  const GaussianProcess process{{{0.0, 0.0}, {1.0, 1.0}}, values};
  CHECK(process.at({0.0, 0.0}).mean == near(3, 1e-6));
  CHECK(process.at({1.0, 1.0}).mean == near(5, 1e-6));
  CHECK(process.at({1.0, 1.0}).deviation < 0.01);
  // Halfway, by symmetry, the mean of both, and less certain than at either.
  CHECK(process.at({0.5, 0.5}).mean == near(4));
  CHECK(process.at({0.5, 0.5}).deviation > 0.1);
}

TEST_CASE("two trials by hand: kernel, mean and deviation") {
  // Values 1 and -1 have mean 0 and deviation 1. All lengths are about as likely where points are far apart; whichever
  // it is, with c the covariance of the two the mean at either is (1 - c) / (1 + noise - c), close to its value.
  const std::vector<double> values{1, -1};
  const GaussianProcess process{{{0.0}, {1.0}}, values, 0.5};
  const double at_first = process.at({0.0}).mean;
  // With c near 0 it is 1 / 1.5; a larger c pulls it down.
  CHECK(at_first <= (1 + kRounding) / 1.5);
  CHECK(at_first > 0);
  CHECK(process.at({1.0}).mean == near(-at_first));
}

TEST_CASE("the expected improvement is large where the deviation or the mean is") {
  const std::vector<double> values{0, 1, 0};
  const GaussianProcess process{{{0.0}, {0.5}, {1.0}}, values};
  CHECK(process.expected_improvement({0.5}, 0.0) < process.expected_improvement({0.6}, 0.0));
  CHECK(process.expected_improvement({0.6}, 0.0) > process.expected_improvement({0.99}, 0.0));
  CHECK(process.expected_improvement({0.6}, 0.5) < process.expected_improvement({0.6}, 0.0));
}

TEST_CASE("equal values give finite predictions") {
  const std::vector<double> values{2, 2};
  const GaussianProcess process{{{0.0}, {1.0}}, values};
  CHECK(process.at({0.3}).mean == near(2));
  CHECK(std::isfinite(process.expected_improvement({0.3}, 0.1)));
}

TEST_CASE("one value by hand: Matern 5/2 of the first length, deviation and expected improvement") {
  // All lengths are equally likely, so the first counts, 0.02. At a distance of 0.01 r = sqrt(5) / 2 = 1.1180340 and
  // the covariance k = (1 + r + r^2 / 3) exp(-r) = 0.8286491; the deviation is sqrt(1 - k^2 / 1.25) = 0.6713214.
  const std::vector<double> values{7};
  const GaussianProcess process{std::vector<GaussianProcess::Point>(1, {0.5}), values, 0.25};
  const double r = std::sqrt(5) / 2, k = (1 + r + r * r / 3) * std::exp(-r);
  CHECK(k == near(0.8286491424181255));
  const double deviation = 0.671321442392364;
  CHECK(process.at({0.51}).mean == near(7));
  CHECK(process.at({0.51}).deviation == near(deviation, 1e-9));
  CHECK(process.at({0.49}).deviation == near(deviation, 1e-9));
  // The normal density at 0 is 0.3989423; at one deviation it is 0.2419707, with 0.1586553 of the mass beyond.
  CHECK(process.expected_improvement({0.51}, 0) == near(deviation * 0.3989422804014327, 1e-9));
  CHECK(process.expected_improvement({0.51}, deviation) ==
        near(deviation * (0.24197072451914337 - 0.15865525393145707), 1e-9));
}

TEST_CASE("expected improvement is in the unit of the values") {
  // Values 1 and 5 have mean 3 and deviation 2; far from both the mean is 3, so 1 below the best in deviations.
  const std::vector<double> values{1, 5};
  const GaussianProcess process{{{0.0}, {0.1}}, values, 1e-9};
  const GaussianProcess::Prediction far = process.at({1000.0});
  CHECK(far.mean == near(3));
  CHECK(far.deviation == near(2));
  CHECK(process.expected_improvement({1000.0}, 0) == near(2 * (0.24197072451914337 - 0.15865525393145707), 1e-9));
}

TEST_CASE("a weighted sum of the function at several points") {
  const std::vector<double> values{1, 5, 2};
  const GaussianProcess process{{{0.0}, {0.1}, {0.3}}, values, 1e-9};
  // Weights of one point add up.
  const GaussianProcess::Point near_by{0.17};
  const std::vector<GaussianProcess::Point> twice{near_by, near_by};
  const std::vector<double> weights{0.75, 0.25};
  const GaussianProcess::Prediction one = process.at(near_by), sum = process.at(twice, weights);
  CHECK(sum.mean == near(one.mean, 1e-9));
  CHECK(sum.deviation == near(one.deviation, 1e-9));
  // Points far from each other and from all values are independent: their variances add up, times squared weights.
  const std::vector<GaussianProcess::Point> apart{{1000.0}, {2000.0}};
  const std::vector<double> halves{3, -4};
  const GaussianProcess::Prediction far = process.at({1000.0}), both = process.at(apart, halves);
  CHECK(both.mean == near(-far.mean));
  CHECK(both.deviation == near(5 * far.deviation));
  // The mean is linear, and the difference of neighbours is known better than either.
  const std::vector<GaussianProcess::Point> pair{{0.12}, {0.125}};
  const std::vector<double> difference{1, -1};
  const GaussianProcess::Prediction between = process.at(pair, difference);
  CHECK(between.mean == near(process.at(pair[0]).mean - process.at(pair[1]).mean, 1e-9));
  CHECK(between.deviation < process.at(pair[0]).deviation);
}

TEST_CASE("expected gain and probability by the table of the normal distribution") {
  // One deviation below the level: the density is 0.2419707, and 0.1586553 of the mass lies beyond.
  const GaussianProcess::Prediction there{1, 2};
  CHECK(expected_gain(there, 3) == near(2 * (0.24197072451914337 - 0.15865525393145707), 1e-9));
  CHECK(probability_at_least(there, 3) == near(0.15865525393145707));
  CHECK(probability_at_least(there, 1) == near(0.5));
  const GaussianProcess::Prediction certain{1, 0};
  CHECK(expected_gain(certain, 0.5) == near(0.5));
  CHECK(expected_gain(certain, 2) == 0);
  CHECK(probability_at_least(certain, 1) == 1);
  CHECK(probability_at_least(certain, 2) == 0);
}
