#include "scenarios/sweep/store_query.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/temporary_folder.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Points: nic 1, 2 x policy a, b; two seeds. Values of the metric, by point: (1, a) 10, 20; (1, b) 20, 80;
/// (2, a) 30, 40; (2, b) 30, nothing: the second run failed, or 90.
SweepStore hand_made(const std::string& path, bool last_fails = true) {
  StoreInfo info;
  info.kind = "jobs";
  info.repeat = 2;
  info.runs = 8;
  info.parameters = {{.key = "network.nic",
                      .column = "network_nic",
                      .type = StoreParameter::Type::quantity,
                      .number_column = "network_nic_Bps",
                      .unit = "Bps"},
                     {.key = "policies.placement",
                      .column = "policies_placement",
                      .type = StoreParameter::Type::text,
                      .number_column = {},
                      .unit = {}}};
  info.metrics = {{"avg_jct_s", "average JCT", "s", "mean"}};
  std::vector<StorePoint> points;
  for (std::int64_t i = 0; i < 4; ++i) {
    StorePoint& point = points.emplace_back();
    point.point = i;
    point.values = {i < 2 ? "8bps" : "16bps", i % 2 == 0 ? "a" : "b"};
    point.numbers = {i < 2 ? 1.0 : 2.0, std::nan("")};
  }
  SweepStore store = SweepStore::create(path, info, points);
  const double values[] = {10, 20, 20, 80, 30, 40, 30, last_fails ? std::nan("") : 90};
  for (std::int64_t i = 0; i < 8; ++i) {
    StoreRun run;
    run.run = i;
    run.point = i / 2;
    run.seed = 1 + static_cast<std::uint64_t>(i % 2);
    run.metrics = {values[i]};
    if (i == 7 && last_fails) run.status = RunStatus::failed;
    store.record(run);
  }
  return store;
}

ResultsQuery of_metric(std::vector<std::string> group_by) {
  return {.group_by = std::move(group_by), .metrics = {"avg_jct_s"}, .where = {}, .baseline = {}};
}

SweepSetting setting(const std::string& key, const std::string& value) {
  return {key, {value, {}}};
}

}  // namespace

TEST_CASE("means and intervals are over seeds, each seed averaged over the points of the group") {
  const TemporaryFolder folder;
  SweepStore store = hand_made(folder.path("s"));
  const ResultsTable by_nic = query_results(store, of_metric({"network.nic"}));
  REQUIRE(by_nic.groups.size() == 2);
  // nic 1: seed 1 has (10 + 20) / 2 = 15, seed 2 (20 + 80) / 2 = 50; mean 32.5, deviation 24.749, half width
  // 12.7062 x 24.749 / sqrt(2) = 222.36.
  const Estimate& first = by_nic.groups[0].figures[0];
  CHECK(first.mean == near(32.5));
  CHECK(first.half_width == near(222.36, 3e-5));
  CHECK(first.count == 4);
  // nic 2: seed 2 lacks a value at (2, b), so that only seed 1 counts: (30 + 30) / 2.
  CHECK(by_nic.groups[1].figures[0].mean == 30);
  CHECK(by_nic.groups[1].figures[0].count == 2);
  CHECK(std::isnan(by_nic.groups[1].figures[0].half_width));
  CHECK(by_nic.runs == 7);
  CHECK(by_nic.failed == 1);
  CHECK_FALSE(by_nic.compares);
}

TEST_CASE("ratios pair the same seeds of a point and its baseline") {
  const TemporaryFolder folder;
  SweepStore store = hand_made(folder.path("s"));
  ResultsQuery query = of_metric({});
  query.baseline = {setting("policies.placement", "a")};
  const ResultsTable points = query_results(store, query);
  REQUIRE(points.groups.size() == 4);
  CHECK(points.groups[0].ratios[0].geometric.ratio == 1);
  // (1, b): 20 / 10 and 80 / 20: the geometric mean of 2 and 4.
  CHECK(points.groups[1].ratios[0].geometric.ratio == near(std::sqrt(8.0)));
  CHECK(points.groups[1].ratios[0].geometric.low < 1);
  CHECK(points.groups[3].ratios[0].geometric.ratio == near(1));
  CHECK(std::isnan(points.groups[3].ratios[0].geometric.low));
  // Over both points of b: only seed 1 has both, with ratios 2 and 1.
  query.group_by = {"policies_placement"};
  const ResultsTable policies = query_results(store, query);
  CHECK(policies.groups[1].ratios[0].geometric.ratio == near(std::sqrt(2.0)));
}

TEST_CASE("the tests of a table's ratios are corrected for their number") {
  const TemporaryFolder folder;
  SweepStore store = hand_made(folder.path("s"), false);
  ResultsQuery query = of_metric({});
  query.baseline = {setting("policies.placement", "a")};
  const ResultsTable table = query_results(store, query);
  // (1, b): the logarithms of 2 and 4 give t = 3 with one degree of freedom, (2, b): the logarithms of 1 and 2.25 give
  // t = 1.
  const auto two_sided = [](double t) { return 1 - 2 * std::atan(t) / std::acos(-1.0); };
  CHECK(table.tests == 2);
  CHECK(std::isnan(table.groups[0].ratios[0].p_value));  // the baseline itself
  CHECK(table.groups[1].ratios[0].p_value == near(2 * two_sided(3)));
  CHECK(table.groups[3].ratios[0].p_value == near(two_sided(1)));
  CHECK(results_csv(table).find(",avg_jct_s_p,avg_jct_s_detectable\n") != std::string::npos);
}

TEST_CASE("only points with the values asked for, in however they are written") {
  const TemporaryFolder folder;
  SweepStore store = hand_made(folder.path("s"));
  ResultsQuery query = of_metric({"policies.placement"});
  query.where = {{"network.nic", {{"1B/s", {}}}, std::nullopt}};
  const ResultsTable results = query_results(store, query);
  REQUIRE(results.groups.size() == 2);
  CHECK(results.groups[1].figures[0].mean == 50);
  CHECK(results_csv(results) ==
        "policies_placement,runs,avg_jct_s,avg_jct_s_ci95\n"
        "a,2,15," +
            fmt::format("{}", results.groups[0].figures[0].half_width) +
            "\n"
            "b,2,50," +
            fmt::format("{}", results.groups[1].figures[0].half_width) + "\n");
  CHECK(runs_csv(store, query.where) ==
        "run,point,seed,status,error,network_nic,network_nic_Bps,policies_placement,avg_jct_s,events,fingerprint,"
        "digest,baseline\n"
        "0,0,1,done,,8bps,1,a,10,,,,\n"
        "1,0,2,done,,8bps,1,a,20,,,,\n"
        "2,1,1,done,,8bps,1,b,20,,,,\n"
        "3,1,2,done,,8bps,1,b,80,,,,\n");
  query.group_by = {"network.nik"};
  CHECK_THROWS_AS(static_cast<void>(query_results(store, query)), InputError);
}
