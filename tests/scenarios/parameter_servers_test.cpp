// Parameter servers of jobs and studies, on servers of several GPUs, at every fidelity.

#include "results/iteration_figures.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_run.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr const char* kClosed = "fidelity: contention, nic: 10Gbps";
/// One switch without latency, and links inside servers that are never in the way.
constexpr const char* kFlow =
    "fidelity: flow, nic: 10Gbps, fabric: {kind: single-switch, link_latency: 0s}, "
    "server: {kind: plain, pcie_bandwidth: 1TB/s, pcie_latency: 0s}";

std::string served_entry(const std::string& servers, const std::string& fusion = "bsp") {
  return "training: {it: {model: resnet18, batch: 8, fusion: " + fusion + ", exchange: parameter-server" + servers +
         "}}\n";
}

Scenario served_cluster(const std::string& network, const std::string& training, int servers = 8, int per_server = 2) {
  return parsed(
      fmt::format("cluster: {{servers: {}, gpus_per_server: {}}}\nnetwork: {{{}}}\n"
                  "policies: {{placement: consolidated}}\n{}",
                  servers, per_server, network, training));
}

/// The time that an iteration takes beyond computing, in bytes of the gradient through an interface.
double gradients_sent(const Scenario& scenario, int gpus) {
  constexpr double kGradient_s = 11'689'512 * 4 * 0.8e-9;
  const double alone = lone_iteration(scenario, "it", 1).to_seconds();
  return (lone_iteration(scenario, "it", gpus).to_seconds() - alone) / kGradient_s;
}

/// When a job of 8 GPUs alone ends.
double end_s(const Scenario& scenario, std::int64_t iterations) {
  JobRequest job;
  job.name = "job";
  job.model = "it";
  job.gpus = 8;
  job.iterations = iterations;
  return run_workload(scenario, workload_of(scenario, scenario.workload, {job}), 1).end.to_seconds();
}

}  // namespace

TEST_CASE("parameter servers: the busiest interface decides, in a closed form and as flows") {
  struct Row {
    const char* servers;
    int gpus;
    double gradients;  // push and pull
  };
  // Two workers on each server. Elsewhere: max(g, n/s) each way; colocated: max(g (1 - floor(s/w)/s),
  // ceil(s/w)(n-g)/s).
  for (const Row& row :
       {Row{", servers: 2", 4, 2 * 2.0}, Row{", servers: 1", 4, 2 * 4.0}, Row{"", 4, 2 * 2.0},
        Row{", servers: 1", 2, 2 * 2.0}, Row{", servers: 3", 8, 2 * 8 / 3.0},
        Row{", servers: 2, colocated: true", 4, 2 * 1.0}, Row{", servers: 1, colocated: true", 4, 2 * 2.0},
        Row{", servers: 4, colocated: true", 8, 2 * 1.5}, Row{", servers: 2, colocated: true", 2, 0.0}}) {
    INFO(std::string{row.servers}, " on ", row.gpus, " GPUs");
    for (const char* network : {kClosed, kFlow})
      CHECK(gradients_sent(served_cluster(network, served_entry(row.servers)), row.gpus) ==
            near_absolute(row.gradients, 4e-3));
  }
}

TEST_CASE("parameter servers: a study of an iteration is the run of the job, at every fidelity") {
  for (const char* network : {"fidelity: analytic, nic: 10Gbps, alpha: 30us, inside: {bandwidth: 100Gbps}",
                              "fidelity: contention, nic: 10Gbps, alpha: 30us, inside: {bandwidth: 100Gbps}", kFlow}) {
    for (const char* servers : {", servers: 3", ", colocated: true"}) {
      const bool elsewhere = std::string{servers} == ", servers: 3";
      for (const char* fusion : {"bsp", "wfbp", "last-batch"}) {
        INFO(std::string{network}, servers, " ", fusion);
        const std::string training = served_entry(servers, fusion);
        const Scenario study =
            parsed(fmt::format("cluster: {{gpus_per_server: 2}}\nnetwork: {{{}}}\n{}"
                               "overlap: {{training: it, workers: [8], fusion: [{}]}}\n",
                               network, training, fusion));
        const JobResult row = run_study(study).jobs.front();
        REQUIRE(row.reason.empty());
        const Scenario run = served_cluster(network, training, elsewhere ? 4 + 3 : 4);
        CHECK(iteration_value(row, "iteration_s") == near((end_s(run, 60) - end_s(run, 20)) / 40, 1e-5));
        // Two workers push from each server; on the servers of the job 3/4 of that leaves, and comes back.
        CHECK(row.traffic->interface_bytes == near((elsewhere ? 2 : 3) * row.traffic->sent_bytes));
      }
    }
  }
}

TEST_CASE("parameter servers: jobs whose servers run on one host share its links, at flow") {
  const auto end = [](const std::string& hosts, int jobs) {
    const Scenario scenario = served_cluster(kFlow, served_entry(", servers: 1, hosts: " + hosts));
    std::vector<JobRequest> requests;
    for (int i = 0; i < jobs; ++i) {
      JobRequest job;
      job.name = fmt::format("job{}", i);
      job.model = "it";
      job.gpus = 2;
      job.iterations = 3;
      job.place = {{static_cast<std::uint32_t>(i), 0, 1}};
      requests.push_back(job);
    }
    return run_workload(scenario, workload_of(scenario, scenario.workload, requests), 1).end.to_seconds();
  };
  const double alone = end("[7]", 1);
  CHECK(end("[7]", 2) > 1.2 * alone);
  CHECK(end("[6]", 1) == near(alone, 1e-6));
}

TEST_CASE("parameter servers: a job on one server sends through its interface, beside others, and leaps") {
  const Scenario scenario = served_cluster(kClosed, served_entry(", servers: 1") +
                                                        "workload: {generate: {models: [it], sizes: {2: 6, 4: 3}, "
                                                        "iterations: [40, 90], arrivals: 10s}}\n");
  Scenario all_events = scenario;
  all_events.engine.leap = false;
  const RunResult run = run_scenario(scenario, 1), slow = run_scenario(all_events, 1);
  CHECK(run.digest == slow.digest);
  for (const JobResult& job : run.jobs) CHECK(job.communication > Time{});
  bool any = false;
  for (const LinkResult& link : run.links) any = any || link.bytes > Bytes{};
  CHECK(any);
}
