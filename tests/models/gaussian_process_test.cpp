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
