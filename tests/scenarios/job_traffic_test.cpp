// What a job sends in a second, worked out by hand.

#include "scenarios/run/job_traffic.hpp"

#include "sim/graph.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

std::vector<double> rates(const std::string& network, int gpus_per_server, int ranks = 4) {
  const Scenario scenario =
      parsed(fmt::format("cluster: {{servers: 8, gpus_per_server: {}}}\nnetwork: {}\n", gpus_per_server, network));
  Workload workload;
  // A second of work, and with four ranks 2 x 3/4 x 1 GB out of each of four servers.
  workload.graphs.push_back(graph_from_text(
      fmt::format("role w {} | compute f w 1000000000 | all-reduce g w 1000000000 | f -> g | g => f", ranks)));
  workload.graphs.push_back(graph_from_text("role w 4 | compute f w 1000000000"));
  for (const std::size_t graph : {0U, 1U, 0U}) {
    JobSpec job;
    job.gpus = ranks;
    job.graph = graph;
    workload.jobs.push_back(job);
  }
  workload.jobs[2].duration = Time::seconds(1);
  return sent_per_second(scenario.cluster, scenario.network, workload);
}

}  // namespace

TEST_CASE("a job sends the bytes of an iteration in the time of its work and its bytes") {
  // 1.5 GB at 1 GB/s take 1.5 s, after a second of work.
  for (const char* network : {"{beta: 1ns/B}", "{fidelity: flow, nic: 8Gbps, fabric: {kind: single-switch}}"}) {
    CAPTURE(network);
    const std::vector<double> sent = rates(network, 1);
    CHECK(sent[0] == near(1.5e9 / 2.5));
    CHECK(sent[1] == 0);  // it sends nothing
    CHECK(sent[2] == 0);  // nobody knows how much it sends
    // One server could hold it; on two, each sends 2 x 3/4 x 1 GB as well.
    CHECK(rates(network, 4)[0] == near(1.5e9 / 2.5));
  }
  // Two GPUs on a server send 2 x 3/4 x 1 GB over its two interfaces.
  CHECK(rates("{fidelity: flow, nic: 8Gbps, fabric: {kind: single-switch}, server: {kind: nvswitch, nics: 2}}", 2)[0] ==
        near(1.5e9 / 1.75));
  // Three ranks don't fit a server of two: 2 x 2/3 x 1 GB leave each; nor do seven fit one of four: 2 x 6/7 x 1 GB.
  CHECK(rates("{beta: 1ns/B}", 2, 3)[0] == near(4e9 / 3 / (1 + 4.0 / 3)));
  CHECK(rates("{beta: 1ns/B}", 4, 7)[0] == near(12e9 / 7 / (1 + 12.0 / 7)));
}
