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
  CHECK(recovery_probability(12, 3, 12) == 0);
  // Of 4 machines in pairs two fail: 4 of the 6 sets leave one of each pair. Of 6 in groups of 3, four: 2 and 2 of 15
  // sets, 9; of 2 without copies, one.
  CHECK(recovery_probability(4, 2, 2) == near(4.0 / 6));
  CHECK(recovery_probability(6, 3, 4) == near(9.0 / 15));
  CHECK(recovery_probability(2, 1, 1) == 0);
  CHECK(recovery_probability(2, 1, 0) == 1);
  // Pairs: the product of (2G - 2i) / (2G - i). The source's sum has terms of 1e40 here.
  double pairs = 1;
  for (int i = 0; i < 300; ++i) pairs *= (2000.0 - 2 * i) / (2000.0 - i);
  CHECK(recovery_probability(2000, 2, 300) == near(pairs, 1e-10));
  CHECK(recovery_probability(128, 2, 2) == near(1 - 1.0 / 127));
  CHECK(recovery_probability(128, 2, 1) == 1);
}

TEST_CASE("spares run out with the probability of the birth-death process") {
  CHECK(spares_short_probability(1, 0, 1.0, 4.0) == near(0.2));
  CHECK(spares_short_probability(1, 1, 1.0, 4.0) == near(0.024390243902439024));
  CHECK(spares_short_probability(16, 2, 0.01, 0.5) == near(0.0042806780661067605));
  CHECK(spares_short_probability(2048, 20, 0.0065, 1.0) == near(0.030961545116004914));
}
