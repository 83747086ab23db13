// The comparison of real numbers that the tests use (tests/near.hpp) fails where it should.

#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What doctest's own comparison computes.
bool with_one_added(double a, double b, double epsilon = 1.2e-5) {
  return std::abs(a - b) < epsilon * (1 + std::max(std::abs(a), std::abs(b)));
}

std::string shown(double value, const Near& expected) {
  static_cast<void>(value == expected);
  return doctest::toString(expected).c_str();
}

}  // namespace

TEST_CASE("small numbers differ by what they differ of themselves, unlike with an added 1") {
  CHECK(with_one_added(28e-6, 23e-6));
  CHECK_FALSE(28e-6 == near(23e-6));
  CHECK(with_one_added(1e-10, 1 / 450e9));
  CHECK_FALSE(1e-10 == near(1 / 450e9));
  CHECK(with_one_added(0, 4e-10));
  CHECK_FALSE(0 == near(4e-10));
  CHECK(with_one_added(1.3, 2.1, 0.3));
  CHECK_FALSE(1.3 == near(2.1, 0.3));
}

TEST_CASE("a share of what is expected, on both sides and of either sign") {
  for (const double unit : {1e-300, 1e-9, 1.0, 1e300, -1e-9, -1e300}) {
    CAPTURE(unit);
    CHECK(100 * unit == near(100 * unit, 0));
    CHECK(104 * unit == near(100 * unit, 0.05));
    CHECK(96 * unit == near(100 * unit, 0.05));
    CHECK(near(100 * unit, 0.05) == 96 * unit);
    CHECK(106 * unit != near(100 * unit, 0.05));
    CHECK(94 * unit != near(100 * unit, 0.05));
    CHECK(-100 * unit != near(100 * unit, 0.05));
    CHECK(0 != near(100 * unit, 0.05));
    CHECK(100 * unit != near(0, 0.05));
  }
  CHECK(0.1 + 0.2 == near(0.3));
  CHECK(900e9 + 1 != near(900e9));  // a nanosecond in a quarter of an hour
  CHECK(3 == near(3));
  CHECK(3U != near(4));
}

TEST_CASE("an absolute tolerance is the same everywhere") {
  CHECK(1e-7 == near_absolute(0, 1e-6));
  CHECK(-1e-7 == near_absolute(0, 1e-6));
  CHECK(1e-5 != near_absolute(0, 1e-6));
  CHECK(1e9 + 1 == near_absolute(1e9, 1.5));
  CHECK(1e9 + 2 != near_absolute(1e9, 1.5));
}

TEST_CASE("infinities equal themselves only, and NaN nothing") {
  for (const double tolerance : {0.0, 0.9}) {
    CHECK(kInfinity == near(kInfinity, tolerance));
    CHECK(-kInfinity == near_absolute(-kInfinity, tolerance));
    CHECK_FALSE(-kInfinity == near(kInfinity, tolerance));
    CHECK_FALSE(1e308 == near(kInfinity, tolerance));
    CHECK_FALSE(kInfinity == near_absolute(1e308, tolerance));
    CHECK_FALSE(kInfinity == near(0, tolerance));
    CHECK_FALSE(kNan == near(kNan, tolerance));
    CHECK_FALSE(kNan == near(1, tolerance));
    CHECK_FALSE(1 == near_absolute(kNan, tolerance));
    CHECK_FALSE(kNan == near(kInfinity, tolerance));
  }
  CHECK_FALSE(1.7e308 == near(-1.7e308, 0.9));  // whose difference is infinite
}

TEST_CASE("a tolerance that anything meets is refused") {
  for (const double tolerance : {-0.1, 1.0, 30.0, kNan})
    CHECK_THROWS_AS(static_cast<void>(near(1, tolerance)), std::invalid_argument);
  for (const double tolerance : {-0.1, kInfinity, kNan})
    CHECK_THROWS_AS(static_cast<void>(near_absolute(1, tolerance)), std::invalid_argument);
}

TEST_CASE("a failure shows both numbers, how far they are apart and what is allowed") {
  CHECK(shown(28e-6, near(23e-6)) == "near 2.3e-05 (2.8e-05 is off by 5e-06, 0.217 of it; allowed: 1e-12 of it)");
  CHECK(shown(0.25, near_absolute(0, 0.1)) == "near 0 (0.25 is off by 0.25; allowed: 0.1)");
  CHECK(shown(kNan, near(2, 0.5)) == "near 2 (nan is off by nan, nan of it; allowed: 0.5 of it)");
}
