#include "policies/registry.hpp"
#include "results/expectations.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/batch.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

Scenario study(const std::string& more = "fusion: all", const std::string& network = "{nic: 10Gbps, alpha: 50us}") {
  return parse_scenario("schema_version: 1\nnetwork: " + network +
                            "\ntraining: {it: {model: resnet18}}\noverlap: {training: it, workers: [1, 4, 64], " +
                            more + "}\n",
                        "study");
}

std::string complaint(const std::string& text) {
  try {
    const Scenario scenario = parse_scenario(text, "study");
    static_cast<void>(run_study(scenario));
    return {};
  } catch (const InputError& error) {
    return error.complaints().front().key + ": " + error.complaints().front().reason;
  }
}

}  // namespace

TEST_CASE("a study gives one row for each number of workers and policy, none below its bound") {
  const std::vector<JobResult> rows = run_study(study()).jobs;
  CHECK(rows.size() == 3 * 13);
  double best = 1e9, searched = 0;
  for (const JobResult& row : rows) {
    INFO(row.gpus, " ", row.notes.plan->fusion);
    REQUIRE(row.reason.empty());
    CHECK(*row.notes.plan->settled);
    CHECK(iteration_value(row, "above_bound") >= 0);
    CHECK(iteration_value(row, "scaling_efficiency") <= 1);
    CHECK(iteration_value(row, "throughput_per_s") == near(32 * row.gpus / iteration_value(row, "iteration_s")));
    if (row.gpus == 1)
      CHECK(iteration_value(row, "exposed_communication_s") == 0);  // exactly: rules of `compare` divide by it
    if (row.gpus != 64 || row.notes.stale) continue;
    if (row.notes.plan->fusion == "search") searched = iteration_value(row, "iteration_s");
    best = std::min(best, iteration_value(row, "iteration_s"));
  }
  CHECK(searched == best);
}

TEST_CASE("search starts from the policies of the study with the parameters given there") {
  const auto searched = [](const std::string& others) {
    return run_study(study("fusion: [" + others + "{policy: search, evaluations: 0}]", "{nic: 10Gbps, alpha: 2us}"))
        .jobs;
  };
  const std::vector<JobResult> alone = searched(""), with = searched("{policy: dear, mib: 8}, ");
  REQUIRE(alone.size() == 3);  // on 1, 4 and 64 workers
  REQUIRE(with.size() == 6);
  CHECK(iteration_value(with[4], "iteration_s") <
        iteration_value(alone[2], "iteration_s"));  // no policy with its usual parameters is as fast
  CHECK(iteration_value(with[5], "iteration_s") <= iteration_value(with[4], "iteration_s"));
}

TEST_CASE("the fast executor gives the same figures as the engine") {
  const std::string kGaining = "{nic: 10Gbps, alpha: 50us, contention_penalty: -0.5}";
  const std::vector<JobResult> engine = run_study(study("fusion: all, executor: engine", kGaining)).jobs;
  const std::vector<JobResult> fast = run_study(study("fusion: all, executor: fast", kGaining)).jobs;
  REQUIRE(engine.size() == fast.size());
  for (std::size_t i = 0; i < engine.size(); ++i)
    CHECK(iteration_value(engine[i], "iteration_s") == iteration_value(fast[i], "iteration_s"));
}

TEST_CASE("keys of a study are printed and read back, with their parameters; others are left out") {
  const Scenario scenario = study("fusion: [wfbp, {policy: threshold, mib: 8}, {policy: mg-wfbp, optimal: false}]");
  const std::string text = to_yaml(scenario);
  CHECK(text.find("{policy: threshold, mib: 8}") != std::string::npos);
  CHECK(text.find("workload") == std::string::npos);
  CHECK(to_yaml(parse_scenario(text, "again")) == text);
  const std::vector<JobResult> rows = run_study(scenario).jobs;
  CHECK(rows[1].notes.plan->fusion == "threshold mib=8");
}

TEST_CASE("layer times may be scaled to a measured iteration") {
  const TimedModel model = study_model(
      parse_scenario(
          "schema_version: 1\ntraining: {it: {model: resnet18, single_worker: 100ms}}\noverlap: {training: it}\n",
          "study")
          .overlap);
  CHECK((model.forward() + model.backward()).to_seconds() == near(0.1, 1e-6));
  CHECK(model.layers.front().origin.find("x ") != std::string::npos);
}

TEST_CASE("what has no effect is an error") {
  const std::string head = "schema_version: 1\n";
  CHECK(complaint(head + "overlap: {workers: [4]}\n") == "overlap.workers: needs `overlap.training`");
  CHECK(complaint(head + "training: {it: {model: vgg16}}\noverlap: {training: it}\ncluster: {servers: 3}\n") ==
        "cluster.servers: an iteration study has as many servers as its workers fill");
  CHECK(complaint(head + "training: {v: {model: vgg16, servers: 3}}\noverlap: {training: v}\n") ==
        "training.v.servers: there are no parameter servers");
  CHECK(complaint(head + "training: {it: {model: vgg16, select: x}}\noverlap: {training: it}\n") ==
        "training.it.select: has no effect without a file");
  CHECK(complaint(head + "training: {v: {model: vgg16, exchange: parameter-server}}\noverlap: {training: v}\n"
                         "network: {beta: 1ns/B, formula: measured}\n") ==
        "training.v.exchange: with network.formula: measured the costs are those of collectives, which parameter "
        "servers have none of");
  CHECK(complaint(head + "training: {it: {model: vgg16}}\noverlap: {training: it}\nnetwork: {formula: measured}\n") ==
        "network.formula: measured costs are those of a whole all-reduce, and network.nic is the rate of a link");
  CHECK(complaint("schema_version: 1\nnetwork: {beta: 1ns/B, formula: measured}\ntraining: {it: {model: "
                  "vgg16}}\noverlap: {training: it}\n")
            .empty());
  CHECK(complaint(head + "training: {it: {model: vgg61}}\noverlap: {training: it}\n").find("expected one of") !=
        std::string::npos);
  CHECK(complaint(head + "training: {it: {model: vgg16}}\noverlap: {training: it, fusion: [mg-wfpb]}\n")
            .find("expected one of") != std::string::npos);
  CHECK(complaint(head + "training: {it: {model: vgg16}}\noverlap: {training: it, workers: []}\n")
            .find("integers, got an empty one") != std::string::npos);
}

TEST_CASE("a study is of an entry: its policies unless it lists others, or all that there are") {
  const std::string head =
      "schema_version: 1\ntraining: {v: {model: resnet18, fusion: dear, compression: fp16}}\noverlap: {training: v";
  const auto names = [&](const std::string& more) {
    std::string text;
    const Scenario scenario = parse_scenario(head + more + "}\n", "study");
    for (const PolicyChoice& each : scenario.overlap.fusion) text += each.name + " ";
    for (const PolicyChoice& each : scenario.overlap.compression) text += each.name + " ";
    CHECK(to_yaml(parse_scenario(to_yaml(scenario), "again")) == to_yaml(scenario));
    return text;
  };
  CHECK(names("") == "dear fp16 ");
  CHECK(names(", fusion: auto, compression: [none]") == "dear none ");
  CHECK(names(", fusion: [bsp, ddp], compression: auto") == "bsp ddp fp16 ");
  const Scenario all = parse_scenario(head + ", fusion: all, compression: all}\n", "study");
  CHECK(all.overlap.fusion.size() == fusion_policies().size());
  CHECK(all.overlap.compression.size() == compression_policies().size());
  CHECK(complaint(head + ", fusion: any}\n").find("overlap.fusion: expected a list of policies, all or auto") == 0);
}

TEST_CASE("what only jobs of a cluster do is refused in the entry of a study, as is what no job can do") {
  const auto of_entry = [](const std::string& members) {
    return complaint("schema_version: 1\ntraining: {e: {" + members + "}}\noverlap: {training: e}\n");
  };
  CHECK(of_entry("model: llama-3-8b, device: H100-SXM, dtype: bf16, parallel: {tensor: 2}") ==
        "training.e.parallel: an iteration study is of workers that hold the whole model, each on one GPU");
  CHECK(of_entry("model: resnet18, backup_workers: 1") ==
        "training.e.backup_workers: has no effect in a study, whose workers are never late");
  CHECK(of_entry("model: published-vgg16, optimizer: adam") ==
        "training.e.optimizer: is in the measured times of published-vgg16 already");
  CHECK(of_entry("model: resnet18, global_batch: 256") ==
        "training.e.global_batch: a study has several numbers of workers, each with `batch` samples");
  CHECK(of_entry("model: resnet18, recompute: full")
            .starts_with("training.e.recompute: the layers of a table are single"));
  CHECK(of_entry("device: K80") == "training.e: says no network");
  CHECK(complaint("schema_version: 1\ntraining: {e: {model: resnet18}, f: {model: vgg16, dtype: fp8}}\n"
                  "overlap: {training: e}\n") ==
        "training.f.dtype: only matrix products of a transformer with `parallel` can be in fp8 or fp4");
}

TEST_CASE("contradictions within a study are found together, each at its place") {
  try {
    static_cast<void>(
        parse_scenario("schema_version: 1\n"
                       "network: {fidelity: contention, nic: 10Gbps, tick: 1ms}\n"
                       "training:\n"
                       "  vgg:\n"
                       "    model: vgg16\n"
                       "    select: other\n"
                       "    kernel_factor: 3\n"
                       "overlap: {training: vgg}\n",
                       "s.yaml"));
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    std::vector<std::string> places;
    for (const Complaint& each : error.complaints()) places.push_back(fmt::format("{}:{}", each.line, each.key));
    CHECK(places ==
          std::vector<std::string>{"2:network.tick", "6:training.vgg.select", "7:training.vgg.kernel_factor"});
  }
}

namespace {

/// What the first GPU of a run does.
class FirstGpu final : public Observer {
 public:
  void compute(GpuId gpu, JobId, const Op&, std::int64_t iteration, Time start, Time end) override {
    if (gpu != GpuId{0U}) return;
    CHECK(start >= last_end);
    last_end = end;
    computing += end - start;
    iterations = iteration + 1;
  }
  void transfer(const TransferRequest& request, const Op&, std::int64_t, Time, Time) override {
    servers = std::max(servers, request.servers.size());
  }

  Time last_end, computing;
  std::int64_t iterations = 0;
  std::size_t servers = 0;
};

}  // namespace

TEST_CASE("an observer of a study sees ten iterations of its job on the servers of a cluster") {
  const Scenario scenario = parse_scenario(
      "schema_version: 1\nnetwork: {nic: 10Gbps, inside: {bandwidth: 100Gbps}}\ncluster: {gpus_per_server: 2}\n"
      "training: {it: {model: resnet18}}\noverlap: {training: it, workers: [8], fusion: [dear]}\n",
      "study");
  FirstGpu seen;
  const RunResult observed = run_scenario(scenario, 1, {.observer = &seen, .monitor = {}});
  CHECK(observed.digest == run_scenario(scenario, 1).digest);
  CHECK(seen.iterations == kObservedIterations);
  CHECK(seen.servers == observed_gpus(scenario.cluster, scenario.network, scenario.overlap).size());
  CHECK(seen.servers == 4);
  const TimedModel model = study_model(scenario.overlap);
  CHECK(seen.computing == (model.forward() + model.backward()) * kObservedIterations);
}

TEST_CASE("a study at flow is a run on the topology: on one switch the iteration of the closed form") {
  const auto seconds = [](const std::string& network, const std::string& rest) {
    const Scenario scenario =
        parse_scenario("schema_version: 1\nnetwork: {nic: 10Gbps, " + network +
                           "}\ntraining: {it: {model: resnet18}}\noverlap: {training: it, " + rest + "}\n",
                       "study");
    std::vector<double> all;
    for (const JobResult& row : run_study(scenario).jobs) {
      REQUIRE(row.reason.empty());
      CHECK(*row.notes.plan->settled);
      all.push_back(iteration_value(row, "iteration_s"));
    }
    return all;
  };
  const std::string flow =
      "fidelity: flow, fabric: {kind: single-switch, link_latency: 0s}, "
      "server: {kind: plain, pcie_bandwidth: 1TB/s, pcie_latency: 0s}";
  const std::string rest = "workers: [4, 8], fusion: [bsp, wfbp, mg-wfbp, dear]";
  const std::vector<double> closed = seconds("fidelity: analytic", rest), flows = seconds(flow, rest);
  REQUIRE(flows.size() == 8);
  for (std::size_t i = 0; i < flows.size(); ++i) CHECK(flows[i] == near(closed[i], 1e-4));
  // Two leaves, one uplink of a quarter of what their servers may send.
  const std::string leaves =
      "fidelity: flow, fabric: {kind: leaf-spine, servers_per_leaf: 4, spines: 1, oversubscription: 4}";
  CHECK(seconds(leaves, "workers: [8], fusion: [bsp]").front() >= 0.999 * flows[4]);
}

TEST_CASE("a study has seeds, replicas and expectations as other runs have") {
  const Scenario scenario = parse_scenario(
      "schema_version: 1\nseed: 7\nrepeat: 2\nnetwork: {nic: 10Gbps}\n"
      "training: {it: {model: resnet18}}\noverlap: {training: it, workers: [8], fusion: [bsp]}\nexpect: {iteration: "
      "\"< 1h\", messages: 1, finished: "
      "1}\n",
      "study");
  const std::vector<std::vector<Replica>> results = run_batch(std::span{&scenario, 1}, {});
  REQUIRE(results.front().size() == 2);
  CHECK(results.front()[1].seed == 8);
  CHECK(results.front()[0].result.digest == results.front()[1].result.digest);
  const auto outcomes = judge_expectations(scenario.expect, results.front());
  REQUIRE(outcomes.size() == 3);
  CHECK(all_met(outcomes));
  CHECK(outcomes[0].value == near(iteration_value(results.front()[0].result.jobs.front(), "iteration_s")));
}

TEST_CASE("at flow the search plans for links that are shared, and is as fast as the other synchronous policies") {
  const Scenario study = parse_scenario(
      "schema_version: 1\nnetwork: {fidelity: flow, nic: 25Gbps, alpha: 100us, fabric: {kind: single-switch, "
      "link_latency: 0ns}}\n"
      "training: {it: {model: vgg16, device: V100-SXM2, batch: 32}}\n"
      "overlap: {training: it, workers: [8], fusion: [threshold, mg-wfbp, bytescheduler, search]}\n",
      "study");
  const std::vector<JobResult> rows = run_study(study).jobs;
  REQUIRE(rows.size() == 4);
  double best = iteration_value(rows.front(), "iteration_s");
  for (const JobResult& row : rows) best = std::min(best, iteration_value(row, "iteration_s"));
  CHECK(iteration_value(rows.back(), "iteration_s") <= 1.01 * best);
}
