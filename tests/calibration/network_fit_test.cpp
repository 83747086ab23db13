#include "calibration/network_fit.hpp"
#include "sim/statistics.hpp"
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

TEST_CASE("network fit: the interval of a penalty is the interval of the quotient") {
  // A = 10 us and C = 4 us with noise; the derivatives of C / (A - alpha) are -C / (A - alpha)^2 and 1 / (A - alpha).
  std::vector<CollectiveSample> samples;
  const double noise[] = {0.01, -0.02, 0.015, -0.005, 0.02, -0.01};
  std::vector<double> matrix, times;
  for (int k = 1; k <= 6; ++k) {
    const double time = std::ceil((10e3 + 4e3 * (k - 1)) * (1 + noise[k - 1]));
    samples.push_back(sample(TimedExchange::all_reduce, 4, k, 1e6, time));
    matrix.insert(matrix.end(), {1, k - 1.0});
    times.push_back(time);
  }
  const RobustFit fit = robust_fit(matrix, 2, times);
  // A line with a start-up time of 2 us at this size.
  SeriesFit series;
  series.ranks = 4;
  series.regions = {
      {.first = Bytes{1'000'000}, .last = Bytes{1'000'000}, .alpha = {2e3, 0, 0}, .beta = {}, .quality = {}}};
  for (const bool known : {false, true}) {
    const double alpha = known ? 2e3 : 0;
    const double a = fit.coefficients[0].value - alpha, c = fit.coefficients[1].value;
    const double by_a = -c / (a * a), by_c = 1 / a;
    const double variance =
        by_a * by_a * fit.covariance[0] + 2 * by_a * by_c * fit.covariance[1] + by_c * by_c * fit.covariance[3];
    const double half = student_t_975(4) * std::sqrt(variance);
    const std::vector<ContentionFit> fits =
        fit_contention(samples, known ? std::vector<SeriesFit>{series} : std::vector<SeriesFit>{});
    REQUIRE(fits.size() == 1);
    CHECK(fits[0].alpha == alpha);
    CHECK(fits[0].penalty.value == near(c / a - 1));
    CHECK(fits[0].penalty.low == near(c / a - 1 - half));
    CHECK(fits[0].penalty.high == near(c / a - 1 + half));
  }
  // A line through a single size says nothing of the start-up; one that takes longer than all can't be subtracted.
  series.regions[0].one_size = true;
  CHECK(fit_contention(samples, std::vector{series})[0].alpha == 0);
  series.regions[0].one_size = false;
  series.regions[0].alpha.value = 50e3;
  CHECK(fit_contention(samples, std::vector{series})[0].alpha == 0);
  CHECK(fit_contention(samples, std::vector{series})[0].penalty.value ==
        near(fit.coefficients[1].value / fit.coefficients[0].value - 1));
}

TEST_CASE("network fit: a common penalty is the mean, and not below -1") {
  std::vector<ContentionFit> fits(3);
  fits[0].penalty = {-0.9, -1, -0.8};
  CHECK(common_penalty(std::span{fits}.first(1)).low == -1);
  CHECK(common_penalty(std::span{fits}.first(1)).high == -0.8);
  fits[1].penalty.value = 0.3;
  fits[2].penalty.value = 0.6;
  const FittedNumber all = common_penalty(fits);
  CHECK(all.value == near_absolute(0, 1e-15));
  CHECK(all.low == -1);
  const double half = student_t_975(2) * std::sqrt((0.81 + 0.09 + 0.36) / 2 / 3);
  CHECK(all.high == near(half));
  fits[0].penalty.value = 0.45;
  const double narrow = student_t_975(2) * std::sqrt(0.0225 * 2 / 2 / 3);
  CHECK(common_penalty(fits).low == near(0.45 - narrow));
  CHECK(common_penalty(fits).high == near(0.45 + narrow));
}

TEST_CASE("network fit: the quality of a line counts what is more than 4.685 deviations off") {
  // Eleven points on 1 us + 1 ns/B, but one a half longer.
  std::vector<CollectiveSample> samples;
  for (int i = 1; i <= 11; ++i)
    samples.push_back(sample(TimedExchange::message, 2, 1, 1e4 * i, (1e3 + 1e4 * i) * (i == 5 ? 1.5 : 1)));
  const std::vector<SeriesFit> series = fit_series(samples, 1);
  REQUIRE(series.size() == 1);
  const FitQuality& quality = series[0].regions[0].quality;
  CHECK(quality.points == 11);
  CHECK(quality.outliers == 1);
  CHECK(quality.median_error == near_absolute(0, 1e-9));
  // Part of the sizes, both ends included.
  const auto line = [&](double first, double last) {
    return fit_line(series[0], {Bytes{static_cast<std::int64_t>(first)}, Bytes{static_cast<std::int64_t>(last)}});
  };
  CHECK(line(2e4, 4e4)->quality.points == 3);
  CHECK(line(2e4, 4e4)->first == Bytes{20'000});
  CHECK(line(2e4, 4e4)->last == Bytes{40'000});
  CHECK(line(3e4, 3e4)->one_size);
  CHECK(line(3e4, 3e4)->beta.value == near(31.0 / 30));
  CHECK_FALSE(line(2.1e4, 2.9e4));
}

TEST_CASE("network fit: which series tell of a link, and of which sizes") {
  using enum TimedExchange;
  const auto calibrated = [](const std::vector<CollectiveSample>& samples, const CalibrationChoice& choice = {}) {
    return calibrate_network(samples, choice);
  };
  const NoisyClock clock{1, 0, false};
  // One all-reduce is described by its own line; another number of ranks or another exchange makes it a link.
  CHECK_FALSE(calibrated(ring_samples({all_reduce}, {4}, clock)).link);
  CHECK(calibrated(ring_samples({all_reduce}, {2, 4}, clock)).link);
  CHECK(calibrated(ring_samples({all_gather}, {4}, clock)).link);
  CHECK(calibrated(ring_samples({message}, {0}, clock)).link);
  CHECK_FALSE(calibrated(ring_samples({broadcast}, {4}, clock)).link);
  CHECK_FALSE(calibrated(ring_samples({all_reduce, broadcast}, {4}, clock)).link);
  // A ring needs to be of two ranks or more.
  std::vector<CollectiveSample> unknown = ring_samples({all_gather}, {2}, clock);
  for (CollectiveSample& each : unknown) each.ranks = 1;
  CHECK_FALSE(calibrated(unknown).link);
  // The sizes in the last region of all.
  std::vector<CollectiveSample> samples;
  for (int i = 8; i <= 20; ++i) {
    const double m = 1 << i;
    samples.push_back(sample(all_gather, 2, 1, m, i <= 15 ? 10e3 + m : 50e3 + 0.1 * m));
    samples.push_back(sample(all_gather, 3, 1, m, i <= 13 ? 10e3 + m : 50e3 + 0.1 * m));
  }
  CHECK(calibrated(samples).link->first == Bytes{1 << 16});
  CHECK(calibrated(samples).link->last == Bytes{1 << 20});
  CHECK(calibrated(samples).link->quality.points == 10);
  const CalibrationChoice small{.sizes = SizeRange{Bytes{1 << 9}, Bytes{1 << 12}}};
  CHECK(calibrated(samples, small).link->first == Bytes{1 << 9});
  CHECK(calibrated(samples, small).link->last == Bytes{1 << 12});
  // Several at once.
  CHECK_FALSE(calibrated(samples).penalty);
  samples.clear();
  for (int k = 1; k <= 3; ++k) samples.push_back(sample(all_reduce, 4, k, 1e6, k == 3 ? 900e3 : 100e3 * k));
  CHECK(calibrated(samples, {.at_once = 2}).penalty->value == near_absolute(0, 1e-12));
  CHECK(calibrated(samples, {.at_once = 2}).contention[0].jobs == std::vector<int>{1, 2});
  CHECK(calibrated(samples).contention[0].jobs == std::vector<int>{1, 2, 3});
}
