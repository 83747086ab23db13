#include "calibration/size_regions.hpp"
#include "synthetic_times.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// All ways to cut, one after the other.
double cheapest_by_trying(std::size_t first, std::size_t count, std::size_t parts, std::size_t least,
                          const RegionCost& cost) {
  if (parts == 1) return count - first < least ? std::numeric_limits<double>::infinity() : cost(first, count - 1);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t next = first + least; next < count; ++next)
    best = std::min(best, cost(first, next - 1) + cheapest_by_trying(next, count, parts - 1, least, cost));
  return best;
}

double sum(const std::vector<std::size_t>& firsts, std::size_t count, const RegionCost& cost) {
  double total = 0;
  for (std::size_t r = 0; r < firsts.size(); ++r)
    total += cost(firsts[r], (r + 1 < firsts.size() ? firsts[r + 1] : count) - 1);
  return total;
}

/// Twice Huber's loss of a line, as the header has it.
double huber_loss(const SizedTimes& points, double alpha, double beta, double deviation) {
  double sum = 0;
  for (std::size_t i = 0; i < points.times.size(); ++i) {
    const double u = std::abs(points.times[i] - alpha - beta * points.bytes[i]) / points.times[i] / deviation;
    sum += u <= 1.345 ? u * u : 2 * 1.345 * u - 1.345 * 1.345;
  }
  return sum;
}

/// The minimum of a convex function of x >= 0, which lies below `most`.
template <class F>
double least_of(F&& f, double most) {
  double low = 0, high = most;
  for (int i = 0; i < 120; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    (f(a) <= f(b) ? high : low) = f(a) <= f(b) ? b : a;
  }
  return f(low);
}

double least_loss(const SizedTimes& points, double deviation) {
  const double most = 4 * points.times.back() + 100;
  return least_of(
      [&](double alpha) {
        return least_of([&](double beta) { return huber_loss(points, alpha, beta, deviation); }, most);
      },
      most);
}

/// Two exact lines with a jump between the sizes of index `at` - 1 and `at`.
SizedTimes jump(std::size_t count, std::size_t at, double height) {
  SizedTimes points;
  for (std::size_t i = 0; i < count; ++i) {
    points.bytes.push_back(static_cast<double>(i + 1));
    points.times.push_back(100 + 0.1 * static_cast<double>(i) + (i < at ? 0 : height));
  }
  return points;
}

/// Three protocols: 64 B to 4 KiB, to 512 KiB, above.
double three_protocols(double m) {
  if (m < 4096) return 10e3 + 2.0 * m;
  if (m < 524288) return 40e3 + 0.5 * m;
  return 200e3 + 0.1 * m;
}

SizedTimes timed(const std::vector<double>& sizes, double (*time)(double), NoisyClock clock) {
  SizedTimes points;
  points.bytes = sizes;
  for (const double m : sizes) points.times.push_back(clock(time(m)));
  return points;
}

}  // namespace

TEST_CASE("regions: by hand") {
  // Six sizes, two regions of at least two; every region costs its length squared, so 3 + 3 = 18 is least.
  const RegionCost squares = [](std::size_t a, std::size_t b) {
    return static_cast<double>((b - a + 1) * (b - a + 1));
  };
  CHECK(cheapest_regions(6, 2, 2, squares) == std::vector<std::size_t>{0, 3});
  CHECK(cheapest_regions(6, 3, 2, squares) == std::vector<std::size_t>{0, 2, 4});
  CHECK(cheapest_regions(6, 1, 2, squares) == std::vector<std::size_t>{0});
}

TEST_CASE("regions: as cheap as trying all") {
  RandomStream stream{7, "regions"};
  for (int round = 0; round < 400; ++round) {
    const auto count = static_cast<std::size_t>(stream.uniform_integer(1, 12));
    const auto least = static_cast<std::size_t>(stream.uniform_integer(1, 4));
    std::vector<double> costs(count * count);
    for (double& each : costs) each = stream.uniform();
    const RegionCost cost = [&](std::size_t a, std::size_t b) { return costs[a * count + b]; };
    for (std::size_t parts = 1; parts * least <= count && parts <= 4; ++parts) {
      CAPTURE(count);
      CAPTURE(parts);
      CAPTURE(least);
      const std::vector<std::size_t> firsts = cheapest_regions(count, parts, least, cost);
      for (std::size_t r = 0; r < parts; ++r) {
        const std::size_t end = r + 1 < parts ? firsts[r + 1] : count;
        CHECK(end >= firsts[r] + least);
      }
      CHECK(sum(firsts, count, cost) == near(cheapest_by_trying(0, count, parts, least, cost)));
    }
  }
}

TEST_CASE("regions: the loss of a line") {
  // Met exactly, and one point 20% above in steps of 10%: u = (1 - 1/1.2) / 0.1 = 1.667 if the line stays.
  const std::vector<double> bytes{1, 2, 3, 4}, times{12, 14, 16, 18};
  CHECK(line_loss(bytes, times, 0.1) == near_absolute(0, 1e-20));
  // A falling time is best met by a constant: with one deviation large enough for squares, the constant of 1/t weights.
  const std::vector<double> falling{4, 3, 2, 1};
  double a = 0, aa = 0;
  for (const double t : falling) {
    a += 1 / t;
    aa += 1 / (t * t);
  }
  double loss = 0;
  for (const double t : falling) loss += (1 - a / aa / t) * (1 - a / aa / t);
  CHECK(line_loss(bytes, falling, 1) == near(loss));
  // Cutting never costs more.
  RandomStream stream{3, "loss"};
  for (int round = 0; round < 200; ++round) {
    std::vector<double> m, t;
    for (int i = 0; i < 10; ++i) {
      m.push_back(10.0 * (i + 1));
      t.push_back(stream.uniform(1, 10));
    }
    const std::span bytes_all{m}, times_all{t};
    const double whole = line_loss(bytes_all, times_all, 0.05);
    const double cut =
        line_loss(bytes_all.first(5), times_all.first(5), 0.05) + line_loss(bytes_all.last(5), times_all.last(5), 0.05);
    CHECK(cut <= whole * (1 + 1e-5));
  }
}

TEST_CASE("regions: the loss of a line is the least of all lines") {
  const SizedTimes cases[] = {
      {{1, 2, 3, 4, 5}, {12, 14, 20, 18, 20}},  // one outlier above
      {{1, 2, 3, 4, 5}, {12, 14, 12, 18, 20}},  // one below
      {{1, 2, 3, 4, 5}, {20, 18, 15, 14, 9}},   // falling: a constant
      {{1, 2, 3, 4, 5}, {1, 5, 9, 14, 17}},     // as if it began below 0: a multiple of the size
      {{1, 1, 3, 3, 9}, {4, 5, 9, 8, 30}},      // sizes that repeat
      {{0, 0, 0}, {3, 4, 5}},                   // no size at all
  };
  for (const SizedTimes& points : cases)
    for (const double deviation : {0.02, 0.1, 0.5}) {
      CAPTURE(deviation);
      CAPTURE(points.times[0]);
      CHECK(line_loss(points.bytes, points.times, deviation) == near(least_loss(points, deviation), 2e-5));
    }
}

TEST_CASE("regions: the noise of three and four points by hand") {
  // A third of the way between 10 and 20 lies 13 1/3, of which the parts of the neighbours are 6 2/3 each.
  const double third = 20.0 / 3, off = (14 - 2 * third) / std::sqrt(14 * 14 + 2 * third * third);
  CHECK(local_noise({{1, 2, 4}, {10, 14, 20}}) == near(off / 0.6745));
  // Sizes that are equal: in the middle.
  CHECK(local_noise({{3, 3, 3}, {10, 11, 20}}) == near(4 / std::sqrt(11 * 11 + 25 + 100) / 0.6745));
  CHECK(local_noise({{1, 2}, {10, 20}}) == 0.001);
  // The median of two.
  CHECK(local_noise({{1, 2, 4, 6}, {10, 14, 20, 16}}) ==
        near((off + (20 - 7 - 8) / std::sqrt(20 * 20 + 7 * 7 + 8 * 8.0)) / 2 / 0.6745));
}

TEST_CASE("regions: four sizes make a region, and three don't") {
  CHECK(choose_regions(jump(8, 4, 50)) == std::vector<std::size_t>{0, 4});
  CHECK(choose_regions(jump(7, 4, 50)) == std::vector<std::size_t>{0});
  CHECK(choose_regions({}) == std::vector<std::size_t>{0});
  CHECK(choose_regions(jump(8, 4, 50), 2) == std::vector<std::size_t>{0, 4});
  CHECK(choose_regions(jump(8, 4, 50), 4) == std::vector<std::size_t>{0, 4});
  CHECK(choose_regions(jump(9, 5, 50)) == std::vector<std::size_t>{0, 5});
  CHECK(choose_regions(jump(16, 4, 50), 4) == std::vector<std::size_t>{0, 4, 8, 12});
  // A size that occurs twice counts once.
  SizedTimes twice = jump(8, 4, 50);
  twice.bytes.insert(twice.bytes.begin() + 2, twice.bytes[2]);
  twice.times.insert(twice.times.begin() + 2, twice.times[2]);
  CHECK(choose_regions(twice) == std::vector<std::size_t>{0, 5});
  twice.bytes.pop_back();
  twice.times.pop_back();
  CHECK(choose_regions(twice) == std::vector<std::size_t>{0});
}

TEST_CASE("regions: with up to 300 sizes a region begins at any, with more at every second") {
  CHECK(choose_regions(jump(300, 151, 500), 2) == std::vector<std::size_t>{0, 151});
  CHECK(choose_regions(jump(302, 152, 500), 2) == std::vector<std::size_t>{0, 152});
  const std::vector<std::size_t> near_it = choose_regions(jump(302, 151, 500), 2);
  CHECK(near_it.size() == 2);
  CHECK(near_it[1] % 2 == 0);
  // Four sizes are two of the blocks.
  CHECK(choose_regions(jump(302, 4, 500), 2) == std::vector<std::size_t>{0, 4});
}

TEST_CASE("regions: a region more must lower the losses by enough") {
  // Two lines through four points each have no loss, which counts as one a point. A second region costs 3 ln N.
  bool one = false, two = false;
  for (const std::size_t count : {8U, 12U, 20U})
    for (double height = 0.05; height < 3; height *= 1.05) {
      const SizedTimes points = jump(count, count / 2, height);
      REQUIRE(local_noise(points) == near(0.001));
      const auto n = static_cast<double>(count);
      const double gain = n * std::log(std::max(1.0, line_loss(points.bytes, points.times, 0.001) / n));
      const bool expected = gain > 3 * std::log(n);
      (expected ? two : one) = true;
      CAPTURE(count);
      CAPTURE(height);
      CHECK(choose_regions(points).size() == (expected ? 2 : 1));
    }
  CHECK(one);
  CHECK(two);
}

TEST_CASE("regions: noise without a model") {
  const SizedTimes clean = timed(powers(6, 24, 2), three_protocols, NoisyClock{1, 0, false});
  CHECK(local_noise(clean) == 0.001);
  double sum_of_estimates = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    sum_of_estimates += local_noise(timed(powers(6, 24, 4), three_protocols, NoisyClock{seed, 0.05, false}));
  CHECK(sum_of_estimates / 50 == near(0.05, 0.1));
}

TEST_CASE("regions: protocols are found, in noise and among outliers" * doctest::skip(kSanitized)) {
  const std::vector<double> sizes = powers(6, 24, 4);
  const std::vector<std::size_t> truth{0, 24, 52};  // 2^12 and 2^19 in quarters from 2^6
  CHECK(choose_regions(timed(sizes, three_protocols, NoisyClock{1, 0, false})) == truth);
  int exact = 0, three = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const SizedTimes points = timed(sizes, three_protocols, NoisyClock{seed, 0.03, seed % 2 == 0});
    const std::vector<std::size_t> found = choose_regions(points);
    if (found.size() == 3) ++three;
    if (found == truth) ++exact;
    CHECK(choose_regions(points, 2).size() == 2);
    CHECK(choose_regions(points, 1) == std::vector<std::size_t>{0});
  }
  CHECK(three >= 50);
  CHECK(exact >= 40);
  MESSAGE("three regions in " << three << " of 60, the true ones in " << exact);
  // One line stays one.
  int one = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const SizedTimes points = timed(
        sizes, [](double m) { return 20e3 + 0.3 * m; }, NoisyClock{seed, 0.03, seed % 2 == 0});
    if (choose_regions(points).size() == 1) ++one;
  }
  CHECK(one >= 54);
  MESSAGE("one region in " << one << " of 60");
}

TEST_CASE("regions: few and many sizes") {
  CHECK(choose_regions({{1, 2, 3}, {1, 2, 3}}) == std::vector<std::size_t>{0});
  CHECK(choose_regions({{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}, 3) ==
        std::vector<std::size_t>{0});
  SizedTimes many;
  for (int i = 1; i <= 1000; ++i) {
    many.bytes.push_back(64.0 * i);
    many.times.push_back(i < 500 ? 1000 + 64.0 * i : 25'000 + 32.0 * i);
  }
  const std::vector<std::size_t> found = choose_regions(many);
  REQUIRE(found.size() == 2);
  CHECK(found[1] > 490);  // to the next of the sizes that may begin a region
  CHECK(found[1] < 510);
}
