// The measures by which the tests on published traces judge, by hand.

#include "tests/models/workloads/trace_kit.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("the distance of two samples, by hand") {
  // Below 2: 2/4 against 0/2; below 5: 3/4 against 1/2. The largest difference is 1/2.
  CHECK(distance({1, 1, 4, 9}, {3, 9}) == near(0.5));
  CHECK(distance({1, 2, 3}, {3, 2, 1}) == 0);
  CHECK(distance({1, 2}, {5}) == 1);
}

TEST_CASE("sizes, work, rate and variation of a sample, by hand") {
  Sample a, b;
  a.add(0, 10, 1);
  a.add(1, 20, 4);
  a.add(11, 30, 1);
  b.add(5, 10, 1);
  b.add(9, 10, 8);
  // Shares 2/3, 1/3, 0 against 1/2, 0, 1/2.
  CHECK(distance(a, b) == near(0.5));
  CHECK(a.mean_gpu_time() == near(40));
  CHECK(a.jobs_per_second() == near(3.0 / 11));
  CHECK(gaps(a) == std::vector<double>{1, 10});
  // Two jobs in the first 10 s, one in the next: mean 1.5, deviation 0.5.
  CHECK(burstiness(a, 10) == near(1.0 / 3));
  CHECK(a.between(1, 11).submits == std::vector<double>{1});
}
