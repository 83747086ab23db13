#include "validate/verdict.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("within: both sides, the bound itself, and NaN") {
  CHECK(within({"x", 100, 106}, 0.0625));
  CHECK(within({"x", 64, 60}, 0.0625));  // exactly -1/16
  CHECK_FALSE(within({"x", 100, 107}, 0.0625));
  CHECK_FALSE(within({"x", 100, 93}, 0.0625));
  CHECK_FALSE(within({"x", 100, std::numeric_limits<double>::quiet_NaN()}, 0.0625));
}

TEST_CASE("a number as text has no minus sign where it rounds to zero") {
  CHECK(signed_text(-0.0004, 3) == "0.000");
  CHECK(signed_text(-0.0006, 3) == "-0.001");
  CHECK(signed_text(1.25, 1) == "1.2");
}

TEST_CASE("prediction interval of four values by hand") {
  // Mean 5, squares of deviations 9 + 1 + 1 + 9 = 20, s = sqrt(20/3) = 2.582; t(3) = 3.18245; sqrt(1 + 1/4) = 1.11803.
  const Interval interval = prediction_interval(std::vector<double>{2, 4, 6, 8});
  const double half_width = 3.1824463 * std::sqrt(20.0 / 3) * std::sqrt(1.25);
  CHECK(interval.low == near(5 - half_width));
  CHECK(interval.high == near(5 + half_width));
  CHECK(interval.contains(5 + 0.99 * half_width));
  CHECK_FALSE(interval.contains(5 + 1.01 * half_width));
  CHECK_FALSE(interval.contains(5 - 1.01 * half_width));
}

TEST_CASE("replicas without spread leave no room") {
  const Interval interval = prediction_interval(std::vector<double>{7, 7, 7});
  CHECK(interval.contains(7));
  CHECK_FALSE(interval.contains(7.001));
}

TEST_CASE("averages over job sets, by policy in order of appearance") {
  const std::vector<Comparison> all{{"b", 10, 12}, {"a", 1, 2}, {"b", 30, 20}};
  const std::vector<Comparison> averages = averages_by_name(all);
  REQUIRE(averages.size() == 2);
  CHECK(averages[0].name == "b");
  CHECK(averages[0].reference == 20);
  CHECK(averages[0].ours == 16);
  CHECK(averages[1].name == "a");
  CHECK(averages[1].deviation() == 1);
}

TEST_CASE("order: only pairs that are clearly apart count") {
  // a and b are 4% apart, c is far above both.
  const std::vector<Comparison> swapped_near{{"a", 100, 104}, {"b", 104, 100}, {"c", 200, 210}};
  CHECK(order_violations(swapped_near, 0.05).empty());

  const std::vector<Comparison> swapped_far{{"a", 100, 104}, {"b", 104, 100}, {"c", 200, 102}};
  const std::vector<OrderViolation> violations = order_violations(swapped_far, 0.05);
  REQUIRE(violations.size() == 1);  // c (102) has come before a (104), not before b (100)
  CHECK(violations[0].smaller == "a");
  CHECK(violations[0].larger == "c");

  const std::vector<Comparison> equal{{"a", 100, 150}, {"c", 200, 150}};
  CHECK(order_violations(equal, 0.05).size() == 1);
}
