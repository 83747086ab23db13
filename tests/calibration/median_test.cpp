// Ranks from tables of the binomial distribution; samples small enough to sort by eye.

#include "calibration/median.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::vector<double> one_to(int n) {
  std::vector<double> out;
  for (int i = 1; i <= n; ++i) out.push_back(i);
  return out;
}

}  // namespace

TEST_CASE("ranks of the interval") {
  // Sign test at 5%, two-sided: P(B(6, 1/2) = 0) = 1/64 = 0.0156 <= 0.025, so j = 1; with 5 it is 1/32 > 0.025: none.
  // P(B(8) <= 0) = 0.0039, <= 1: 0.0352, so j = 1. n = 9: 0.0195, j = 2. n = 20: <= 5: 0.0207, <= 6: 0.0577, so j = 6.
  // n = 100: the table says the 40th and the 61st.
  const auto bounds = [](int n, double lower, double upper) {
    const MedianInterval found = median_interval(one_to(n));
    CHECK(found.lower == lower);
    CHECK(found.upper == upper);
  };
  bounds(6, 1, 6);
  bounds(8, 1, 8);
  bounds(9, 2, 8);
  bounds(20, 6, 15);
  bounds(100, 40, 61);
  CHECK(std::isinf(median_interval(one_to(5)).half_width()));
}

TEST_CASE("medians and half widths") {
  CHECK(median_interval(std::vector{3.0, 1.0, 2.0}).median == 2);
  CHECK(median_interval(std::vector{4.0, 1.0, 2.0, 3.0}).median == 2.5);
  // 1..9: between 2 and 8, half of 6 over 5.
  CHECK(median_interval(one_to(9)).half_width() == near(0.6));
  CHECK(median_interval(std::vector<double>(6, 7.0)).half_width() == 0);
}

TEST_CASE("the interval holds the median as often as it says") {
  // 2000 groups of 15 exponential times, whose median is ln 2. P(B(15) < 4) = 0.0176: the interval of ranks 4 and 12
  // holds it in 96.5%; four standard errors of 2000 draws are 1.6%.
  RandomStream stream{1, "median_test"};
  int held = 0;
  for (int group = 0; group < 2000; ++group) {
    std::vector<double> times(15);
    for (double& each : times) each = stream.exponential(1);
    const MedianInterval found = median_interval(times);
    held += found.lower <= std::log(2.0) && std::log(2.0) <= found.upper ? 1 : 0;
  }
  CHECK(held > 2000 * 0.949);
  CHECK(held < 2000 * 0.981);
}

TEST_CASE("outliers") {
  // Median 10, absolute deviations 0 0 1 1 1 1 90: their median is 1, the limit 10 + 3.5 / 0.6745 = 15.2.
  CHECK(count_outliers(std::vector<double>{9, 10, 11, 10, 9, 11, 100}) == 1);
  CHECK(count_outliers(std::vector<double>{9, 10, 11, 10, 9, 11, 15}) == 0);
  CHECK(count_outliers(std::vector<double>{9, 10, 11, 10, 9, 11, 1}) == 0);  // only what is late
  CHECK(count_outliers(std::vector<double>{10, 10, 10, 10, 10.3}) == 0);     // limit 10.35
  CHECK(count_outliers(std::vector<double>{10, 10, 10, 10, 10.4}) == 1);
  CHECK(count_outliers(std::vector<double>{}) == 0);
}

TEST_CASE("drift needs both: nearly all signs alike, and a change that matters") {
  // Eight pairs, all up: P = 2 / 256 < 1%. Seven of eight: 18 / 256.
  CHECK(drifts(one_to(16), 0.01));
  CHECK_FALSE(drifts(one_to(14), 0.01));
  std::vector<double> falling = one_to(16);
  for (double& each : falling) each = 17 - each;
  CHECK(drifts(falling, 0.01));
  std::vector<double> slight;
  for (int i = 0; i < 16; ++i) slight.push_back(100 + 0.01 * i);
  CHECK_FALSE(drifts(slight, 0.01));
  CHECK(drifts(slight, 0.0005));
  std::vector<double> mixed = one_to(16);
  mixed[15] = 0;
  CHECK_FALSE(drifts(mixed, 0.01));
  CHECK_FALSE(drifts(std::vector<double>(40, 5.0), 0.01));
}
