// Tests the keys of failures and checkpoints: what they become for the engine, and what is refused.

#include "models/reliability/availability.hpp"
#include "models/reliability/checkpoint_period.hpp"
#include "models/reliability/presets.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/run/check_scenario.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/failure_specs.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr std::string_view kFailingCluster = "cluster: {servers: 128, gpus_per_server: 8}\n";

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string failure_errors(const std::string& keys) {
  return errors_of(std::string{kFailingCluster} + keys);
}

Scenario failing(const std::string& keys) {
  return parsed(std::string{kFailingCluster} + keys);
}

}  // namespace

TEST_CASE("components of a scenario, each with its law") {
  const Scenario scenario = failing(
      "failures:\n"
      "  components:\n"
      "    - {name: gpu, of: gpu, fails: {per_day: 0.001}, repair: {law: lognormal, mean: 355min, median: 54min}}\n"
      "    - {name: rack, of: domain, servers: 16, fails: {law: weibull, mean: 100d, shape: 0.7}}\n"
      "  repair: {mean: 6h}\n"
      "  detection: 30min\n"
      "  spares: 4\n");
  const FailureSpec spec = spec_of_failures(scenario, 7);
  REQUIRE(spec.components.size() == 2);
  CHECK(spec.components[0].gpus == 1);
  CHECK(spec.components[0].drains);
  CHECK(spec.components[0].failure == DurationLaw::exponential(1000 * Time::seconds(86'400)));
  CHECK(spec.components[0].repair.mean() == Time::seconds(355 * 60));
  CHECK(spec.components[1].gpus == 128);
  CHECK(spec.components[1].failure == DurationLaw::weibull(100 * Time::seconds(86'400), 0.7));
  CHECK(spec.components[1].repair == DurationLaw::exponential(Time::seconds(6 * 3600)));
  CHECK(spec.detection == Time::seconds(1800));
  CHECK(spec.spares == 4);
  CHECK(spec.seed == 7);
  CHECK(spec_of_failures(parsed(""), 7).any() == false);
  // 64 GPUs in 8 servers of one rack.
  CHECK(1 / interruption_mean_s(scenario.cluster, scenario.failures, {64}) ==
        near((64e-3 / 86'400 + 1 / (100 * 86'400.0))));
}

TEST_CASE("presets have the rates of their sources") {
  const auto mean_h = [](const std::string& preset, int servers) {
    const Scenario scenario = parsed("cluster: {servers: 2048, gpus_per_server: 8}\nfailures: {preset: " + preset +
                                     ", repair: {mean: 6h}}\n");
    return interruption_mean_s(scenario.cluster, scenario.failures, {8 * servers}) / 3600;
  };
  // 419 interruptions in 54 days; 1 / (N r) of 6.50 and 2.34 in 1,000 server-days.
  CHECK(mean_h("llama-3", 2048) == near(54 * 24 / 419.0, 1e-9));
  CHECK(mean_h("rsc-1", 2048) == near(24 / (2048 * 6.5e-3), 1e-9));
  CHECK(mean_h("rsc-1", 2048) == near(1.803, 1e-3));
  CHECK(mean_h("rsc-1", 128) == near(28.846, 1e-4));
  CHECK(mean_h("rsc-2", 128) == near(24 / (128 * 2.34e-3), 1e-9));
  CHECK(mean_h("tpu-v4", 1000) == near(24 / 0.8, 1e-9));
  // In time of use: 115 failures of components in 310,692 GPU-days, and one of software in 469.75 h of a job.
  CHECK(1 / mean_h("acme", 1) == near(8 * 115 / (310'692.18 * 24) + 1 / 469.75, 1e-4));
  CHECK(1 / mean_h("acme", 128) - 1 / mean_h("acme", 1) == near(8 * 127 * 115 / (310'692.18 * 24), 1e-4));
  // All 39,776 failed trials, without 147 preemptions and 10 of GPUs, in 96,300 x 18,006.055 s of jobs: one in 12.16 h.
  CHECK(1 / mean_h("philly", 1) == near(80 / (68'033.0 * 24) + 3'600 * 39'619 / (96'300 * 18'006.055), 1e-4));
  CHECK(1 / (1 / mean_h("philly", 1) - 80 / (68'033.0 * 24)) == near(12.157, 1e-4));
  // As published: memory errors of a GPU come each 283,271 and 88,768 h.
  const auto memory_h = [](const char* preset) { return find_failure_preset(preset)->rates.front().mean_s / 3600; };
  CHECK(memory_h("delta-a100") == near(283'271, 1e-3));
  CHECK(memory_h("delta-h100") == near(88'768, 1e-5));
  CHECK(mean_h("delta-h100", 1) == near(608 * 146 * 24 / 27.0 / 8, 1e-9));
  CHECK(mean_h("delta-a100", 1) == near(448 * 895 * 24 / 5'890.0 / 8, 1e-9));
  CHECK(find_failure_preset("llama-4") == nullptr);
}

TEST_CASE("what is saved of a job and what that costs") {
  const auto costs = [](const std::string& keys, int gpus = 1) {
    return costs_of_checkpoints(failing("checkpoints: {" + keys + "}\n"),
                                {gpus, Bytes{64'000'000'001}, Time::seconds(3)});
  };
  CHECK(costs("").checkpoint_interval == Time{});
  CHECK(costs("policy: none").checkpoint_interval == kNeverSaved);
  CHECK(costs("policy: none").iterations == kNoIterationSaved);
  CHECK(costs("policy: just-in-time, cost: 30s").rescue == Time::seconds(30));
  CHECK(costs("policy: just-in-time, cost: 30s").checkpoint == Time{});
  const PreemptionCosts written = costs("policy: synchronous, period: 1h, size: 10GB, rate: 100GB/s", 800);
  CHECK(written.checkpoint == Time::seconds(80));
  CHECK(written.persist == Time{});
  const PreemptionCosts behind = costs("policy: asynchronous, period: 1h, size: 10GB, rate: 100GB/s, cost: 1s", 800);
  CHECK(behind.checkpoint == Time::seconds(1));
  CHECK(behind.persist == Time::seconds(80));
  CHECK_THROWS_AS(static_cast<void>(costs("policy: synchronous, period: 1min, size: 10GB, rate: 100GB/s", 800)),
                  InputError);
  // The model has 64 GB and a byte, of which each of 8 GPUs saves as much, rounded up.
  CHECK(costs("policy: synchronous, period: 1h, size: auto, rate: 8GB/s", 8).checkpoint.ns() == 8'000'000'001);
  CHECK(costs("policy: asynchronous, period: 1h, size: auto, store: 8GB/s", 8).written == Bytes{8'000'000'001});
  // Copied to host memory at 2 GB/s in 5 s, of which passes of 3 s hide as many; at 4 GB/s they hide all.
  const PreemptionCosts copied =
      costs("policy: asynchronous, period: 1h, size: 10GB, copy_rate: 2GB/s, rate: 4GB/s", 2);
  CHECK(copied.checkpoint == Time::seconds(2));
  CHECK(copied.persist == Time::seconds(5));
  CHECK(costs("policy: asynchronous, period: 1h, size: 10GB, copy_rate: 4GB/s").checkpoint == Time{});
  CHECK_THROWS_WITH_AS(static_cast<void>(costs_of_checkpoints(
                           failing("failures: {jobs: {mean: 9d}}\ncheckpoints: {policy: asynchronous, "
                                   "period: optimal, size: 10GB, copy_rate: 4GB/s, persist: 9s}\n"),
                           {1, Bytes{}, Time::seconds(3)})),
                       doctest::Contains("checkpoints that cost nothing have no optimal period"), InputError);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(costs_of_checkpoints(
          failing("failures: {jobs: {per_day: 0}}\ncheckpoints: {policy: synchronous, period: optimal, cost: 9s}\n"),
          {1, Bytes{}, Time::seconds(3)})),
      doctest::Contains("nothing interrupts jobs at a rate above 0"), InputError);
  CHECK_THROWS_WITH_AS(static_cast<void>(costs("policy: asynchronous, period: 1s, size: 10GB, copy_rate: 2GB/s")),
                       doctest::Contains("a higher checkpoints.copy_rate"), InputError);
  CHECK(costs("policy: asynchronous, period: 1h, size: 10GB, copy_rate: 4GB/s, persist: 9s").persist ==
        Time::seconds(9));
}

TEST_CASE("a rate of 0 is a component that never fails") {
  const FailureSpec never = spec_of_failures(
      failing("failures: {components: [{name: gpu, of: gpu, fails: {per_day: 0}}], jobs: {per_day: 0}, repair: {mean: "
              "6h}}\n"),
      1);
  CHECK_FALSE(never.any());
  CHECK(mentions(failure_errors("failures: {components: [{name: gpu, of: gpu, fails: {mean: 9d}}], repair: {per_day: "
                                "0}}\n"),
                 "nothing would ever be repaired"));
}

TEST_CASE("the optimal period follows from the job's own rate of failures") {
  const Scenario scenario = failing(
      "failures: {preset: rsc-1, repair: {mean: 6h}}\ncheckpoints: {policy: synchronous, period: optimal, cost: "
      "1min}\n");
  for (const int gpus : {8, 512, 1024}) {
    const double mean = 1000 / 6.5 * 86'400 / (gpus / 8);
    CHECK(costs_of_checkpoints(scenario, {gpus}).checkpoint_interval.to_seconds() ==
          near(optimal_period(60, mean), 1e-9));
  }
}

TEST_CASE("faults of failures and checkpoints are named with what would be right") {
  const std::string one = "failures: {components: [{name: a, of: server, ";
  CHECK(mentions(failure_errors(one + "fails: {law: weibull, mean: 5d}, repair: {mean: 1h}}]}"),
                 "fails of `a` needs a shape"));
  CHECK(mentions(failure_errors(one + "fails: {law: exponential}, repair: {mean: 1h}}]}"), "has no mean: give mean"));
  CHECK(mentions(failure_errors(one + "fails: {mean: 5d, per_day: 1}, repair: {mean: 1h}}]}"),
                 "has both mean and per_day"));
  CHECK(mentions(failure_errors(one + "fails: {mean: 5d, shape: 2}, repair: {mean: 1h}}]}"),
                 "which only law: weibull has"));
  CHECK(mentions(failure_errors(one + "fails: {mean: 5d}, repair: {law: lognormal, mean: 1h, median: 2h}}]}"),
                 "median above its mean"));
  CHECK(mentions(failure_errors(one + "fails: {mean: 5d}}]}"), "`a` has no repair"));
  CHECK(mentions(failure_errors(one + "repair: {mean: 1h}}]}"), "fails is missing"));
  CHECK(mentions(failure_errors(one + "servers: 3, fails: {mean: 5d}, repair: {mean: 1h}}]}"),
                 "which only `of: domain` has"));
  CHECK(mentions(
      failure_errors(
          "failures: {repair: {mean: 1h}, components: [{name: a, of: domain, servers: 200, fails: {mean: 5d}}]}"),
      "a domain of `a` has 200 servers, the cluster has 128"));
  CHECK(mentions(failure_errors("failures: {preset: rsc-1}"), "not how long repairs take"));
  CHECK(mentions(failure_errors("failures: {preset: rsc-3}"), "did you mean \"rsc-1\"?"));
  CHECK(mentions(failure_errors("failures: {spares: 128}"), "of 128 servers of the cluster 128 would be spares"));
  CHECK(mentions(failure_errors("failures: {detection: 5min}"), "something that fails"));
  CHECK(mentions(failure_errors("failures: {preset: rsc-1, repair: {mean: 1h}, spare_delay: 5min}"),
                 "failures.spares above 0"));
  CHECK(mentions(failure_errors("failures: {preset: rsc-1, repair: {mean: 1h}, cold_delay: 5min}"),
                 "failures.cold_spares above 0"));
  CHECK(mentions(failure_errors("failures: {spares: 100, cold_spares: 28}"),
                 "of 128 servers of the cluster 128 would be spares"));
  const std::string found = one + "fails: {mean: 5d}, repair: {mean: 1h}, found_by: ";
  CHECK(mentions(failure_errors(found + "luck}]}"), "expected one of exit-code, heartbeat, timeout, slowdown"));
  CHECK(mentions(failure_errors(found + "slowdown}]}"), "`a` stops, and `found_by: slowdown` notices what has slows"));
  CHECK(mentions(failure_errors(found + "timeout, slows: 2}]}"), "`a` only slows down, and so goes on"));
  CHECK(mentions(failure_errors(found + "slowdown, slows: 1.05}]}"), "`a` is not so slow: nobody finds it"));
  CHECK(mentions(failure_errors(found + "timeout}], hangs: 0.1}"), "no job fails by itself"));
  CHECK(mentions(failure_errors(found + "timeout}], jobs_found_by: exit-code}"), "no job fails by itself"));
  CHECK(mentions(failure_errors("failures: {jobs: {mean: 1d}, jobs_found_by: slowdown}"), "has stopped"));
  CHECK(mentions(failure_errors("failures: {detectors: {heartbeat: 5s}}"), "something that fails"));
  CHECK(mentions(
      failure_errors("network: {fidelity: flow, fabric: {kind: single-switch}}\nfailures: {components: [{name: "
                     "nic, of: nic, fails: {mean: 9d}}], repair: {mean: 6h}, retries: 3}"),
      "can interrupt jobs"));
  CHECK(mentions(failure_errors("failures: {jobs: {mean: 1d}, detectors: {heartbeat: 0s}}"), "heartbeat"));
  CHECK(mentions(failure_errors("checkpoints: {policy: synchronous}"), "needs checkpoints.period"));
  CHECK(mentions(failure_errors("checkpoints: {policy: synchronous, period: 10s, cost: 11s}"),
                 "takes longer than the period"));
  CHECK(mentions(failure_errors("checkpoints: {policy: synchronous, period: optimal, cost: 11s}"),
                 "without rates of failures"));
  CHECK(mentions(failure_errors("checkpoints: {period: 1h}"), "checkpoints.policy: synchronous or asynchronous"));
  CHECK(mentions(failure_errors("checkpoints: {policy: synchronous, period: 1h, size: 1GB}"),
                 "size and rate go together"));
  CHECK(mentions(failure_errors("checkpoints: {policy: synchronous, iterations: 9, store: 1GB/s}"),
                 "needs checkpoints.size"));
  CHECK(mentions(failure_errors("checkpoints: {policy: asynchronous, iterations: 9, size: 1GB, store: 1GB/s, persist: "
                                "1s}"),
                 "leave it out"));
  CHECK(mentions(failure_errors("checkpoints: {policy: asynchronous, period: 1h, copy_rate: 1GB/s}"),
                 "needs checkpoints.size"));
  CHECK(mentions(
      failure_errors("checkpoints: {policy: asynchronous, period: 1h, size: auto, copy_rate: 1GB/s, cost: 1s}"),
      "leave checkpoints.cost out"));
  CHECK(mentions(failure_errors("checkpoints: {policy: synchronous, period: 1h, size: auto, copy_rate: 1GB/s}"),
                 "checkpoints.policy: asynchronous"));
  CHECK(mentions(failure_errors("checkpoints: {policy: synchronous, period: 1h, size: all, rate: 1GB/s}"), "auto"));
  CHECK(mentions(failure_errors("scheduling: {preemption: {restart_cost: 1s}}"), "it is now \"checkpoints\""));
}

TEST_CASE("jobs of iterations stop for checkpoints, and share the store") {
  // Two jobs of 8 GPUs, each with 10 s of work: an iteration a second, a checkpoint after each 4.
  const auto seconds = [](const std::string& checkpoints, bool timed = false) {
    Workload workload;
    workload.graphs.push_back(graph_from_text("role w 8 | compute x w 1000000000"));
    for (const char* const name : {"a", "b"}) {
      JobSpec job;
      job.name = name;
      job.gpus = 8;
      job.gpu_share = kWholeGpu;
      job.iterations = 10;
      if (timed) job.duration = Time::seconds(10);
      workload.jobs.push_back(job);
    }
    const Scenario scenario =
        parsed(fmt::format("cluster: {{servers: 2, gpus_per_server: 8}}\npolicies: {{scheduling: fifo, placement: "
                           "first-fit}}\ncheckpoints: {{{}}}\n",
                           checkpoints));
    return run_workload(scenario, std::move(workload), 1).jobs[0].finish.to_seconds();
  };
  CHECK(seconds("policy: synchronous, iterations: 4, cost: 3s") == near(16));
  CHECK(seconds("policy: asynchronous, iterations: 4, cost: 2s") == near(14));
  CHECK(seconds("policy: synchronous, iterations: 4, size: 1GB, rate: 8GB/s") == near(12));
  // 16 GB at 8 GB/s, and a stop of a second before.
  CHECK(seconds("policy: synchronous, iterations: 4, size: 1GB, store: 8GB/s") == near(14));
  CHECK(seconds("policy: synchronous, iterations: 4, size: 1GB, store: 8GB/s, cost: 1s") == near(16));
  CHECK(seconds("policy: synchronous, iterations: 4, size: 1GB, store: 80GB/s, rate: 2GB/s") == near(18));
  CHECK(seconds("policy: asynchronous, iterations: 4, size: 1GB, store: 8GB/s") == near(10));
  // The first bytes are there after 4 + 8 s; the second checkpoint is due 4 s before that.
  CHECK(seconds("policy: asynchronous, iterations: 4, size: 1GB, store: 2GB/s") == near(14));
  const auto complaint = [&](const std::string& checkpoints, bool timed) -> std::string {
    try {
      static_cast<void>(seconds(checkpoints, timed));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  // By a period both kinds of jobs save at the same times: after 4 and 8 s of work.
  for (const bool timed : {false, true}) {
    CHECK(seconds("policy: synchronous, period: 4s, cost: 3s", timed) == near(16));
    CHECK(seconds("policy: synchronous, period: 4s, size: 1GB, store: 8GB/s", timed) == near(14));
    CHECK(seconds("policy: asynchronous, period: 4s, size: 1GB, store: 4GB/s", timed) == near(10));
    CHECK(mentions(complaint("policy: synchronous, period: 4s, size: 1GB, store: 1GB/s", timed),
                   "a checkpoint of 8 GPUs takes 8 s, longer than the period of 4 s between two of them; a longer "
                   "period, or a higher checkpoints.store"));
  }
  // Figures that are no short numbers are rounded.
  CHECK(mentions(complaint("policy: synchronous, period: 4s, size: 10GB, rate: 3GB/s", false),
                 "takes 26.6667 s, longer than the period of 4 s between two of them; a longer period, or a higher "
                 "checkpoints.rate"));
  CHECK(mentions(complaint("policy: synchronous, iterations: 4, size: 1GB, store: 8GB/s", true),
                 "job \"a\" has a duration, and so needs a period"));
  for (const bool timed : {false, true})
    CHECK(mentions(complaint("policy: synchronous, period: 4s, size: auto, rate: 8GB/s", timed),
                   "auto: nothing says how large the model of job \"a\" is"));
}

TEST_CASE("a checkpoint that takes longer than the iterations between two of them is refused with both times") {
  const std::string cluster =
      "cluster: {servers: 2, gpus_per_server: 4}\nworkload: {generate: {sizes: {8: 1}, models: [resnet50], "
      "iterations: [100, 100]}}\ncheckpoints: {policy: synchronous, iterations: 10, cost: ";
  // What an iteration takes when the job is alone, its communication included.
  const RunResult alone = run_scenario(parsed(cluster + "0s}\n"), 1);
  const double iteration_s = (alone.jobs[0].finish - alone.jobs[0].start).to_seconds() / 100;
  REQUIRE(iteration_s > 0);
  const auto refusal = [&](const std::string& keys, bool runs) -> std::string {
    const Scenario scenario = parsed(cluster + keys);
    try {
      if (runs)
        static_cast<void>(run_scenario(scenario, 1));
      else
        static_cast<void>(check_scenario(scenario));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  for (const bool runs : {false, true}) {
    CAPTURE(runs);
    CHECK(refusal(fmt::format("{:.9f}s}}\n", iteration_s * 9.9), runs).empty());
    const std::string refused = refusal("20s}\n", runs);
    CHECK(mentions(refused, "checkpoints.iterations: a checkpoint of job"));
    CHECK(mentions(refused, "on 8 GPUs, takes 20 s, longer than the 10 iterations between two of them"));
    const std::string before = "which take ";
    REQUIRE(mentions(refused, before));
    CHECK(std::stod(refused.substr(refused.find(before) + before.size())) == near(iteration_s * 10, 0.02));
    CHECK(mentions(refused, "more iterations, or a lower checkpoints.cost"));
    CHECK(mentions(refusal("0s, period: 10s, size: 5GB, store: 2GB/s}\n", runs),
                   "checkpoints.period: a checkpoint of 8 GPUs takes 20 s, longer than the period of 10 s"));
  }
}

TEST_CASE("a scenario with failures runs, and the figures of failures are there") {
  const Scenario scenario = parsed(
      "cluster: {servers: 16, gpus_per_server: 8}\nworkload: {like: philly, jobs: 100, scaling: {largest: 64}}\n"
      "policies: {scheduling: fifo, placement: first-fit}\n"
      "failures: {components: [{name: server, of: server, fails: {mean: 2d}, repair: {mean: 6h}}], detection: "
      "10min}\n"
      "checkpoints: {policy: synchronous, period: 1h, cost: 1min, restart_cost: 5min}\n");
  CHECK_NOTHROW(static_cast<void>(check_scenario(scenario)));
  const RunResult result = run_scenario(scenario, 1);
  const Summary summary = summarise(result);
  CHECK(result.failures > 10);
  CHECK(summary.interruptions > 0);
  CHECK(summary.goodput > 0);
  CHECK(summary.effective_time < 1);
  for (const JobResult& job : result.jobs) {
    if (job.state != JobState::finished) continue;
    CHECK(job.finish - job.submit == job.waited + job.held + job.away);
    CHECK(GpuTime{job.held, job.gpus} == job.compute + job.lost + GpuTime{job.overhead, job.gpus});
  }
}

TEST_CASE("an outage without an end lasts, and its file is found from any folder") {
  const TemporaryFolder folder;
  write_file(folder.path("events.csv"), "component,down_s,up_s\nserver0,10,\n");
  write_file(folder.path("jobs.csv"), "job_id,submit_s,gpus,duration_s\nwide,0,8,100\nnarrow,0,4,100\n");
  const Scenario scenario =
      parsed(fmt::format("cluster: {{servers: 2, gpus_per_server: 4}}\npolicies: {{scheduling: fifo}}\n"
                         "workload: {{jobs: {}}}\nfailures: {{events: {}}}\n",
                         folder.path("jobs.csv"), folder.path("events.csv")));
  const RunResult result = run_scenario(scenario, 1);
  CHECK(result.jobs[0].state != JobState::finished);  // only server1 is left
  const std::string printed = to_yaml(scenario, folder.path(""));
  CHECK(mentions(printed, "events: events.csv"));
  CHECK(mentions(printed, "jobs: jobs.csv"));
}

TEST_CASE("components that slow down, and jitter") {
  const Scenario scenario = failing(
      "failures:\n"
      "  components:\n"
      "    - {name: gpu, of: gpu, slows: 1.3, fails: {mean: 30d}, repair: {mean: 2h}}\n"
      "    - {name: nic, of: server, slows_network: 4, fails: {mean: 60d}, repair: {mean: 2h}}\n"
      "  jitter: 0.05\n");
  const FailureSpec spec = spec_of_failures(scenario, 7);
  REQUIRE(spec.components.size() == 2);
  CHECK(spec.components[0].slows == Slowdown{1300, 1000});
  CHECK(spec.components[0].gpus == 1);
  CHECK_FALSE(spec.components[0].drains);
  CHECK(spec.components[1].slows == Slowdown{1000, 4000});
  CHECK(spec.jitter == 0.05);
  CHECK(interruption_mean_s(scenario.cluster, scenario.failures, {64}) == 0);
  CHECK(
      mentions(failure_errors("failures: {components: [{name: a, slows: 2, drains: false, of: gpu, fails: {mean: 1d}, "
                              "repair: {mean: 1h}}]}\n"),
               "slows down and takes nothing out of service"));
  CHECK(mentions(failure_errors("failures: {components: [{name: a, slows: 0.5, fails: {mean: 1d}, repair: {mean: "
                                "1h}}]}\n"),
                 "slows"));
}

TEST_CASE("a slow interface slows the transfers of its server, and no others") {
  const auto seconds = [](const std::string& keys) {
    Workload workload;
    workload.graphs.push_back(
        graph_from_text("role w 2 | compute x w 1000000000 | all-reduce g w 1000000000 | x -> g | g => x"));
    for (int j = 0; j < 2; ++j) {
      JobSpec job;
      job.name = "job" + std::to_string(j);
      job.gpus = 2;
      job.gpu_share = 1000;
      job.iterations = 100;
      workload.jobs.push_back(std::move(job));
    }
    const RunResult result = run_workload(
        parsed("cluster: {servers: 4, gpus_per_server: 1}\npolicies: {scheduling: fifo, placement: first-fit}\n" +
               keys),
        std::move(workload), 1);
    return std::pair{result.jobs[0].finish.to_seconds(), result.jobs[1].finish.to_seconds()};
  };
  const auto [first, second] = seconds("");
  CHECK(first == near(second));
  const auto [same, slow] = seconds(
      "failures: {components: [{name: nic, slows_network: 3, of: domain, servers: 4, fails: {law: constant, mean: "
      "1ns}, "
      "repair: {law: constant, mean: 100d}}]}\n");
  CHECK(same == near(slow));
  CHECK(same - 100 == near(3 * (first - 100), 0.01));
}

namespace {

/// A fabric of 4 servers with 2 GPUs, in pairs below a leaf each, and 2 spines.
const std::string kFabricCluster =
    "cluster: {servers: 4, gpus_per_server: 2}\n"
    "network: {fidelity: flow, nic: 100Gbps, fabric: {kind: leaf-spine, servers_per_leaf: 2, spines: 2}}\n";

std::string failing_fabric(const std::string& components, const std::string& cluster = kFabricCluster) {
  return cluster + "failures:\n  repair: {mean: 1h}\n  components: [" + components + "]\n";
}

}  // namespace

TEST_CASE("parts of the fabric fail: links, interfaces and switches, each with all that hangs on it") {
  const Scenario scenario =
      parsed(failing_fabric("{name: optics, of: link, fails: {mean: 10d}}, {name: cards, of: nic, fails: {mean: 20d}, "
                            "repair: {mean: 3h}, factor: 0.5}, {name: switches, of: switch, fails: {mean: 30d}}"));
  const Topology topology = build_topology(scenario.cluster, scenario.network);
  const std::vector<FailingLinks> failing = failing_links(scenario.failures, topology);
  std::vector<std::string> found;
  for (const FailingLinks& each : failing) {
    std::string text = each.name + ":";
    for (const LinkId link : each.links) text += " " + topology.link_name(link);
    found.push_back(std::move(text));
  }
  REQUIRE(found.size() == 4 + 4 + 4);
  CHECK(found[0] == "optics/leaf0->spine0: leaf0->spine0 spine0->leaf0");
  CHECK(found[3] == "optics/leaf1->spine1: leaf1->spine1 spine1->leaf1");
  CHECK(found[5] == "cards/server1/nic0: server1/nic0->leaf0 leaf0->server1/nic0");
  CHECK(std::ranges::count(found[8], '>') == 8);  // two servers and two spines, both ways
  CHECK(found[8].starts_with("switches/leaf0:"));
  CHECK(failing[0].factor == 0);
  CHECK(failing[5].factor == 0.5);
  CHECK(failing[0].repair.mean() == Time::seconds(3600));
  CHECK(failing[5].repair.mean() == Time::seconds(3 * 3600));
  // They take no server out of service and interrupt no job.
  CHECK_FALSE(spec_of_failures(scenario, 1).any());
  CHECK(interruption_mean_s(scenario.cluster, scenario.failures, {8}) == 0);
}

TEST_CASE("a run on a fabric that fails is the same for a seed, and other policies meet the same failures") {
  const std::string jobs =
      "workload: {generate: {sizes: {4: 6}, models: [resnet50], iterations: [4000, 4000], arrivals: 1s}}\n";
  const auto run = [&](const std::string& factor, std::uint64_t seed, const std::string& more = "") {
    return run_scenario(
        parsed(failing_fabric("{name: cards, of: nic, fails: {mean: 5s}, repair: {mean: 1s}" + factor + "}") + jobs +
               more),
        seed);
  };
  const RunResult down = run("", 1);
  CHECK(down.fingerprint == run("", 1).fingerprint);
  CHECK(down.fingerprint != run("", 2).fingerprint);
  const RunResult whole = run(", factor: 1", 1);
  CHECK(whole.digest == run_scenario(parsed(kFabricCluster + jobs), 1).digest);  // which leaps
  CHECK(down.end > whole.end);
  CHECK(down.failures == 0);
  Time lost{};
  for (const FabricLinkResult& link : down.fabric.links) {
    const bool is_card = mentions(link.name, "nic0") && mentions(link.name, "leaf");
    CHECK((link.down > Time{}) == is_card);
    lost += link.down;
  }
  CHECK(lost.to_seconds() / down.end.to_seconds() / 8 == near(1.0 / 6, 0.3));
}

TEST_CASE("with found_by: timeout parts of the fabric interrupt jobs, with leaping and without") {
  const std::string jobs =
      "workload: {generate: {sizes: {4: 6}, models: [resnet50], iterations: [400, 400], arrivals: 1s}}\n";
  const auto run = [&](const std::string& found, const std::string& more) {
    return run_scenario(
        parsed(failing_fabric("{name: cards, of: nic, fails: {mean: 5s}, repair: {mean: 1s}" + found + "}") +
               (found.empty() ? "" : "  detection: 1s\n") + more + jobs),
        1);
  };
  const auto interruptions = [](const RunResult& result) {
    int all = 0;
    for (const JobResult& job : result.jobs) all += job.interruptions;
    return all;
  };
  const std::string timeout = "  detectors: {timeout: 1s}\n";
  const RunResult interrupted = run(", found_by: timeout", timeout);
  CHECK(interruptions(interrupted) > 10);
  CHECK(interrupted.may_fail);
  CHECK(interrupted.digest == run(", found_by: timeout", timeout + "engine: {leap: false}\n").digest);
  for (const JobResult& job : interrupted.jobs) {
    CHECK(job.state == JobState::finished);
    CHECK(job.finish - job.submit == job.waited + job.held + job.away);
    CHECK(job.away == Time{});  // what has run out of time has been noticed
  }
  // Without time-outs, or with long ones, they wait for the repair.
  const RunResult patient = run("", "");
  CHECK(interruptions(patient) == 0);
  const RunResult long_ones = run(", found_by: timeout", "  detectors: {timeout: 1d}\n");
  CHECK(interruptions(long_ones) == 0);
  CHECK(long_ones.end == patient.end);
}

TEST_CASE("parts of a fabric that can't fail so are refused") {
  const auto refused = [](const std::string& component, const std::string& cluster = kFabricCluster) {
    return errors_of(failing_fabric(component, cluster));
  };
  CHECK(mentions(refused("{name: a, of: nic, fails: {mean: 1d}}", "network: {nic: 10Gbps}\n"),
                 "`a` is a part of the fabric, which only network.fidelity `flow` has"));
  CHECK(mentions(refused("{name: a, of: nic, slows: 2, fails: {mean: 1d}}"), "slows_network are for GPUs and servers"));
  CHECK(mentions(refused("{name: a, of: nic, found_by: heartbeat, fails: {mean: 1d}}"),
                 "a job notices only that a transfer stands still; found_by: timeout"));
  CHECK(mentions(refused("{name: a, of: nic, found_by: timeout, factor: 0.5, fails: {mean: 1d}}"),
                 "`a` leaves 0.5 of the bandwidth, and a transfer that goes on does not run out of time"));
  CHECK(mentions(errors_of(failing_fabric("{name: a, of: nic, found_by: timeout, fails: {mean: 1d}}") +
                           "  detectors: {timeout: 0s}\n"),
                 "failures.detectors.timeout: a transfer that stands still would have no time at all"));
  CHECK(mentions(
      errors_of(failing_fabric("{name: a, of: nic, factor: 0.5, fails: {mean: 1d}}") +
                "  mitigation: {topology: 10s}\n"),
      "failures.mitigation.topology: `a` is a part of the fabric, and a job does nothing about links that are slow or "
      "down; it does about servers with slows_network, at network.fidelity analytic or contention"));
  CHECK(mentions(refused("{name: a, of: gpu, factor: 0.5, fails: {mean: 1d}}"),
                 "`a` has a factor, which only `of: link`"));
  CHECK(mentions(refused("{name: a, of: switch, factor: 1.5, fails: {mean: 1d}}"), "factor"));
  CHECK(mentions(refused("{name: a, of: swich, fails: {mean: 1d}}"), "did you mean \"switch\"?"));
  // One switch has no links to others.
  const Scenario single = parsed(
      "cluster: {servers: 2, gpus_per_server: 2}\nnetwork: {fidelity: flow, nic: 10Gbps, fabric: {kind: "
      "single-switch}}\nfailures: {repair: {mean: 1h}, components: [{name: a, of: link, fails: {mean: 1d}}]}\n");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(failing_links(single.failures, build_topology(single.cluster, single.network))),
      doctest::Contains("the fabric has no links between switches"), InputError);
}

TEST_CASE("mitigation: what its keys become, and what has no meaning") {
  const std::string slow =
      "failures: {components: [{name: a, of: gpu, slows: 2, fails: {mean: 1d}, repair: {mean: 1h}}], mitigation: ";
  const Mitigation steps =
      spec_of_failures(failing(slow + "{microbatches: 5s, topology: 1min, left: 0.25, restart: 10min}}\n"), 1)
          .mitigation;
  CHECK(steps.microbatches == Time::seconds(5));
  CHECK(steps.topology == Time::seconds(60));
  CHECK(steps.left == 0.25);
  CHECK(steps.restart == Time::seconds(600));
  CHECK(!spec_of_failures(failing("failures: {preset: rsc-1, repair: {mean: 6h}}\n"), 1).mitigation.any());
  CHECK(mentions(failure_errors(slow + "{microbatches: 1min, topology: 1min}}\n"),
                 "costs no more than failures.mitigation.microbatches"));
  CHECK(mentions(failure_errors(slow + "{left: 0.5}}\n"), "failures.mitigation.topology"));
  CHECK(mentions(failure_errors("failures: {preset: rsc-1, repair: {mean: 6h}, mitigation: {restart: 1min}}\n"),
                 "something that is slow"));
}

TEST_CASE("redundancy: what its keys become, and what has no meaning") {
  const std::string events = "failures: {preset: rsc-1, repair: {mean: 6h}, redundancy: ";
  const Scenario scenario =
      failing(events +
              "{cover: replicas, work: job, stages: 4, tolerates: 2, step_cost: 1.25, failover: 30s, rejoin: 1min}}\n");
  const RedundancyRule rule = spec_of_failures(scenario, 1).redundancy;
  CHECK(rule.cover == RedundancyRule::Cover::replicas);
  CHECK(rule.stages == 4);
  CHECK(rule.tolerates == 2);
  CHECK(rule.spreads_over_job);
  CHECK(rule.step_cost == 1250);
  CHECK(rule.failover == Time::seconds(30));
  CHECK(rule.rejoin == Time::seconds(60));
  CHECK(!spec_of_failures(failing("failures: {preset: rsc-1, repair: {mean: 6h}}\n"), 1).redundancy.any());
  CHECK(mentions(failure_errors(events + "{cover: replicas, tolerates: all}}\n"), "`unlimited` is possible, too"));
  CHECK(mentions(failure_errors(events + "{cover: neighbours, stages: 4, work: job}}\n"), "cover: replicas"));
  CHECK(mentions(failure_errors(events + "{stages: 4}}\n"), "failures.redundancy.cover: neighbours or replicas"));
  CHECK(
      mentions(failure_errors(events + "{cover: replicas, stages: 4}}\ncheckpoints: {policy: synchronous, period: 1h, "
                                       "size: 1GB, store: 1GB/s}\n"),
               "jobs that write to checkpoints.store"));
  CHECK(
      mentions(failure_errors(events + "{cover: replicas, stages: 4}}\ncheckpoints: {policy: synchronous, cost: 1min, "
                                       "period: optimal}\n"),
               "isn't known beforehand"));
  const auto refusal = [&](const std::string& redundancy, const std::string& more = {}, bool runs = false) {
    const std::string jobs = "workload: {generate: {sizes: {16: 1}, models: [resnet50], iterations: [10, 10]}}\n";
    const Scenario refused = failing(events + redundancy + "}\n" + more + jobs);
    try {
      if (runs) static_cast<void>(run_scenario(refused, 1));
      static_cast<void>(check_scenario(refused));
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(mentions(refusal("{cover: replicas}", "network: {interference: 0.2}\n", true), "network.interference: none"));
  CHECK(mentions(refusal("{cover: replicas, stages: 4}"), "of those with iterations none has 4 stages"));
  CHECK(mentions(refusal("{cover: neighbours}"), "no job has pipelines"));
  CHECK(refusal("{cover: replicas}").empty());
}
