// Sobol points and their scrambling.

#include "scenarios/sweep/sobol.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back("key" + std::to_string(i));
  return keys;
}

/// How many of the boxes with 2^a x 2^b equal parts hold one point, if there are as many points as boxes.
std::size_t boxes_hit(const std::vector<std::vector<double>>& points, std::size_t x, std::size_t y, int a, int b) {
  std::set<std::pair<int, int>> hit;
  for (const auto& each : points)
    hit.emplace(static_cast<int>(each[x] * (1 << a)), static_cast<int>(each[y] * (1 << b)));
  return hit.size();
}

}  // namespace

TEST_CASE("the first points in three dimensions are the points of Joe and Kuo") {
  // Units of an eighth; worked out from the direction numbers 1, 1 1, 1 3 1 (polynomials x + 1 and x^2 + x + 1) with
  // the Gray code of Antonov and Saleev: the points 0 to 7 of their program `sobol.cc`.
  const int expected[8][3] = {{0, 0, 0}, {4, 4, 4}, {6, 2, 2}, {2, 6, 6}, {3, 3, 5}, {7, 7, 1}, {5, 1, 7}, {1, 5, 3}};
  const auto points = sobol_points(8, 3);
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t k = 0; k < 3; ++k) CHECK(points[i][k] == static_cast<std::uint32_t>(expected[i][k]) << 29U);
}

TEST_CASE("a scramble flips a bit by the seed and the bits before it alone") {
  for (const std::uint32_t seed : {0U, 1U, 0xdeadbeefU}) {
    std::uint32_t x = 12345;
    for (int i = 0; i < 200; ++i) {
      x = x * 1664525U + 1013904223U;
      for (int k = 1; k < 32; ++k) {
        // Another number with the same first k bits, and the next bit different.
        const std::uint32_t other = x ^ (1U << (31 - k)) ^ (x % (1U << (31 - k)));
        const std::uint32_t a = owen_scrambled(x, seed), b = owen_scrambled(other, seed);
        const std::uint32_t different = (a ^ b) >> (32 - k);
        CHECK(different == 0U);
        const std::uint32_t next_bit = ((a ^ b) >> (31 - k)) & 1U;
        CHECK(next_bit == 1U);
      }
    }
  }
}

TEST_CASE("vectors of the scramble, worked out bit by bit in another language") {
  CHECK(owen_scrambled(0, 0) == 0U);
  CHECK(owen_scrambled(0x80000000U, 0) == 0xa66de0ecU);
  CHECK(owen_scrambled(0x12345678U, 0x9abcdef0U) == 0x180f3b55U);
  CHECK(owen_scrambled(0xffffffffU, 1) == 0x0U);
}

TEST_CASE("a scrambled set is as even as the bare one: each coordinate, and boxes of pairs of coordinates") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto points = scrambled_sobol(64, names(6), seed);
    for (std::size_t k = 0; k < 6; ++k) {
      CHECK(boxes_hit(points, k, k, 6, 0) == 64);
      for (const auto& each : points) {
        CHECK(each[k] > 0);
        CHECK(each[k] < 1);
      }
    }
    // The first two coordinates are a (0, 2)-sequence: every division into 64 boxes has one point in each.
    for (int a = 0; a <= 6; ++a) CHECK(boxes_hit(points, 0, 1, a, 6 - a) == 64);
  }
  // Independent draws would leave 23 of 64 boxes empty.
}

TEST_CASE("another seed or another name gives other points; more points begin with the same ones") {
  const auto one = scrambled_sobol(16, names(3), 1);
  CHECK(scrambled_sobol(16, names(3), 1) == one);
  CHECK(scrambled_sobol(16, names(3), 2) != one);
  CHECK(scrambled_sobol(16, {"key0", "key1", "other"}, 1)[0][1] == one[0][1]);
  CHECK(scrambled_sobol(16, {"key0", "key1", "other"}, 1)[0][2] != one[0][2]);
  auto more = scrambled_sobol(32, names(3), 1);
  more.resize(16);
  CHECK(more == one);
}

TEST_CASE("a smooth integral is far nearer than with independent draws") {
  // The integral of x y z over the cube is 1/8; the deviation of 1024 independent draws is 0.0045.
  double sum = 0;
  const auto points = scrambled_sobol(1024, names(3), 7);
  for (const auto& each : points) sum += each[0] * each[1] * each[2];
  CHECK(sum / 1024 == near(0.125, 4e-3));
}
