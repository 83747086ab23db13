#include "calibration/size_regions.hpp"
#include "synthetic_times.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

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
  // A falling time is best met by a constant: with one deviation large enough for squares, that of 1/t weights.
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
