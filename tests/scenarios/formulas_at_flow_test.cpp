// `network.formula` takes every algorithm of `contend list collectives`, and on a symmetric fabric without other
// traffic a collective takes as long at fidelity `analytic` as by the same algorithm at `flow`.

#include "network/collectives/algorithm.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/run/flow_fidelity.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/network_costs.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// Interfaces of 1 byte/ns, and inside a server 4 bytes/ns; every message takes 10 us to start. At `flow` that is the
/// overhead of a step, and links have no latency of their own.
std::string formula_at_analytic(std::string_view algorithm, int servers, int per_server) {
  return fmt::format(
      "network: {{fidelity: analytic, nic: 8Gbps, alpha: 10us, formula: {}{}}}\n"
      "cluster: {{servers: {}, gpus_per_server: {}}}\n",
      algorithm, per_server > 1 ? ", inside: {alpha: 10us, bandwidth: 4GB/s}" : "", servers, per_server);
}
std::string collectives_at_flow(std::string_view algorithm, int servers, int per_server) {
  return fmt::format(
      "network: {{fidelity: flow, nic: 8Gbps, collectives: {}, step_overhead: 10us, fabric: {{kind: single-switch, "
      "link_latency: 0s}}, server: {{kind: nvswitch, gpus_per_pcie_switch: 1, nvlinks_per_gpu: 1, nvlink_bandwidth: "
      "4GB/s, nvlink_latency: 0s, "
      "pcie_latency: "
      "0s}}}}\n"
      "cluster: {{servers: {}, gpus_per_server: {}}}\n",
      algorithm, servers, per_server);
}

double flow_s(std::string_view algorithm, CollectiveKind kind, int servers, int per_server, Bytes bytes) {
  const Scenario scenario = parsed(collectives_at_flow(algorithm, servers, per_server));
  const auto network = make_flow_network(scenario.cluster, scenario.network, scenario.failures, 1, 1);
  std::vector<GpuId> gpus;
  for (int gpu = 0; gpu < servers * per_server; ++gpu) gpus.emplace_back(static_cast<std::size_t>(gpu));
  TransferRequest request;
  request.job = JobId{0U};
  request.collective = kind;
  request.bytes = bytes;
  request.ranks = static_cast<int>(gpus.size());
  request.gpus = gpus;
  return network->solo_time(request).to_seconds();
}

double analytic_s(std::string_view algorithm, CollectiveKind kind, int servers, int per_server, Bytes bytes) {
  const Scenario scenario = parsed(formula_at_analytic(algorithm, servers, per_server));
  const JobShape shape{servers * per_server, servers, per_server};
  return CostTable{scenario.network}.of(shape).sized(bytes, kind).of(bytes).to_seconds();
}

}  // namespace

TEST_CASE("alone, every algorithm takes as long at `analytic` as at `flow`") {
  const Bytes bytes{4 * 9 * 25 * 4096};
  for (const auto& size : {std::pair{8, 1}, {6, 1}, {4, 4}, {1, 4}}) {
    const int servers = size.first, per_server = size.second;
    for (const CollectiveAlgorithm& each : collective_algorithms()) {
      for (const CollectiveKind kind : each.kinds) {
        if (kind == CollectiveKind::reduce || kind == CollectiveKind::broadcast) continue;  // trees at `analytic`
        CollectiveShape shape;
        shape.ranks = servers * per_server;
        if (servers > 1 && per_server > 1) shape.groups = {per_server, servers};
        if (!each.refusal(kind, shape).empty()) continue;  // `flow` then takes the fastest of several
        INFO(each.name, " ", name_of(kind), " on ", servers, " x ", per_server);
        const double closed = analytic_s(each.name, kind, servers, per_server, bytes);
        CHECK(flow_s(each.name, kind, servers, per_server, bytes) == near(closed, 2e-4));
      }
    }
  }
}

TEST_CASE("by hand: four servers, 1 byte/ns, 10 us a message, 4 MB") {
  const Bytes bytes{4'000'000};
  const auto us = [&](std::string_view algorithm, CollectiveKind kind = CollectiveKind::all_reduce) {
    return analytic_s(algorithm, kind, 4, 1, bytes) * 1e6;
  };
  CHECK(us("ring") == near(6 * 10 + 6000));
  CHECK(us("bidirectional-ring") == near(6 * 10 + 6000));
  CHECK(us("halving-doubling") == near(4 * 10 + 6000));
  CHECK(us("binomial-tree") == near(4 * 10 + 4 * 4000));
  CHECK(us("torus-2d") == near(2 * 10 + 4000 + 2 * 10 + 2000));  // two by two: 2 x 2 MB, then 2 x 1 MB
  CHECK(us("parameter-server") == near(2 * 10 + 6000));
  CHECK(us("bruck", CollectiveKind::all_gather) == near(2 * 10 + 3000));
  CHECK(us("pairwise", CollectiveKind::all_to_all) == near(3 * 10 + 3000));
  CHECK(us("swap", CollectiveKind::exchange) == near(10 + 4000));
  CHECK(us("hierarchical") == us("ring"));  // there is one level
}

TEST_CASE("every algorithm is a formula of runs and studies, also with several GPUs a server") {
  for (const CollectiveAlgorithm& each : collective_algorithms()) {
    for (const int per_server : {1, 4}) {
      const std::string network = formula_at_analytic(each.name, 4, per_server);
      INFO(network);
      const Scenario jobs = parsed(network + "training: {it: {model: resnet50, fusion: bsp}}\n");
      CHECK(cost_formula(jobs.network).algorithm == &each);
      CHECK(to_yaml(parse_scenario(to_yaml(jobs), "again")) == to_yaml(jobs));
      CHECK(lone_iteration(jobs, "it", 4 * per_server) > Time{});
      CHECK(errors_of(network.substr(0, network.find("cluster")) +
                      fmt::format("cluster: {{gpus_per_server: {}}}\ntraining: {{it: {{model: resnet50}}}}\n"
                                  "overlap: {{training: it, workers: [8]}}\n",
                                  per_server))
                .empty());
    }
  }
}

TEST_CASE("parameter servers beside jobs whose collectives go by another algorithm than a ring") {
  const std::string jobs =
      "training: {it: {model: resnet50, exchange: parameter-server, colocated: true, fusion: bsp}}\n";
  const auto seconds = [&](std::string_view algorithm) {
    return lone_iteration(parsed(formula_at_analytic(algorithm, 4, 1) + jobs), "it", 4).to_seconds();
  };
  CHECK(seconds("halving-doubling") == seconds("ring"));  // pushes and pulls know no algorithm
  CHECK(errors_of("network: {beta: 1ns/B, formula: measured}\n" + jobs).find("parameter servers have none of") !=
        std::string::npos);
}
