// Changes of pairs and their intervals by hand, the test that belongs to an interval, and Holm's correction. How often
// the intervals contain the truth is the suite `intervals` (validate/intervals).
#include "results/paired_change.hpp"

#include "results/tested_changes.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace contend {
namespace {

TEST_CASE("changes of two figures") {
  CHECK(plain_change(200, 210).difference.value == 10);
  CHECK(plain_change(200, 210).relative.value == near(0.05));
  CHECK(plain_change(0, 0).relative.value == 0);
  CHECK(plain_change(0, 3).relative.value == INFINITY);
  CHECK(std::isnan(plain_change(NAN, 3).difference.value));
  CHECK_FALSE(plain_change(1, 2).relative.interval_95.exists());
  CHECK(std::isnan(plain_change(1, 2).relative.detectable()));
  CHECK(std::isnan(plain_change(1, 2).relative.chance_beyond(0, true)));
}

TEST_CASE("three pairs by hand") {
  // 10 -> 20, 100 -> 100, 1000 -> 4000: ratios 2, 1 and 4, whose geometric mean is 2. Their logarithms 0.6931, 0 and
  // 1.3863 have the deviation 0.6931 and the standard error 0.4002.
  const std::vector<double> base{10, 100, 1000}, other{20, 100, 4000};
  const PairedChange change = paired_change(base, other);
  const double t = 4.3026527, error = std::log(2.0) / std::sqrt(3.0);
  CHECK(change.base == 370);
  CHECK(change.other == near(4120.0 / 3));
  CHECK(change.relative.value == near(1));
  CHECK(change.relative.logarithmic);
  CHECK(change.relative.error == near(error));
  CHECK(change.relative.interval_95.low == near(std::exp(std::log(2.0) - t * error) - 1));
  CHECK(change.relative.interval_95.high == near(std::exp(std::log(2.0) + t * error) - 1));
  // The ratio of the means is 4120 / 1110.
  CHECK(change.of_means.value == near(4120.0 / 1110 - 1));
  CHECK(change.of_means.interval_95.high - change.of_means.value ==
        near(ratio_of_means(other, base).high - ratio_of_means(other, base).ratio));
  CHECK(change.difference.value == near(3010.0 / 3));
  // Student's t with two degrees of freedom has the distribution 1/2 + x / (2 sqrt(2 + x^2)), so t(0.8) = 1.0607.
  CHECK(change.relative.detectable() == near(std::expm1((t + 1.06066017) * error), 1e-7));
  const double x = std::log(2.0) / error;
  CHECK(change.relative.chance_beyond(0, true) == near(0.5 - x / (2 * std::sqrt(2 + x * x))));
  CHECK(change.relative.chance_beyond(0, false) == near(0.5 + x / (2 * std::sqrt(2 + x * x))));
  CHECK(change.relative.chance_beyond(1, true) == near(0.5));
  CHECK(change.relative.chance_beyond(-1, true) == 0);
}

TEST_CASE("a p-value of 2.5% is the end of the 95% interval") {
  const PairedChange change = paired_change(std::vector<double>{10, 11, 9, 14}, std::vector<double>{12, 11, 10, 19});
  for (const ChangeEstimate& each : {change.relative, change.difference, change.of_means}) {
    CHECK(each.chance_beyond(each.interval_95.low, true) == near(0.025, 1e-7));
    CHECK(each.chance_beyond(each.interval_95.high, false) == near(0.025, 1e-7));
  }
}

TEST_CASE("without positive values the ratio of the means takes the place of the geometric mean") {
  const PairedChange change = paired_change(std::vector<double>{0, 10, 20}, std::vector<double>{0, 20, 25});
  CHECK_FALSE(change.relative.logarithmic);
  CHECK(change.relative.value == near(0.5));
  CHECK(change.relative.interval_95.low == change.of_means.interval_95.low);
  CHECK(paired_change(std::vector<double>{0, 0}, std::vector<double>{0, 0}).relative.value == 0);
  CHECK_FALSE(paired_change(std::vector<double>{0, 0}, std::vector<double>{1, 2}).relative.interval_95.exists());
  CHECK_FALSE(paired_change(std::vector<double>{1, NAN}, std::vector<double>{1, 2}).difference.interval_95.exists());
}

TEST_CASE("pairs without scatter") {
  // Both sides have the same value under all seeds: one run, made three times, says nothing about chance.
  const PairedChange same = paired_change(std::vector<double>{2, 2, 2}, std::vector<double>{3, 3, 3});
  CHECK(same.difference.value == 1);
  CHECK(same.relative.value == near(0.5));
  CHECK_FALSE(same.difference.interval_95.exists());
  CHECK_FALSE(same.relative.interval_95.exists());
  CHECK(std::isnan(same.relative.chance_beyond(0, true)));
  // Values that do scatter may change by the same amount.
  const PairedChange change = paired_change(std::vector<double>{2, 3, 5}, std::vector<double>{3, 4, 6});
  CHECK(change.difference.error == 0);
  CHECK(change.difference.chance_beyond(0.5, true) == 0);
  CHECK(change.difference.chance_beyond(1, true) == 1);
  CHECK(change.difference.chance_beyond(2, false) == 0);
}

TEST_CASE("resamples of one workload scatter as its own figure errs") {
  const std::vector<double> base{10, 10, 10, 10}, other{11, 12, 13, 14};
  const PairedChange drawn = paired_change(base, other), resampled = paired_change(base, other, Draws::resamples);
  CHECK(resampled.difference.value == drawn.difference.value);
  // sqrt(1 + 1/4) instead of sqrt(1/4) deviations.
  CHECK(resampled.difference.error == near(drawn.difference.error * std::sqrt(5.0)));
  CHECK(resampled.relative.error == near(drawn.relative.error * std::sqrt(5.0)));
  CHECK(resampled.of_means.error == near(drawn.of_means.error * std::sqrt(5.0)));
}

TEST_CASE("a list with its resamples: the error is their scatter and their distance from the list") {
  // The list changes from 10 to 20, its resamples by the factors 1, 2 and 4: logarithms 0, 0.6931 and 1.3863.
  const std::vector<double> base{10, 10, 10}, other{10, 20, 40};
  const double log2 = std::log(2.0), t = 4.3026527;
  const BlockScatter three{.blocks = 3};
  const PairedChange near_list = resampled_change(10, 20, base, other, three);
  CHECK(near_list.relative.value == near(1));
  CHECK(near_list.relative.error == near(log2 * std::sqrt(4.0 / 3)));
  CHECK(near_list.relative.interval_95.low == near(2 * std::exp(-t * near_list.relative.error) - 1));
  CHECK(near_list.relative.interval_95.high == near(2 * std::exp(t * near_list.relative.error) - 1));
  CHECK_FALSE(near_list.of_means.interval_95.exists());
  CHECK(near_list.difference.value == 10);
  // Of a list that changes by 8, the mean of the resamples is two doublings away.
  const PairedChange far = resampled_change(10, 80, base, other, three);
  CHECK(far.relative.value == near(7));
  CHECK(far.relative.error == near(log2 * std::sqrt(4.0 / 3 + 4)));
  CHECK(far.relative.chance_beyond(far.relative.interval_95.low, true) == near(0.025, 1e-7));
  // Without positive values, and without a value.
  const PairedChange zero = resampled_change(0, 0, std::vector<double>{0, 1}, std::vector<double>{0, 2}, three);
  CHECK(zero.relative.value == 0);
  CHECK_FALSE(zero.relative.logarithmic);
  CHECK(zero.relative.error == near(1));  // the resamples change by 100%, without scatter
  CHECK_FALSE(resampled_change(NAN, 1, base, other, three).difference.interval_95.exists());
}

TEST_CASE("a list with its resamples: few blocks, correlated blocks") {
  const std::vector<double> base{10, 10, 10, 10, 10}, other{10, 10, 20, 40, 40};  // logarithms symmetric about log 2
  const ChangeEstimate plain = resampled_change(10, 20, base, other, {.blocks = 40}).relative;
  CHECK(plain.degrees_of_freedom == 4);
  CHECK(plain.upwards == near(1));
  CHECK(plain.downwards == near(1));
  const ChangeEstimate few = resampled_change(10, 20, base, other, {.blocks = 3}).relative;
  CHECK(few.degrees_of_freedom == 2);
  CHECK(few.error == near(plain.error));
  CHECK(few.interval_95.high > 2 * plain.interval_95.high);
  // The correlation of blocks is one of their scatter, and not of their distance from the list.
  const ChangeEstimate alike = resampled_change(10, 20, base, other, {.blocks = 40, .correlation = 1.5}).relative;
  CHECK(alike.error == near(1.5 * plain.error));
  const ChangeEstimate far = resampled_change(10, 80, base, other, {.blocks = 40, .correlation = 1.5}).relative;
  CHECK(far.error == near(std::hypot(1.5 * plain.error, 2 * std::log(2.0))));
}

TEST_CASE("no interval of a list is wider than twice Student's t interval without correlation and skewness") {
  const std::vector<double> base{10, 10, 10, 10, 10}, even{10, 10, 20, 40, 40};  // logarithms symmetric about log 2
  const ChangeEstimate plain = resampled_change(10, 20, base, even, {.blocks = 40}).relative;
  CHECK(resampled_change(10, 20, base, even, {.blocks = 40, .correlation = 1.9}).relative.error ==
        near(1.9 * plain.error));
  CHECK(resampled_change(10, 20, base, even, {.blocks = 40, .correlation = 3}).relative.error == near(2 * plain.error));
  // The distance from the list is a part of both: 2.5 squared of the scatter and 1 of the distance are less than 4 of
  // each.
  const double scatter = plain.error, distance = 2 * std::log(2.0);
  const ChangeEstimate far = resampled_change(10, 80, base, even, {.blocks = 40, .correlation = 2.5}).relative;
  CHECK(far.error == near(std::hypot(2.5 * scatter, distance)));
  // A long tail widens an interval by (1.547 + 0.699) / 2, which the error makes up for.
  const std::vector<double> skewed{10, 10, 10, 10, 16};
  const ChangeEstimate alone = resampled_change(10, 11.2, base, skewed, {.blocks = 40}).difference;
  const ChangeEstimate alike = resampled_change(10, 11.2, base, skewed, {.blocks = 40, .correlation = 3}).difference;
  CHECK(alike.upwards == near(alone.upwards));
  CHECK((alike.upwards + alike.downwards) * alike.error == near(4 * alone.error));
  CHECK(alike.interval_95.high - alike.interval_95.low == near(4 * 2.7764451 * alone.error));
}

TEST_CASE("an interval reaches further to the side where resamples have their long tail") {
  const std::vector<double> base{10, 10, 10, 10, 10, 10}, other{10, 10, 11, 11, 12, 24};
  const PairedChange change = resampled_change(10, 13, base, other, {.blocks = 30});
  for (const ChangeEstimate& each : {change.relative, change.difference}) {
    const double value = each.logarithmic ? std::log1p(each.value) : each.value;
    const double low = each.logarithmic ? std::log1p(each.interval_95.low) : each.interval_95.low;
    const double high = each.logarithmic ? std::log1p(each.interval_95.high) : each.interval_95.high;
    const double t = 2.5705818, z = 1.959963985;  // the skewness is above 0.6, so the acceleration is 0.1
    CHECK((high - value) / each.error == near(t / ((1 - 0.1 * z) * (1 - 0.1 * z)), 1e-6));
    CHECK((value - low) / each.error == near(t / ((1 + 0.1 * z) * (1 + 0.1 * z)), 1e-6));
    // The tests belong to the interval.
    CHECK(each.chance_beyond(each.interval_95.low, true) == near(0.025, 1e-6));
    CHECK(each.chance_beyond(each.interval_95.high, false) == near(0.025, 1e-6));
    CHECK(each.chance_beyond(each.value, true) == near(0.5));
    double last = 0;
    for (double amount = -30; amount < 60; amount += 0.01) {
      if (each.logarithmic && amount <= -1) continue;
      const double chance = each.chance_beyond(amount, true);
      CHECK(chance >= last);
      CHECK(chance + each.chance_beyond(amount, false) == near(1));
      last = chance;
    }
    CHECK(last > 0.97);
  }
  // Mirrored resamples give the mirrored interval.
  const PairedChange mirrored = resampled_change(13, 10, other, base, {.blocks = 30});
  CHECK(mirrored.difference.interval_95.low == near(-change.difference.interval_95.high));
  CHECK(mirrored.relative.interval_95.low == near(1 / (1 + change.relative.interval_95.high) - 1));
}

TEST_CASE("few blocks with a skewed scatter: Student's t and the skewness don't multiply each other") {
  // With two blocks Student's t is 12.7, and skew resamples would send the formula of the skewness beyond its pole.
  const std::vector<double> base{10, 10, 10, 10}, other{9, 9, 9, 5};  // all of them fall
  const ChangeEstimate two = resampled_change(10, 8, base, other, {.blocks = 2}).difference;
  CHECK(two.error == near(std::sqrt(5.0)));  // deviation 2 times sqrt(1 + 1/4); their mean is the list's own change
  CHECK(two.upwards == near(1 / std::pow(1.1959963985, 2), 1e-6));
  CHECK(two.downwards == near(1 / std::pow(0.8040036015, 2), 1e-6));
  CHECK(two.interval_95.high == near(-2 + 12.7062047 * std::sqrt(5.0) * two.upwards));
  CHECK(two.interval_95.low == near(-2 - 12.7062047 * std::sqrt(5.0) * two.downwards));
}

TEST_CASE("property: intervals of a list hold its own change and the resamples, agree with p, and stay near t's") {
  RandomStream stream{1, "intervals of lists"};
  int significant = 0, skewed = 0, bounded = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const auto count = static_cast<std::size_t>(stream.uniform_integer(2, 30));
    const BlockScatter blocks{.blocks = static_cast<std::size_t>(stream.uniform_integer(2, 60)),
                              .correlation = std::exp(stream.uniform(0, 1.1))};
    const double spread = std::exp(stream.uniform(-3, 1)), shift = std::exp(stream.normal(0, 0.5));
    std::vector<double> base, other;
    for (std::size_t i = 0; i < count; ++i) {
      base.push_back(stream.lognormal(0, spread));
      other.push_back(base.back() * shift * stream.lognormal(0, spread));
    }
    const PairedChange change = resampled_change(1, shift * stream.lognormal(0, spread / 2), base, other, blocks);
    std::vector<double> differences, logarithms;
    for (std::size_t i = 0; i < count; ++i) {
      differences.push_back(other[i] - base[i]);
      logarithms.push_back(std::log(other[i] / base[i]));
    }
    for (const ChangeEstimate& each : {change.difference, change.relative}) {
      const auto scale = [&](double x) { return each.logarithmic ? std::log1p(x) : x; };
      const double low = scale(each.interval_95.low), high = scale(each.interval_95.high);
      const double of_resamples = mean(each.logarithmic ? logarithms : differences);
      CHECK(low <= scale(each.value));
      CHECK(scale(each.value) <= high);
      CHECK(low <= of_resamples);
      CHECK(of_resamples <= high);
      const std::vector<double>& drawn = each.logarithmic ? logarithms : differences;
      const double scatter = sample_deviation(drawn) * std::sqrt(1 + 1 / static_cast<double>(count));
      const double plain_t = student_t_975(std::min(count, blocks.blocks) - 1) *
                             std::hypot(scatter, scale(each.value) - of_resamples);  // half of the width
      if (low > -15 || !each.logarithmic)  // nearer to -100% the rounding of the end shows
        CHECK(high - low <= 4 * plain_t * (1 + 1e-6));
      const bool excludes_none = each.interval_95.low > 0 || each.interval_95.high < 0;
      CHECK((chance_of_none(each) < kTwoSidedLevel) == excludes_none);
      significant += excludes_none ? 1 : 0;
      bounded += high - low > 3.999 * plain_t ? 1 : 0;
      skewed += each.upwards > 1.2 * each.downwards || each.downwards > 1.2 * each.upwards ? 1 : 0;
    }
  }
  CHECK(significant > 400);  // both outcomes are many
  CHECK(significant < 7600);
  CHECK(skewed > 2000);
  CHECK(bounded > 500);
}

TEST_CASE("figures that are 0 in some resamples change by the ratio of their means") {
  const std::vector<double> base{0, 2, 4}, other{1, 2, 6};  // means 2 and 3
  const ChangeEstimate change = resampled_change(2, 3, base, other, {.blocks = 12}).relative;
  CHECK_FALSE(change.logarithmic);
  CHECK(change.value == near(0.5));
  // Residuals 1, -1 and 0 over a mean of 2.
  CHECK(change.error == near(0.5 * std::sqrt(4.0 / 3)));
  // What isn't negative falls by 100% at most.
  CHECK(change.interval_95.low == -1);
  CHECK(change.interval_95.high > 2);
  const std::vector<double> below{1, 2, -6};
  CHECK(resampled_change(2, 3, base, below, {.blocks = 12}).relative.interval_95.low < -1);
}

TEST_CASE("Holm's correction") {
  // Sorted 0.01, 0.02, 0.03, 0.5: times 4, 3, 2 and 1, and never below the one before.
  const std::vector<double> adjusted = holm_adjusted(std::vector<double>{0.03, 0.01, NAN, 0.5, 0.02});
  CHECK(adjusted[1] == near(0.04));
  CHECK(adjusted[4] == near(0.06));
  CHECK(adjusted[0] == near(0.06));
  CHECK(adjusted[3] == near(0.5));
  CHECK(std::isnan(adjusted[2]));
  CHECK(holm_adjusted(std::vector<double>{0.6, 0.7}) == std::vector<double>{1, 1});
  CHECK(holm_adjusted({}).empty());
}

}  // namespace
}  // namespace contend
