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

Scenario study(const std::string& more = {}, const std::string& network = "{nic: 10Gbps, alpha: 50us}") {
  return parse_scenario("schema_version: 1\nnetwork: " + network + "\noverlap: {model: resnet18, workers: [1, 4, 64]" +
                            (more.empty() ? "" : ", " + more) + "}\n",
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
  const std::vector<JobResult> engine = run_study(study("executor: engine", kGaining)).jobs;
  const std::vector<JobResult> fast = run_study(study("executor: fast", kGaining)).jobs;
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
  const TimedModel model = study_model(study("single_worker: 100ms").overlap);
  CHECK((model.forward() + model.backward()).to_seconds() == near(0.1, 1e-6));
  CHECK(model.layers.front().origin.find("x ") != std::string::npos);
}

TEST_CASE("what has no effect is an error") {
  const std::string head = "schema_version: 1\n";
  CHECK(complaint(head + "overlap: {workers: [4]}\n") == "overlap.workers: needs `overlap.model or overlap.layers`");
  CHECK(complaint(head + "overlap: {model: vgg16}\ncluster: {servers: 3}\n") ==
        "cluster.servers: needs `a study of jobs (no overlap.model or overlap.layers)`");
  CHECK(complaint(head + "training: {v: {model: vgg16, servers: 3}}\noverlap: {training: v}\n") ==
        "training.v.servers: there are no parameter servers");
  CHECK(complaint(head + "overlap: {model: vgg16, select: x}\n") == "overlap.select: has no effect without a file");
  CHECK(complaint(head + "training: {v: {model: vgg16, exchange: parameter-server}}\noverlap: {training: v}\n"
                         "network: {beta: 1ns/B, formula: measured}\n") ==
        "training.v.exchange: with network.formula: measured the costs are those of collectives, which parameter "
        "servers have none of");
  CHECK(complaint(head + "overlap: {model: vgg16}\nnetwork: {formula: measured}\n") ==
        "network.formula: measured costs are those of a whole all-reduce, and network.nic is the rate of a link");
  CHECK(complaint("schema_version: 1\nnetwork: {beta: 1ns/B, formula: measured}\noverlap: {model: vgg16}\n").empty());
  CHECK(complaint(head + "overlap: {model: vgg61}\n").find("expected one of") != std::string::npos);
  CHECK(complaint(head + "overlap: {model: vgg16, fusion: [mg-wfpb]}\n").find("expected one of") != std::string::npos);
  CHECK(complaint(head + "overlap: {model: vgg16, workers: []}\n").find("integers, got an empty one") !=
        std::string::npos);
}

TEST_CASE("contradictions within a study are found together, each at its place") {
  try {
    static_cast<void>(
        parse_scenario("schema_version: 1\n"
                       "network: {fidelity: contention, nic: 10Gbps, tick: 1ms}\n"
                       "overlap:\n"
                       "  model: vgg16\n"
                       "  select: other\n"
                       "  kernel_factor: 3\n",
                       "s.yaml"));
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    std::vector<std::string> places;
    for (const Complaint& each : error.complaints()) places.push_back(fmt::format("{}:{}", each.line, each.key));
    CHECK(places == std::vector<std::string>{"2:network.tick", "5:overlap.select", "6:overlap.kernel_factor"});
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
      "overlap: {model: resnet18, workers: [8], fusion: [dear]}\n",
      "study");
  FirstGpu seen;
  const RunResult observed = run_scenario(scenario, 1, {.observer = &seen, .monitor = {}});
  CHECK(observed.digest == run_scenario(scenario, 1).digest);
  CHECK(seen.iterations == kObservedIterations);
  CHECK(seen.servers == observed_servers(scenario));
  CHECK(seen.servers == 4);
  const TimedModel model = study_model(scenario.overlap);
  CHECK(seen.computing == (model.forward() + model.backward()) * kObservedIterations);
}

TEST_CASE("a study at flow is a run on the topology: on one switch the iteration of the closed form") {
  const auto seconds = [](const std::string& network, const std::string& rest) {
    const Scenario scenario = parse_scenario(
        "schema_version: 1\nnetwork: {nic: 10Gbps, " + network + "}\noverlap: {model: resnet18, " + rest + "}\n",
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
      "overlap: {model: resnet18, workers: [8], fusion: [bsp]}\nexpect: {iteration: \"< 1h\", messages: 1, finished: "
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
