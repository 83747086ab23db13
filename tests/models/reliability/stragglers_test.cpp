// Tests closed forms of stragglers: order statistics beside sums by hand and random draws, loads of gradient codes, and
// rounds that a reader can follow.

#include "models/reliability/stragglers.hpp"

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("waiting for exponential times is a difference of harmonic numbers") {
  CHECK(exponential_wait(1, 1) == near(1));
  CHECK(exponential_wait(3, 3) == near(1 + 1.0 / 2 + 1.0 / 3));
  CHECK(exponential_wait(8, 8) == near(2.717857, 1e-6));
  CHECK(exponential_wait(256, 256) == near(6.124345, 1e-6));
  CHECK(exponential_wait(64, 60) == near(2.660558, 1e-6));
  CHECK(exponential_wait(5, 1) == near(1.0 / 5));
}

TEST_CASE("waiting for log-normal times") {
  CHECK(lognormal_wait(1, 1, 0.1) == near(std::exp(0.005), 1e-10));
  CHECK(lognormal_wait(1, 1, 1) == near(std::exp(0.5), 1e-10));
  CHECK(lognormal_wait(8, 8, 0) == near(1, 1e-10));
  CHECK(lognormal_wait(8, 8, 0.1) == near(1.15516, 5e-6));
  CHECK(lognormal_wait(256, 256, 0.1) == near(1.32772, 5e-6));
  // The mean of all order statistics is the mean of the law.
  double sum = 0;
  for (int k = 1; k <= 9; ++k) sum += lognormal_wait(9, k, 0.3);
  CHECK(sum == near(9 * std::exp(0.045), 1e-9));
  RandomStream random{1, "stragglers"};
  const int rounds = effort(20'000);
  double total = 0, squares = 0;
  for (int i = 0; i < rounds; ++i) {
    std::vector<double> times(12);
    for (double& time : times) time = random.lognormal(0, 0.5);
    std::sort(times.begin(), times.end());
    total += times[9];
    squares += times[9] * times[9];
  }
  const double mean = total / rounds, error = std::sqrt((squares / rounds - mean * mean) / rounds);
  CHECK(mean == near_absolute(lognormal_wait(12, 10, 0.5), 4 * error));
}

TEST_CASE("loads and delays of gradient codes") {
  const auto scheme = [](GradientCode code, int burst, int window, int distinct) {
    return CodingScheme{code, 256, 15, burst, window, distinct};
  };
  CHECK(coding_load(scheme(GradientCode::none, 1, 2, 0)) == near(1 / 256.0));
  CHECK(coding_load(scheme(GradientCode::gradient_coding, 1, 2, 0)) == near(0.0625));
  CHECK(coding_load(scheme(GradientCode::selective_repeat, 2, 3, 23)) == near(0.05078125));
  CHECK(coding_load(scheme(GradientCode::multiplexed, 1, 2, 27)) == near(0.007543, 1e-4));
  CHECK(coding_load(scheme(GradientCode::multiplexed, 1, 3, 256)) == near(3.0 / (256 * 2)));
  CHECK(coding_delay(scheme(GradientCode::gradient_coding, 1, 2, 0)) == 0);
  CHECK(coding_delay(scheme(GradientCode::selective_repeat, 2, 3, 23)) == 2);
  CHECK(coding_delay(scheme(GradientCode::multiplexed, 1, 2, 27)) == 1);
  CHECK(why_no_scheme(scheme(GradientCode::selective_repeat, 2, 4, 23)).find("does not divide") != std::string::npos);
  CHECK(why_no_scheme(scheme(GradientCode::multiplexed, 2, 2, 23)).find("windows of 2") != std::string::npos);
  CHECK(why_no_scheme(scheme(GradientCode::multiplexed, 1, 2, 257)).find("257 stragglers") != std::string::npos);
  CHECK(why_no_scheme({GradientCode::gradient_coding, 4, 4}).find("0 to 3") != std::string::npos);
}

TEST_CASE("rounds of coded gradients go on without stragglers as long as the code allows it") {
  // Worker 0 straggles in rounds 0, 1 and 4, workers 0 and 1 in round 2; round 3 has no straggler beyond twice the
  // fastest.
  const std::vector<std::vector<double>> times{{9, 1, 1, 1}, {7, 1, 1, 1}, {8, 5, 1, 1}, {2, 2, 1, 1}, {6, 1, 1, 1}};
  using Rounds = std::vector<double>;
  CHECK(coded_rounds({GradientCode::none, 4}, times, 1) == Rounds{9, 7, 8, 2, 6});
  CHECK(coded_rounds({GradientCode::gradient_coding, 4, 1}, times, 1) == Rounds{2, 2, 8, 2, 2});
  CHECK(coded_rounds({GradientCode::gradient_coding, 4, 2}, times, 1) == Rounds{2, 2, 2, 2, 2});
  // A burst of one: worker 0 may not straggle in the round after it did. Having waited for it, it may in the next.
  CHECK(coded_rounds({GradientCode::selective_repeat, 4, 0, 1, 2, 2}, times, 1) == Rounds{2, 7, 2, 2, 2});
  // Bursts of two in windows of three: not again two rounds later; in round 4 round 2, waited for, doesn't count.
  CHECK(coded_rounds({GradientCode::multiplexed, 4, 0, 2, 3, 2}, times, 1) == Rounds{2, 2, 8, 2, 2});
  CHECK(coded_rounds({GradientCode::multiplexed, 4, 0, 2, 3, 1}, times, 1) == Rounds{2, 2, 8, 2, 2});
}
