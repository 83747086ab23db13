// The paired bootstrap: the normal distribution it uses, its interval against all resamples there are, and how often
// that covers the truth.
#include "results/bootstrap.hpp"

#include "sim/random_stream.hpp"
#include "sim/statistics.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace contend {
namespace {

TEST_CASE("the normal distribution against its tables") {
  // Abramowitz and Stegun, table 26.1.
  CHECK(normal_cumulative(0) == near(0.5));
  CHECK(normal_cumulative(1) == near(0.841344746, 1e-9));
  CHECK(normal_cumulative(-2) == near(0.022750132, 1e-8));
  CHECK(normal_cumulative(5) == near(0.9999997133, 1e-10));
  CHECK(normal_cumulative(-7) == 0);
  CHECK(normal_quantile(0.975) == near(1.959963985, 1e-9));
  CHECK(normal_quantile(0.5) == near_absolute(0, 1e-15));
  for (double x = -4; x <= 4; x += 0.37) CHECK(normal_quantile(normal_cumulative(x)) == near(x, 1e-10));
}

TEST_CASE("changes of two figures") {
  CHECK(plain_change(200, 210).difference == 10);
  CHECK(plain_change(200, 210).relative == near(0.05));
  CHECK(plain_change(0, 0).relative == 0);
  CHECK(plain_change(0, 3).relative == INFINITY);
  CHECK(std::isnan(plain_change(NAN, 3).difference));
  CHECK_FALSE(plain_change(1, 2).relative_95.exists());
}

TEST_CASE("means of pairs, by hand") {
  // 10 -> 11, 20 -> 22, 30 -> 33: the means are 20 and 22. Each pair is 10% up, so every resample is, too; the
  // differences 1, 2, 3 are symmetric, so the interval lies around their mean 2, between their ends.
  const std::vector<double> base{10, 20, 30}, other{11, 22, 33};
  const PairedChange change = change_of_means(base, other, 1);
  CHECK(change.base == 20);
  CHECK(change.other == 22);
  CHECK(change.difference == 2);
  CHECK(change.relative == near(0.1));
  CHECK(change.relative_95.low == near(0.1));
  CHECK(change.relative_95.high == near(0.1));
  CHECK(change.difference_95.low >= 1);
  CHECK(change.difference_95.low < 1.5);
  CHECK(change.difference_95.high > 2.5);
  CHECK(change.difference_95.high <= 3);

  const PairedChange again = change_of_means(base, other, 1);
  CHECK(again.difference_95.low == change.difference_95.low);
  CHECK(again.difference_95.high == change.difference_95.high);

  CHECK_FALSE(change_of_means({base.data(), 1}, {other.data(), 1}, 1).difference_95.exists());
  const std::vector<double> unknown{1, NAN, 2}, none{0, 0, 0}, some{0, 0, 4};
  CHECK_FALSE(change_of_means(base, unknown, 1).difference_95.exists());
  // A base of 0 everywhere, or in some resamples, has no relative change to be sure of.
  CHECK(change_of_means(none, some, 1).difference_95.exists());
  CHECK_FALSE(change_of_means(none, some, 1).relative_95.exists());
  CHECK_FALSE(change_of_means(some, base, 1).relative_95.exists());
}

/// The slow obvious one: the statistic of all n^n resamples.
template <class Statistic>
std::vector<double> all_resamples(std::size_t n, Statistic statistic) {
  std::vector<double> draws;
  std::vector<std::size_t> chosen(n, 0);
  for (;;) {
    draws.push_back(statistic(chosen));
    std::size_t i = 0;
    while (i < n && ++chosen[i] == n) chosen[i++] = 0;
    if (i == n) return draws;
  }
}

std::vector<double> picked(const std::vector<double>& values, const std::vector<std::size_t>& chosen) {
  std::vector<double> result;
  for (const std::size_t i : chosen) result.push_back(values[i]);
  return result;
}

TEST_CASE("the draws stand for all resamples there are") {
  RandomStream random{3, "test"};
  for (int round = 0; round < 5; ++round) {
    std::vector<double> base, other;
    for (int i = 0; i < 6; ++i) {
      base.push_back(random.lognormal(3, 0.5));
      other.push_back(base.back() * random.lognormal(0.05, 0.2));
    }
    const auto difference = [&](const auto& chosen) {
      return mean(picked(other, chosen)) - mean(picked(base, chosen));
    };
    const auto ratio = [&](const auto& chosen) { return mean(picked(other, chosen)) / mean(picked(base, chosen)) - 1; };
    const auto median = [&](const auto& chosen) {
      return percentile(picked(other, chosen), 0.5) - percentile(picked(base, chosen), 0.5);
    };
    std::vector<double> difference_without, ratio_without;
    for (std::size_t out = 0; out < base.size(); ++out) {
      std::vector<std::size_t> rest;
      for (std::size_t i = 0; i < base.size(); ++i)
        if (i != out) rest.push_back(i);
      difference_without.push_back(difference(rest));
      ratio_without.push_back(ratio(rest));
    }
    const auto agree = [](const ConfidenceInterval& got, const ConfidenceInterval& want) {
      const double width = want.high - want.low;
      CHECK(std::abs(got.low - want.low) < 0.06 * width);
      CHECK(std::abs(got.high - want.high) < 0.06 * width);
    };
    const PairedChange change = change_of_means(base, other, 1);
    agree(change.difference_95,
          bca_interval(change.difference, all_resamples(base.size(), difference), difference_without));
    agree(change.relative_95, bca_interval(change.relative, all_resamples(base.size(), ratio), ratio_without));
    const PairedChange middle = change_of_percentiles(base, other, 0.5, 1);
    agree(middle.difference_95, bca_interval(middle.difference, all_resamples(base.size(), median), {}));
  }
}

TEST_CASE("percentiles of pairs") {
  const std::vector<double> base{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, other{2, 4, 6, 8, 10, 12, 14, 16, 18, 20};
  const PairedChange change = change_of_percentiles(base, other, 0.95, 1);
  CHECK(change.base == near(9.55));  // position 0.95 x 9 = 8.55: 9 + 0.55 x (10 - 9)
  CHECK(change.other == near(19.1));
  CHECK(change.relative == near(1));
  CHECK(change.relative_95.low == near(1));
  CHECK(change.relative_95.high == near(1));
  CHECK(change.difference_95.low < 9.55);
  CHECK(change.difference_95.high <= 10);
}

/// How often the interval of `n` pairs covers a true difference of 1.
template <class Draw>
double coverage(std::size_t n, Draw draw) {
  constexpr int kRounds = 200;
  int covered = 0;
  RandomStream random{17, "coverage"};
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> base(n), other(n);
    for (std::size_t i = 0; i < n; ++i) {
      base[i] = random.uniform(50, 100);
      other[i] = base[i] + draw(random);
    }
    const ConfidenceInterval interval = change_of_means(base, other, static_cast<std::uint64_t>(round)).difference_95;
    if (interval.low <= 1 && 1 <= interval.high) ++covered;
  }
  return covered / static_cast<double>(kRounds);
}

TEST_CASE("how often the interval covers the truth" * doctest::skip(kSanitized)) {
  const auto normal = [](RandomStream& random) { return random.normal(1, 1); };
  const auto skewed = [](RandomStream& random) { return random.exponential(1); };
  CHECK(coverage(3, normal) < 0.85);  // why kFewPairs exists
  CHECK(coverage(kFewPairs, normal) > 0.85);
  CHECK(coverage(kFewPairs, normal) < 0.98);
  CHECK(coverage(kFewPairs, skewed) > 0.82);
}

TEST_CASE("resamples: many for few pairs, enough for many") {
  CHECK(resample_count(2) == 10'000);
  CHECK(resample_count(4'000) == 10'000);
  CHECK(resample_count(82'000) == 487);
  CHECK(resample_count(10'000'000) == 400);
}

}  // namespace
}  // namespace contend
