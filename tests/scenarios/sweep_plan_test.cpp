#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/sweep/baseline.hpp"
#include "scenarios/sweep/store_query.hpp"
#include "tests/scenarios/sweep_kit.hpp"
#include "tests/text_checks.hpp"
#include "text/atomic_file.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

using Texts = std::vector<std::string>;

/// The values of one parameter at all points; `-` for none.
Texts column(const SweepPlan& plan, const std::string& key) {
  Texts values;
  for (std::size_t i = 0; i < plan.info().parameters.size(); ++i) {
    if (plan.info().parameters[i].key != key) continue;
    for (const StorePoint& point : plan.points()) values.push_back(value_text(point, i).value_or("-"));
  }
  return values;
}

const StoreParameter& parameter(const SweepPlan& plan, const std::string& key) {
  for (const StoreParameter& each : plan.info().parameters)
    if (each.key == key) return each;
  FAIL("no parameter " << key);
  return plan.info().parameters.front();
}

std::string hash_of(const std::string& text) {
  return plan_of(text).points().front().hash;
}

Texts complaints_of(const std::string& text) {
  Texts all;
  try {
    static_cast<void>(plan_of(text));
  } catch (const InputError& error) {
    for (const Complaint& each : error.complaints()) all.push_back(each.format());
  }
  return all;
}

}  // namespace

TEST_CASE("a policy is its name, with parameters that have no column of their own") {
  const SweepPlan whole = plan_of(
      "sweep: {grid: {policies.placement: [first-fit, lwf, {policy: lwf, kappa: 3}], network.nic: [2.5Gbps, auto]}}");
  CHECK(column(whole, "policies.placement") ==
        Texts{"first-fit", "first-fit", "lwf", "lwf", "lwf kappa=3", "lwf kappa=3"});
  CHECK(column(whole, "network.nic") == Texts{"2.5Gbps", "10Gbps", "2.5Gbps", "10Gbps", "2.5Gbps", "10Gbps"});
  CHECK(parameter(whole, "network.nic").type == StoreParameter::Type::quantity);
  CHECK(parameter(whole, "network.nic").number_column == "network_nic_Bps");
  CHECK(whole.points()[0].numbers[1] == 2.5e9 / 8);
  CHECK(parameter(whole, "policies.placement").type == StoreParameter::Type::text);

  const SweepPlan parts = plan_of(
      "sweep: {list: [{policies.placement: first-fit}, {policies.placement: lwf, policies.placement.kappa: 3}]}");
  CHECK(column(parts, "policies.placement") == Texts{"first-fit", "lwf"});
  CHECK(column(parts, "policies.placement.kappa") == Texts{"-", "3"});
  CHECK(parameter(parts, "policies.placement.kappa").type == StoreParameter::Type::integer);
  CHECK(parts.points()[1].values[1] == SqlValue{std::int64_t{3}});
}

TEST_CASE("values of one meaning are one value, as it was written first") {
  const SweepPlan plan = plan_of("sweep: {list: [{network.nic: 2500Mbps}, {network.nic: 2.5Gbps}]}");
  CHECK(column(plan, "network.nic") == Texts{"2500Mbps", "2500Mbps"});
  CHECK(plan.points()[0].hash == plan.points()[1].hash);
}

TEST_CASE("a study of an iteration has a point for each number of workers and policy") {
  const SweepPlan plan = plan_of(
      "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [8, 16], fusion: [wfbp, {policy: "
      "horovod}]}\n"
      "sweep: {grid: {network.nic: [1Gbps, 2Gbps]}, exclude: [{overlap.fusion: wfbp, overlap.workers: 16}], "
      "baseline: {overlap.fusion: horovod}}");
  CHECK(plan.info().kind == "study");
  CHECK(column(plan, "network.nic") == Texts{"1Gbps", "1Gbps", "1Gbps", "2Gbps", "2Gbps", "2Gbps"});
  CHECK(column(plan, "overlap.workers") == Texts{"8", "8", "16", "8", "8", "16"});
  CHECK(column(plan, "overlap.fusion") == Texts{"wfbp", "horovod", "horovod", "wfbp", "horovod", "horovod"});
  CHECK(plan.points()[3].baseline == 4);
  const Scenario scenario = plan.scenario(2);
  CHECK(scenario.overlap.workers == std::vector<int>{16});
  CHECK(scenario.overlap.fusion.size() == 1);

  // The settings alone make the same scenario.
  std::vector<std::string> overrides{"network.nic=1Gbps"};
  for (const std::string& each : plan.points()[2].settings) overrides.push_back(each);
  Scenario again = parsed(
      "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [8, 16], fusion: [wfbp, {policy: horovod}]}",
      overrides);
  CHECK(to_yaml(again) == to_yaml(scenario));

  // A single value stands for the list of it.
  CHECK(column(plan_of("training: {it: {model: resnet50}}\noverlap: {training: it, fusion: [wfbp]}\nsweep: {grid: "
                       "{overlap.workers: [4, 8]}}"),
               "overlap.workers") == Texts{"4", "8"});
}

TEST_CASE("the hash of a point covers what decides its results, and nothing else") {
  const std::string usual = hash_of("sweep: {repeat: 2}");
  CHECK(hash_of("name: n\ndescription: d\nseed: 5\nrepeat: 3") == usual);
  CHECK(hash_of("sweep: {grid: {network.nic: [10Gbps]}}") == usual);
  CHECK(hash_of("network: {nic: 11Gbps}") != usual);
  CHECK(hash_of("policies: {placement: {policy: lwf, kappa: 2}}") != usual);

  const TemporaryFolder folder;
  write_file(folder.path("a.csv"), "job_id,submit_s,gpus,iterations,model\na,0,1,10,resnet50\n");
  write_file(folder.path("b.csv"), read_file(folder.path("a.csv")));
  write_file(folder.path("c.csv"), "job_id,submit_s,gpus,iterations,model\na,0,1,11,resnet50\n");
  const auto with_jobs = [&](const std::string& name) {
    return hash_of("workload: {jobs: " + folder.path(name) + "}");
  };
  CHECK(with_jobs("a.csv") == with_jobs("b.csv"));
  CHECK(with_jobs("a.csv") != with_jobs("c.csv"));
}

TEST_CASE("each point is compared with the one that differs in the baseline's values only") {
  const SweepPlan grid = plan_of(
      "sweep: {grid: {network.nic: [1Gbps, 2Gbps], policies.placement: [lwf, first-fit]}, "
      "baseline: {policies.placement: first-fit}}");
  const auto partners = [](const SweepPlan& plan) {
    std::vector<std::int64_t> all;
    for (const StorePoint& each : plan.points()) all.push_back(each.baseline.value_or(-1));
    return all;
  };
  CHECK(partners(grid) == std::vector<std::int64_t>{1, 1, 3, 3});
  // First-fit has no kappa, so it is the baseline of every kappa.
  const SweepPlan list = plan_of(
      "sweep: {list: [{policies.placement: first-fit}, {policies.placement: lwf, policies.placement.kappa: 1}, "
      "{policies.placement: lwf, policies.placement.kappa: 2}], baseline: {policies.placement: first-fit}}");
  CHECK(partners(list) == std::vector<std::int64_t>{0, 0, 0});
  CHECK(complaints_of("sweep: {grid: {network.nic: [1Gbps, 2Gbps]}, baseline: {network.alpha: 1us}}").size() == 1);
  CHECK(complaints_of("sweep: {grid: {network.nic: [1Gbps, 2Gbps]}, baseline: {network.nic: 3Gbps}}").size() == 1);
  const Texts complaints = complaints_of(
      "sweep: {grid: {network.nic: [1Gbps, 2Gbps], policies.placement: [lwf, first-fit]}, "
      "exclude: [{network.nic: 1Gbps, policies.placement: first-fit}], baseline: {policies.placement: first-fit}}");
  REQUIRE(complaints.size() == 1);
  CHECK(complaints[0].find("policies.placement: the sweep has no baseline for point 0 (network.nic=1Gbps "
                           "policies.placement=lwf)") != std::string::npos);
}

TEST_CASE("complaints about points name the value's place and the point, equal ones once") {
  const Texts complaints = complaints_of(
      "sweep:\n"
      "  grid:\n"
      "    network.nic: [10Gbps, ten]\n"
      "    policies.placement: [lwf, random]\n");
  REQUIRE(complaints.size() == 1);
  CHECK(complaints[0] ==
        "a.yaml:4:27: network.nic: expected a rate such as 10Gbps, got \"ten\" (at the point network.nic=ten "
        "policies.placement=lwf and 1 more); `auto` is possible, too\n      network.nic: [10Gbps, ten]\n               "
        "             ^");
}

TEST_CASE("points that read well alone may not share a sweep") {
  CHECK(complaints_of("sweep: {list: [{network.nic: 1Gbps}, {training.it.model: resnet50, overlap.training: it}]}")
            .size() == 1);
  CHECK(complaints_of("training: {it: {model: resnet50}}\noverlap: {training: it}\nsweep: {repeat: 2}").empty());
  CHECK(complaints_of("sweep: {grid: {network.nic: [1Gbps]}, exclude: [{network.nic: 1Gbps}]}").size() == 1);
}

TEST_CASE("a base that is incomplete alone may be completed by every point") {
  const SweepPlan plan = plan_of(
      "training: {it: {device: A100-40GB}}\noverlap: {training: it}\nsweep: {grid: {training.it.model: [resnet50, "
      "vgg16], "
      "overlap.fusion: [bsp]}}");
  CHECK(column(plan, "training.it.model") == Texts{"resnet50", "vgg16"});
}

TEST_CASE("a rule that leaves out nothing is worth a note") {
  CHECK(plan_of("sweep: {grid: {network.nic: [1Gbps]}, exclude: [{network.nic: 2Gbps}]}").notes() ==
        Texts{"sweep.exclude[0] leaves out no point"});
}

TEST_CASE("a plan is the same for any number of threads") {
  const std::string text = small_sweep(
      "{grid: {network.nic: {from: 1Gbps, to: 100Gbps, points: 20, scale: log}, policies.placement: [lwf, random]}}");
  const SweepPlan one = plan_of(text, 1), four = plan_of(text, 4);
  CHECK(one.info().plan == four.info().plan);
  REQUIRE(one.points().size() == four.points().size());
  for (std::size_t i = 0; i < one.points().size(); ++i) CHECK(one.points()[i].hash == four.points()[i].hash);
}

TEST_CASE("points resample a job list all or none; the store knows it, and few blocks are noted once each") {
  const TemporaryFolder folder;
  std::string list = "job_id,submit_s,gpus,duration_s\n";
  for (int i = 0; i < 40; ++i) list += fmt::format("j{},{},1,1000\n", i, 86'400 * i / 10);
  write_file(folder.path("jobs.csv"), list);
  const auto sweep = [&](const std::string& what) {
    return fmt::format("cluster: {{servers: 1, gpus_per_server: 2}}\nworkload: {{jobs: {}}}\nsweep: {}\n",
                       folder.path("jobs.csv"), what);
  };
  // The scenario itself doesn't resample: the points do.
  const SweepPlan plan =
      plan_of(sweep("{grid: {workload.resample.block: [1d, 2d], policies.scheduling: [fifo, sjf]}, repeat: 3}"));
  CHECK(draws_of(plan.info()) == Draws::resamples);
  REQUIRE(plan.notes().size() == 2);
  CHECK_MESSAGE(contains(plan.notes()[0], "has 4 whole blocks of 1d; with fewer than 12 intervals are too narrow"),
                plan.notes()[0]);
  CHECK(contains(plan.notes()[1], "2 whole blocks of 2d"));
  static_cast<void>(SweepStore::create(folder.path("s.sqlite"), plan.info(), plan.points()));
  CHECK(draws_of(SweepStore::open(folder.path("s.sqlite")).info()) == Draws::resamples);

  CHECK(plan_of(sweep("{grid: {policies.scheduling: [fifo, sjf]}}")).info().resampled == false);
  CHECK(plan_of(sweep("{grid: {policies.scheduling: [fifo, sjf]}}")).notes().empty());
  try {
    static_cast<void>(plan_of(sweep("{list: [{workload.resample.block: 1d}, {workload.scaling.rate: 2}]}")));
    FAIL("these runs have no common scatter");
  } catch (const InputError& error) {
    CHECK_MESSAGE(contains(error.what(), "some points resample a job list and others don't"), error.what());
    CHECK(contains(error.what(), "or make two sweeps"));
  }
}
