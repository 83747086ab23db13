// Tests closed forms about failures against values computed with exact arithmetic.

#include "models/reliability/availability.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

using namespace contend;

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
