#include "calibration/network_fit.hpp"
#include "synthetic_times.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

namespace {

CollectiveSample sample(TimedExchange exchange, int ranks, int jobs, double bytes, double ns) {
  return {exchange, ranks, jobs, Bytes{static_cast<std::int64_t>(bytes)}, Time::ceil_nanoseconds(ns)};
}

/// Of a link with start-up a, b and g ns a byte, as the ring has it.
double ring_time(TimedExchange exchange, int n, double m, double a, double b, double g) {
  const double share = (n - 1.0) / n;
  switch (exchange) {
    case TimedExchange::all_reduce:
      return 2 * (n - 1) * a + share * m * (2 * b + g);
    case TimedExchange::reduce_scatter:
      return (n - 1) * a + share * m * (b + g);
    case TimedExchange::all_gather:
    case TimedExchange::all_to_all:
      return (n - 1) * a + share * m * b;
    default:
      return a + m * b;
  }
}

std::vector<CollectiveSample> ring_samples(const std::vector<TimedExchange>& exchanges, const std::vector<int>& ranks,
                                           NoisyClock clock) {
  std::vector<CollectiveSample> samples;
  for (const TimedExchange exchange : exchanges)
    for (const int n : ranks)
      for (const double m : powers(10, 24, 2))
        samples.push_back(sample(exchange, n, 1, m, clock(ring_time(exchange, n, m, 20e3, 0.8, 0.3))));
  return samples;
}

}  // namespace

TEST_CASE("network fit: series and regions") {
  std::vector<CollectiveSample> samples;
  // All-gather among 4: 10 us + 1 ns/B to 32 KiB, then 50 us + 0.1 ns/B, given the wrong way round; others in between.
  for (int i = 20; i >= 8; --i) {
    const double m = 1 << i;
    samples.push_back(sample(TimedExchange::all_gather, 4, 1, m, i <= 15 ? 10e3 + m : 50e3 + 0.1 * m));
    samples.push_back(sample(TimedExchange::all_gather, 4, 3, m, 1));  // not alone
    if (i == 10) samples.push_back(sample(TimedExchange::all_reduce, 2, 1, m, 2048));
  }
  const std::vector<SeriesFit> fits = fit_series(samples);
  REQUIRE(fits.size() == 2);
  CHECK(fits[0].exchange == TimedExchange::all_reduce);
  REQUIRE(fits[0].regions.size() == 1);
  CHECK(fits[0].regions[0].one_size);
  CHECK(fits[0].regions[0].alpha.value == 0);
  CHECK(std::isnan(fits[0].regions[0].alpha.high));
  CHECK(fits[0].regions[0].beta.value == near(2));

  REQUIRE(fits[1].regions.size() == 2);
  CHECK(fits[1].ranks == 4);
  CHECK(fits[1].samples.front().size == Bytes{256});
  CHECK(fits[1].fitted.front() == near(10'256));
  const LineRegion &eager = fits[1].regions[0], &late = fits[1].regions[1];
  CHECK(eager.last == Bytes{1 << 15});
  CHECK(late.first == Bytes{1 << 16});
  CHECK(late.last == Bytes{1 << 20});
  CHECK(eager.alpha.value == near(10e3));
  CHECK(eager.beta.value == near(1));
  CHECK(late.alpha.value == near(50e3, 1e-4));
  CHECK(late.beta.value == near(0.1, 1e-5));
  CHECK(late.quality.points == 5);
  CHECK(late.quality.outliers == 0);
  CHECK(late.quality.r_squared > 0.9999);
  CHECK(fit_series(samples, 1)[1].regions.size() == 1);
}

TEST_CASE("network fit: the link behind rings") {
  using enum TimedExchange;
  const Bytes all{1LL << 40};
  SUBCASE("an exchange without reduction determines gamma") {
    const auto series = fit_series(ring_samples({all_reduce, all_gather}, {2, 4, 8}, NoisyClock{1, 0, false}), 1);
    const std::optional<LinkFit> link = fit_link(series, Bytes{}, all);
    REQUIRE(link);
    CHECK(link->gamma_status == GammaStatus::fitted);
    CHECK(link->alpha.value == near(20e3, 1e-5));
    CHECK(link->beta.value == near(0.8, 1e-5));
    CHECK(link->gamma.value == near(0.3, 1e-5));
    CHECK(link->series.size() == 6);
    CHECK(link->median_errors[5] < 1e-4);
    // Of the sizes that were asked for.
    const std::optional<LinkFit> large = fit_link(series, Bytes{1'000'000}, all);
    CHECK(large->quality.points < link->quality.points);
    CHECK(large->first == Bytes{1 << 20});
    CHECK(large->last == Bytes{3 << 22});
    CHECK_FALSE(fit_link(series, Bytes{1LL << 30}, all));
  }
  SUBCASE("all-reduces alone don't tell it from beta, whatever their ranks") {
    const auto series = fit_series(ring_samples({all_reduce}, {2, 4, 8, 16}, NoisyClock{1, 0, false}), 1);
    const std::optional<LinkFit> link = fit_link(series, Bytes{}, all);
    REQUIRE(link);
    CHECK(link->gamma_status == GammaStatus::inseparable);
    CHECK(link->gamma.value == 0);
    CHECK(link->beta.value == near(0.8 + 0.15, 1e-5));
  }
  SUBCASE("where nothing is added up there is none") {
    const auto series = fit_series(ring_samples({all_to_all, message}, {2, 4}, NoisyClock{1, 0, false}), 1);
    const std::optional<LinkFit> link = fit_link(series, Bytes{}, all);
    REQUIRE(link);
    CHECK(link->gamma_status == GammaStatus::absent);
    CHECK(link->beta.value == near(0.8, 1e-5));
  }
  SUBCASE("one size of one ring tells nothing, nor does a broadcast") {
    const std::vector<CollectiveSample> one{sample(all_reduce, 4, 1, 1e6, 1e6), sample(all_reduce, 4, 1, 1e6, 1.01e6)};
    CHECK_FALSE(fit_link(fit_series(one), Bytes{}, all));
    const auto trees = fit_series(ring_samples({broadcast}, {2, 4}, NoisyClock{1, 0, false}), 1);
    CHECK_FALSE(fit_link(trees, Bytes{}, all));
  }
}

TEST_CASE("network fit: intervals of the link hold the truth 95 times in 100, outliers or not" *
          doctest::skip(kSanitized)) {
  using enum TimedExchange;
  constexpr int kRuns = 200;
  int alpha = 0, beta = 0, gamma = 0;
  for (int seed = 1; seed <= kRuns; ++seed) {
    const NoisyClock clock{static_cast<std::uint64_t>(seed), 0.04, true};
    const auto series = fit_series(ring_samples({all_reduce, all_gather}, {2, 8}, clock), 1);
    const std::optional<LinkFit> link = fit_link(series, Bytes{}, Bytes{1LL << 40});
    REQUIRE(link);
    REQUIRE(link->gamma_status == GammaStatus::fitted);
    alpha += covers(link->alpha, 20e3) ? 1 : 0;
    beta += covers(link->beta, 0.8) ? 1 : 0;
    gamma += covers(link->gamma, 0.3) ? 1 : 0;
  }
  MESSAGE("of " << kRuns << ": alpha " << alpha << ", beta " << beta << ", gamma " << gamma);
  for (const int held : {alpha, beta, gamma}) {  // 2.5 standard deviations of 200 draws are 3.9 in 100
    CHECK(held > 0.91 * kRuns);
    CHECK(held < 0.99 * kRuns);
  }
}

TEST_CASE("network fit: what several at once cost") {
  using enum TimedExchange;
  SUBCASE("by hand") {
    // One alone 100 us, two 150, three 200: k + (k-1) penalty = 1, 1.5, 2, so the penalty is -0.5.
    std::vector<CollectiveSample> samples;
    for (int k = 1; k <= 3; ++k) samples.push_back(sample(all_reduce, 4, k, 1e6, 50e3 * (k + 1)));
    const std::vector<ContentionFit> fits = fit_contention(samples, {});
    REQUIRE(fits.size() == 1);
    CHECK(fits[0].penalty.value == near(-0.5));
    CHECK(fits[0].jobs == std::vector<int>{1, 2, 3});
    CHECK(fits[0].ratio[2] == near(2));
    CHECK(fits[0].fitted[1] == near(1.5));
    CHECK(common_penalty(fits).value == near(-0.5));
  }
  SUBCASE("a start-up that is known doesn't stretch") {
    // alpha 40 us, beta 0.1 ns/B: 1e6 B take 140 us, two at once with penalty 0.2 take 40 + 2.2 x 100.
    std::vector<CollectiveSample> samples;
    for (int i = 1; i <= 10; ++i) samples.push_back(sample(all_reduce, 4, 1, 2e5 * i, 40e3 + 2e4 * i));
    samples.push_back(sample(all_reduce, 4, 2, 1e6, 260e3));
    samples.push_back(sample(all_reduce, 4, 3, 1e6, 380e3));
    // Other series start up otherwise.
    for (int i = 1; i <= 10; ++i) {
      samples.push_back(sample(all_reduce, 2, 1, 2e5 * i, 90e3 + 2e4 * i));
      samples.push_back(sample(all_gather, 4, 1, 2e5 * i, 70e3 + 2e4 * i));
      samples.push_back(sample(broadcast, 4, 1, 2e5 * i, 70e3 + 2e4 * i));
    }
    // The same at the ends of the line: 60 us and 240 us alone.
    samples.push_back(sample(all_reduce, 4, 2, 2e5, 84e3));
    samples.push_back(sample(all_reduce, 4, 3, 2e5, 108e3));
    samples.push_back(sample(all_reduce, 4, 2, 2e6, 480e3));
    samples.push_back(sample(all_reduce, 4, 3, 2e6, 720e3));
    const std::vector<ContentionFit> fits = fit_contention(samples, fit_series(samples));
    REQUIRE(fits.size() == 3);
    for (const ContentionFit& fit : fits) {
      CHECK(fit.alpha == near(40e3));
      CHECK(fit.penalty.value == near(0.2));
    }
  }
  SUBCASE("of one number of jobs nothing can be told") {
    CHECK(fit_contention(std::vector{sample(all_reduce, 4, 2, 1e6, 1e6)}, {}).empty());
  }
  SUBCASE("intervals") {
    if (kSanitized) return;
    constexpr int kRuns = 400;
    int one = 0, common = 0;
    for (int seed = 1; seed <= kRuns; ++seed) {
      NoisyClock clock{static_cast<std::uint64_t>(seed), 0.03, false};
      std::vector<CollectiveSample> samples;
      for (const int n : {2, 3, 4, 5, 6})
        for (int k = 1; k <= 8; ++k)
          for (int again = 0; again < 2; ++again)
            samples.push_back(sample(all_reduce, n, k, 1e8, clock(1e8 * (k + (k - 1) * 0.27))));
      const std::vector<ContentionFit> fits = fit_contention(samples, {});
      REQUIRE(fits.size() == 5);
      one += covers(fits[0].penalty, 0.27) ? 1 : 0;
      common += covers(common_penalty(fits), 0.27) ? 1 : 0;
    }
    MESSAGE("of " << kRuns << ": one fit " << one << ", the mean of five " << common);
    for (const int held : {one, common}) {
      CHECK(held > 0.915 * kRuns);
      CHECK(held < 0.985 * kRuns);
    }
  }
}
