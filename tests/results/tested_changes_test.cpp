// Tests of several changes at once, by hand.
#include "results/tested_changes.hpp"

#include "results/comparison.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

namespace contend {
namespace {

/// The two-sided p-value of a t statistic with two degrees of freedom: 1 - x / sqrt(2 + x^2).
double two_sided(double x) {
  return 1 - x / std::sqrt(2 + x * x);
}

}  // namespace

TEST_CASE("changes of a table are tested together, two-sided, by Holm") {
  const std::vector<double> base{10, 100, 1000};
  MetricChange jct{&metric("avg_jct_s"), paired_change(base, std::vector<double>{20, 100, 4000})};
  MetricChange makespan{&metric("makespan_s"), paired_change(base, std::vector<double>{11, 111, 1105})};
  MetricChange share{&metric("gpu_utilisation"), paired_change(std::vector{0.5, 0.5, 0.5}, std::vector{0.6, 0.5, 0.4})};
  MetricChange same{&metric("jobs"), paired_change(base, base)};
  MetricChange single{&metric("p95_jct_s"), plain_change(1, 2)};
  const std::vector<MetricChange*> all{&jct, &makespan, &share, &same, &single};
  CHECK(test_together(all) == 3);
  // Logarithms of the ratios 2, 1 and 4: mean log 2, standard error log 2 / sqrt 3.
  const double first = two_sided(std::sqrt(3.0));
  const double second = 2 * makespan.change.relative.chance_beyond(0, true);
  REQUIRE(second < first);
  CHECK(makespan.p_value == near(3 * second));
  CHECK(jct.p_value == near(2 * first));
  CHECK(share.p_value == near(1));  // the difference is 0 on average
  CHECK(std::isnan(same.p_value));
  CHECK(std::isnan(single.p_value));
  CHECK(makespan.is_significant() == (3 * second <= 0.05));
  CHECK_FALSE(same.is_significant());

  const std::vector<MetricChange*> alone{&jct};
  test_together(alone);
  CHECK(jct.p_value == near(first));
}

TEST_CASE("scenarios of one run are tested against the first together") {
  const auto replicas = [](const std::vector<double>& jcts) {
    std::vector<Replica> made;
    for (const double each : jcts) {
      Replica& replica = made.emplace_back();
      replica.seed = made.size();
      replica.summary.avg_jct_s = each;
    }
    return made;
  };
  const std::vector<std::vector<Replica>> two{replicas({10, 100, 1000}), replicas({20, 100, 4000})};
  std::vector<std::vector<Replica>> three = two;
  three.push_back(replicas({11, 111, 1105}));
  const std::vector<ComparisonRow> alone = compare(two), together = compare(three);
  CHECK(tests_of(alone) == 1);
  CHECK(tests_of(together) == 2);
  CHECK(std::isnan(together[0].jct_ratio->p_value));
  CHECK(alone[1].jct_ratio->p_value == near(two_sided(std::sqrt(3.0))));
  CHECK(together[1].jct_ratio->p_value == near(alone[1].jct_ratio->p_value));  // the larger of two
  CHECK(together[2].jct_ratio->p_value == near(2 * compare(std::vector{three[0], three[2]})[1].jct_ratio->p_value));
}

TEST_CASE("the smallest change that could be seen stands beside an interval that contains none") {
  // Logarithms of the ratios: 0, ln 2, ln 4, whose mean is ln 2 and whose standard error is ln 2 / sqrt(3). Of two
  // degrees of freedom the quantiles of t are 4.302653 at 0.975 and 1.060660 at 0.8.
  const TestedRatio wide = tested_ratio(std::vector<double>{10, 20, 40}, std::vector<double>{10, 10, 10});
  CHECK(wide.geometric.ratio == near(2));
  CHECK(wide.geometric.low < 1);
  CHECK(wide.detectable == near(std::expm1((4.302653 + 1.060660) * std::log(2.0) / std::sqrt(3.0)), 1e-6));
  const TestedRatio seen = tested_ratio(std::vector<double>{20, 21, 22}, std::vector<double>{10, 10, 10});
  CHECK(seen.geometric.low > 1);
  CHECK(std::isnan(seen.detectable));
  CHECK(std::isnan(tested_ratio(std::vector<double>{10, 11}, std::vector<double>{10, 11}).detectable));
  CHECK(std::isnan(tested_ratio(std::vector<double>{10}, std::vector<double>{11}).detectable));
}

}  // namespace contend
