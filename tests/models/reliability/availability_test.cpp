// Tests closed forms about failures against values computed with exact arithmetic.

#include "models/reliability/availability.hpp"
#include "tests/near.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a job is interrupted as often as its servers fail together, and by itself") {
  // Meta's RSC-1: 6.50 failures in 1,000 server-days.
  CHECK(24 * interruption_mean(2048, 6.5e-3) == near(1.8028846153846154));
  CHECK(24 * interruption_mean(128, 6.5e-3) == near(28.846153846153846));
  CHECK(interruption_mean(10, 0.1, 1) == near(0.5));
}

TEST_CASE("checkpoints in the memory of other machines survive unless a group loses all copies") {
  CHECK(recovery_probability(16, 2, 2) == near(0.93333333333333333));
  CHECK(recovery_probability(128, 2, 2) == near(0.9921259842519685));
  CHECK(recovery_probability(16, 4, 4) == near(0.9978021978021978));
  CHECK(recovery_probability(16, 2, 5) == near(0.41025641025641026));
  CHECK(recovery_probability(12, 3, 12) == near_absolute(0, 1e-12));
  CHECK(recovery_probability(128, 2, 2) == near(1 - 1.0 / 127));
  CHECK(recovery_probability(128, 2, 1) == 1);
}

TEST_CASE("spares run out with the probability of the birth-death process") {
  CHECK(spares_short_probability(1, 0, 1.0, 4.0) == near(0.2));
  CHECK(spares_short_probability(1, 1, 1.0, 4.0) == near(0.024390243902439024));
  CHECK(spares_short_probability(16, 2, 0.01, 0.5) == near(0.0042806780661067605));
  CHECK(spares_short_probability(2048, 20, 0.0065, 1.0) == near(0.030961545116004914));
}

TEST_CASE("queues whose servers break down, and queues with several") {
  CHECK(mean_in_breakdown_queue(0.5, 1, 0.05, 0.5) == near(1.4242424242424242));
  CHECK(mean_in_breakdown_queue(0.6, 1, 0.01, 0.1) == near(3.5454545454545455));
  CHECK(std::isnan(mean_in_breakdown_queue(0.95, 1, 0.1, 0.5)));
  CHECK(erlang_c(4, 3) == near(0.50943396226415094));
  CHECK(erlang_c(16, 14) == near(0.50848220605701419));
  CHECK(erlang_c(1, 0.3) == near(0.3));
  CHECK(availability(0.05, 0.5) == near(0.90909090909090909));
}
