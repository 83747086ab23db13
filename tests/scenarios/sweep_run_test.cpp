// Running, splitting, merging and resuming in one process; tests/cli/sweep_test.cpp does the same with kill -9.

#include "scenarios/run/run_scenario.hpp"
#include "scenarios/sweep/store_query.hpp"
#include "scenarios/sweep/sweep_resume.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/sweep_kit.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const char* const kSweep =
    "{grid: {network.nic: [1Gbps, 10Gbps], policies.placement: [lwf, first-fit, random]}, repeat: 3, "
    "baseline: {policies.placement: first-fit}}";

/// All canonical tables, as text.
std::string dump(SweepStore& store) {
  std::string text;
  for (const std::string table : {"sweep", "parameters", "metrics", "points", "runs", "jobs", "job_groups"}) {
    if (table == "job_groups" && store.info().groupings.empty()) continue;
    if (table == "jobs" && !store.info().per_job) continue;
    SqlStatement row{store.database(),
                     "SELECT * FROM " + table + (table == "job_groups" ? " ORDER BY 1, 2, 3" : " ORDER BY 1, 2")};
    while (row.step()) {
      for (int i = 0; i < row.columns(); ++i) text += row.text(i) + "|";
      text += "\n";
    }
  }
  return text + runs_csv(store, {});
}

ResumedSweep resume(const std::string& path, const SweepPlan& plan, const std::string& build = "1") {
  return resume_sweep(path, plan, plan.info(), build);
}

}  // namespace

TEST_CASE("the canonical tables are the same for any number of threads and any split") {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of(small_sweep(kSweep));
  SweepStore one = run_into(folder.path("one"), plan, all_runs(plan), 1, true, {"model", "size"});
  const std::string expected = dump(one);
  SweepStore four = run_into(folder.path("four"), plan, all_runs(plan), 4, true, {"model", "size"});
  CHECK(dump(four) == expected);
  for (const std::size_t shards : {std::size_t{2}, std::size_t{5}}) {
    std::vector<std::string> paths;
    for (std::size_t shard = shards; shard-- > 0;) {
      std::vector<std::int64_t> runs;
      for (const std::int64_t run : all_runs(plan))
        if (static_cast<std::size_t>(run) % shards == shard) runs.push_back(run);
      paths.push_back(folder.path(fmt::format("{}-of-{}", shard, shards)));
      static_cast<void>(run_into(paths.back(), plan, runs, 2, true, {"model", "size"}));
    }
    const std::string merged = folder.path(fmt::format("merged-{}", shards));
    CHECK(merge_stores(paths, merged).missing.empty());
    SweepStore store = SweepStore::open(merged);
    CHECK(dump(store) == expected);
  }
}

TEST_CASE("a run of a sweep is the run of its scenario") {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of(small_sweep(kSweep));
  SweepStore store = run_into(folder.path("s"), plan, all_runs(plan));
  const StoreRun run = store.runs()[4];  // point 1, the second seed
  CHECK(run.point == 1);
  CHECK(run.seed == 2);
  std::vector<std::string> settings = store.points()[1].settings;
  const Scenario scenario = parsed(
      "cluster: {servers: 4}\n"
      "workload: {generate: {sizes: {1: 3, 2: 2, 4: 2, 8: 1}, iterations: [10, 50], arrivals: 10s}}",
      settings);
  const RunResult alone = run_scenario(scenario, 2);
  CHECK(run.fingerprint == alone.fingerprint);
  CHECK(run.digest == alone.digest);
  const auto jct = std::ranges::find(plan.info().metrics, "avg_jct_s", &StoreMetric::name);
  CHECK(run.metrics[static_cast<std::size_t>(jct - plan.info().metrics.begin())] == summarise(alone).avg_jct_s);
}

TEST_CASE("a failing run is recorded with its error and ends nothing") {
  const TemporaryFolder folder;
  write_file(folder.path("good.csv"), "job_id,submit_s,gpus,iterations,model\na,0,1,10,resnet50\n");
  const SweepPlan plan = plan_of(fmt::format("sweep: {{grid: {{workload.jobs: [{}, {}]}}, repeat: 2}}",
                                             folder.path("bad.csv"), folder.path("good.csv")));
  SweepStore store = run_into(folder.path("s"), plan, all_runs(plan), 2);
  const std::vector<StoreRun> runs = store.runs();
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].status == RunStatus::failed);
  CHECK(runs[1].error.find("bad.csv") != std::string::npos);
  CHECK(std::isnan(runs[1].metrics[0]));
  CHECK(runs[2].status == RunStatus::done);
  // A resumed sweep tries them again.
  const ResumedSweep resumed = resume(folder.path("s"), plan);
  CHECK(resumed.done == std::vector<bool>{false, false, true, true});
  CHECK(resumed.failed == 2);
}

TEST_CASE("a policy that can't work in a setting is refused, not failed") {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of(
      "training: {it: {model: resnet50, exchange: parameter-server}}\n"
      "overlap: {training: it, workers: [8], fusion: [wfbp, dear]}\nsweep: {grid: "
      "{network.nic: [10Gbps]}}");
  SweepStore store = run_into(folder.path("s"), plan, all_runs(plan));
  const std::vector<StoreRun> runs = store.runs();
  CHECK(runs[0].status == RunStatus::done);
  CHECK(runs[0].metrics[0] > 0);
  CHECK(runs[1].status == RunStatus::refused);
  CHECK_FALSE(runs[1].error.empty());
}

TEST_CASE("a study is timed again at every point that changes what its entry computes") {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of(
      "network: {alpha: 20us}\ntraining: {it: {model: resnet18}}\noverlap: {training: it, workers: [8], fusion: "
      "[bsp]}\n"
      "sweep: {grid: {training.it.accumulate: [1, 3], training.it.optimizer: [none, adam], training.it.input: [0s, "
      "1s]}}");
  SweepStore store = run_into(folder.path("s"), plan, all_runs(plan), 1);
  const auto metric = std::ranges::find(plan.info().metrics, "compute_s", &StoreMetric::name);
  REQUIRE(metric != plan.info().metrics.end());
  std::set<double> computed;
  for (const StoreRun& each : store.runs())
    computed.insert(each.metrics[static_cast<std::size_t>(metric - plan.info().metrics.begin())]);
  CHECK(computed.size() == plan.points().size());
}

TEST_CASE("a resumed sweep has its runs where it has grown to, and runs only what is new") {
  const TemporaryFolder folder;
  const std::string path = folder.path("s");
  const SweepPlan small = plan_of(small_sweep("{grid: {network.nic: [10Gbps]}, repeat: 2}"));
  static_cast<void>(run_into(path, small, {0, 1}));
  const SweepPlan large = plan_of(small_sweep("{grid: {network.nic: [1Gbps, 10Gbps]}, repeat: 3}"));
  {
    ResumedSweep resumed = resume(path, large);
    CHECK(resumed.added == 4);
    CHECK(resumed.done == std::vector<bool>{false, false, false, true, true, false});
    run_sweep(large, std::vector<std::int64_t>{0, 1, 2, 5}, 1, resumed.store, {});
  }
  SweepStore grown = SweepStore::open(path);
  SweepStore fresh = run_into(folder.path("fresh"), large, all_runs(large));
  CHECK(dump(grown) == dump(fresh));

  // Back to the small one: four runs would be lost.
  CHECK_THROWS_AS(resume(path, small), InputError);
  SweepStore untouched = SweepStore::open(path);
  CHECK(untouched.runs().size() == 6);
}

TEST_CASE("runs by another version are run again") {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of(small_sweep("{repeat: 2}"));
  static_cast<void>(run_into(folder.path("s"), plan, {0}));
  const ResumedSweep resumed = resume(folder.path("s"), plan, "2");
  CHECK(resumed.outdated == 1);
  CHECK(resumed.done == std::vector<bool>{false, false});
}

TEST_CASE("an interrupted sweep records no half run") {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of(small_sweep("{repeat: 8}"));
  SweepStore store = SweepStore::create(folder.path("s"), plan.info(), plan.points());
  store.add_manifest({});
  int recorded = 0;
  run_sweep(
      plan, all_runs(plan), 1, store,
      {.threads = 1, .recorded = [&](const StoreRun&) { ++recorded; }, .interrupted = [&] { return recorded == 3; }});
  CHECK(store.runs().size() == 3);
}

TEST_CASE("a store has the figures of groups that its jobs give, and a resumed sweep has the same") {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of(small_sweep(kSweep));
  SweepStore store = run_into(folder.path("a"), plan, all_runs(plan), 2, true, {"size", "model"});
  std::int64_t groups = 0;
  for (const std::int64_t run : all_runs(plan)) {
    // By size, from the rows of the jobs: their number, and the sum of the GPU time that they held.
    std::map<std::int64_t, std::pair<std::int64_t, double>> by_gpus;
    SqlStatement job{store.database(), "SELECT gpus, held_s FROM jobs WHERE run = ?"};
    job.bind(1, run);
    while (job.step()) {
      auto& [jobs, hours] = by_gpus[job.integer(0)];
      ++jobs;
      hours += job.number(1) * static_cast<double>(job.integer(0)) / 3600;
    }
    SqlStatement group{store.database(),
                       "SELECT value, jobs, gpu_hours, place FROM job_groups WHERE run = ? AND grouping = 'size' "
                       "ORDER BY place"};
    group.bind(1, run);
    for (const auto& [gpus, expected] : by_gpus) {  // all sizes are powers of two, and so the only ones of their class
      REQUIRE(group.step());
      CHECK(group.text(0) == (gpus == 4 ? "3-4" : gpus == 8 ? "5-8" : std::to_string(gpus)));
      CHECK(group.integer(1) == expected.first);
      CHECK(group.number(2) == near(expected.second));
      ++groups;
    }
    CHECK_FALSE(group.step());
  }
  CHECK(groups == 4 * plan.info().runs);

  StoreInfo info = plan.info();
  info.per_job = true;
  CHECK_THROWS_WITH_AS(static_cast<void>(resume_sweep(folder.path("a"), plan, info, "1")),
                       (folder.path("a") + ": was written with --by size --by model, not without --by").c_str(),
                       InputError);
  const std::vector<std::int64_t> some{0, 3};
  store.remove(some);
  info.groupings = {"size", "model"};
  const SweepPlan other = plan_of(
      small_sweep("{grid: {network.nic: [1Gbps, 10Gbps], policies.placement: [random, lwf, first-fit]}, repeat: 3, "
                  "baseline: {policies.placement: first-fit}}"));
  ResumedSweep resumed =
      resume_sweep(folder.path("a"), other, info, "1");  // rewritten with its points in another order
  SqlStatement left{resumed.store.database(),
                    "SELECT count(DISTINCT run), count(*) FROM job_groups WHERE grouping = 'size'"};
  REQUIRE(left.step());
  CHECK(left.integer(0) == plan.info().runs - 2);
  CHECK(left.integer(1) == groups - 8);
}
