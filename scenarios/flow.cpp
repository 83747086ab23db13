#include "scenarios/flow.hpp"

#include "network/collectives/choice.hpp"
#include "network/collectives/rank_order.hpp"
#include "network/flow_network.hpp"
#include "scenarios/network.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace contend {

namespace {

std::unique_ptr<Router> make_router(Routing routing, const Topology& topology, std::uint64_t seed) {
  switch (routing) {
    case Routing::shortest_path:
      return make_shortest_path_router(topology);
    case Routing::ecmp:
      return make_ecmp_router(topology, seed);
    case Routing::spraying:
      return make_spraying_router(topology);
  }
  check_failed(__FILE__, __LINE__, "a way of routing", "unknown");
}

/// The named algorithm for the kinds that it knows, the automatic choice for others, over ranks in an order that suits
/// the fabric.
auto schedule_by(const std::string& name, Time step_overhead, const Topology& topology, const Router& router) {
  return [name, step_overhead, &topology, &router](CollectiveKind kind, Bytes bytes, std::vector<NodeId>& gpus) {
    gpus = topological_order(gpus, topology);
    CollectiveShape shape;
    shape.ranks = static_cast<int>(gpus.size());
    shape.groups = level_sizes(gpus, topology);
    const CollectiveCosts costs = probe_costs(gpus, shape.groups, topology, router, {step_overhead, step_overhead});
    const bool has_kind = std::ranges::any_of(collective_algorithms(), [&](const CollectiveAlgorithm& algorithm) {
      return algorithm.name == name && supports(algorithm, kind);
    });
    const CollectivePlan plan = plan_collective(has_kind ? name : kAutoCollective, kind, shape, bytes, costs);
    return expand_collective(*plan.algorithm, kind, plan.shape, bytes, StepForm::steady);
  };
}

}  // namespace

std::unique_ptr<NetworkModel> make_flow_network(const Scenario& scenario, std::uint64_t seed, std::size_t jobs) {
  const Scenario::Network& network = scenario.network;
  auto topology = std::make_unique<const Topology>(build_topology(scenario));
  auto router = make_router(network.routing, *topology, seed);
  FlowNetworkOptions options;
  options.alpha = network.alpha;
  options.step_overhead = network.step_overhead;
  options.efficiency = network.efficiency;
  options.nic_penalty = network.contention_penalty;
  options.link_interval = network.link_interval;
  options.schedule = schedule_by(network.collectives, network.step_overhead, *topology, *router);
  return make_flow_network(std::move(topology), std::move(router), std::move(options), jobs);
}

}  // namespace contend
