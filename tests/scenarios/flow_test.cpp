// The contention study on a topology: what a scenario says reaches the network, and the results do not depend on how
// they are computed.
#include "scenarios/run/run_scenario.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

namespace contend {
namespace {

Scenario flow_study(const std::string& network, const std::string& engine = "engine: {leap: true}\n",
                    const std::string& sizes = "{1: 6, 4: 6, 8: 6}") {
  return parsed(
      "cluster: {servers: 8, gpus_per_server: 4}\n"
      "policies: {placement: first-fit}\n"
      "workload: {generate: {sizes: " +
      sizes + ", iterations: [5, 20], arrivals: 5s}}\n" + engine + "network: {fidelity: flow, nic: 10Gbps, " + network +
      "}\n");
}

const char* const kLeafSpine = "fabric: {kind: leaf-spine, servers_per_leaf: 2, spines: 2, oversubscription: 2}";

double average_jct(const RunResult& run) {
  return summarise(run).avg_jct_s;
}

}  // namespace

TEST_CASE("leaping over jobs that do not communicate changes nothing at fidelity flow") {
  const RunResult fast = run_scenario(flow_study(kLeafSpine), 1);
  const RunResult slow = run_scenario(flow_study(kLeafSpine, "engine: {leap: false}\n"), 1);
  CHECK(fast.digest == slow.digest);
  CHECK(fast.leapt_events > 0);
  CHECK(fast.events + fast.leapt_events == slow.events);
  CHECK(summarise(fast).finished == 18);
}

TEST_CASE("a ring over leaves runs at the speed of one link to a spine, or of all of them") {
  // 16 GPUs on four servers, two a leaf. The ring crosses between leaves once each way. A leaf has 20 Gbit/s of
  // servers, half of it upwards over two spines: 5 Gbit/s a link. Hashed onto one of them the ring takes twice as long
  // as at the 10 Gbit/s of the interfaces; sprayed over both it does not.
  const auto communication = [](const std::string& network) {
    const Scenario scenario = flow_study(network + ", link_interval: 0s", "", "{16: 1}");
    return run_scenario(scenario, 1).jobs[0].communication.to_seconds();
  };
  const double wide = communication("fabric: {kind: single-switch}");
  CHECK(communication(kLeafSpine) == near(2 * wide, 2e-4));
  CHECK(communication(std::string{kLeafSpine} + ", routing: spraying") == near(wide, 2e-4));
}

TEST_CASE("start-up, the overhead of steps and inefficient links cost time") {
  const double plain = average_jct(run_scenario(flow_study("fabric: {kind: single-switch}"), 1));
  for (const char* const costly : {"alpha: 10ms", "step_overhead: 1ms", "efficiency: [0.5]"}) {
    CHECK_MESSAGE(
        average_jct(run_scenario(flow_study(std::string{"fabric: {kind: single-switch}, "} + costly), 1)) > plain,
        costly);
  }
}

TEST_CASE("every algorithm that takes any number of ranks runs, and auto is as fast as the ring") {
  const double ring = average_jct(run_scenario(flow_study("fabric: {kind: single-switch}, collectives: ring"), 1));
  const double chosen = average_jct(run_scenario(flow_study("fabric: {kind: single-switch}, collectives: auto"), 1));
  CHECK(chosen <= ring * 1.001);
  const RunResult tree = run_scenario(flow_study("fabric: {kind: single-switch}, collectives: binomial-tree"), 1);
  CHECK(summarise(tree).finished == 18);
  CHECK(average_jct(tree) > ring);  // log n times the whole tensor
}

TEST_CASE("links of a run carry what its jobs send") {
  const RunResult run = run_scenario(flow_study(kLeafSpine), 1);
  double up = 0;
  for (const FabricLinkResult& link : run.fabric.links) {
    double users = 0;
    for (const auto& user : link.users) users += user.bytes;
    CHECK(users == near(link.bytes));
    CHECK(link.utilisation <= 1 + 1e-9);
    if (link.name.starts_with("leaf0->spine")) up += link.bytes;
  }
  CHECK(up > 0);
}

TEST_CASE("vclos: jobs on leaves and spines of their own take as long as alone, and hashed ones longer") {
  // Four leaves of two servers with a GPU. Two jobs of three GPUs leave a server on each second leaf, where a third is.
  const auto run = [](const std::string& placement, const std::string& routing) {
    const Scenario scenario = parsed(
        "cluster: {servers: 8, gpus_per_server: 1}\nworkload: {generate: {sizes: {2: 1, 3: 2}, models: [vgg16], "
        "iterations: [20, 20], arrivals: 1ms}}\npolicies: {placement: " +
        placement + "}\nnetwork: {fidelity: flow, nic: 10Gbps, alpha: 0s, link_interval: 0s, routing: " + routing +
        ", fabric: {kind: leaf-spine, servers_per_leaf: 2, spines: 2}}\n");
    return run_scenario(scenario, 1);
  };
  const RunResult isolated = run("vclos", "planned");
  for (const JobResult& job : isolated.jobs) {
    CHECK(job.contended == Time{});
    CHECK(job.state == JobState::finished);
  }
  const RunResult spread = run("spread", "shortest-path");
  CHECK(std::ranges::any_of(spread.jobs, [](const JobResult& job) { return job.contended > Time{}; }));
  CHECK_THROWS_WITH_AS(run("vclos", "ecmp"), doctest::Contains("network.routing: planned"), InputError);
}

}  // namespace contend
