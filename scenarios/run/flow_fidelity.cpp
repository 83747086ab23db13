#include "scenarios/run/flow_fidelity.hpp"

#include "network/collectives/choice.hpp"
#include "network/collectives/rank_order.hpp"
#include "network/flow_network.hpp"
#include "scenarios/run/fabric.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// Schedules the collectives and numbers of ranks that the named algorithm supports by it and others by the automatic
/// choice, over ranks in an order that suits the fabric.
auto schedule_by(const std::string& name, Time step_overhead, const Topology& topology, const Router& router) {
  return [name, step_overhead, &topology, &router](CollectiveKind kind, Bytes bytes, std::vector<NodeId>& gpus) {
    gpus = topological_order(gpus, topology);
    CollectiveShape shape;
    shape.ranks = static_cast<int>(gpus.size());
    shape.groups = level_sizes(gpus, topology);
    const CollectiveCosts costs = probe_costs(gpus, shape.groups, topology, router, {step_overhead, step_overhead});
    const bool fits = std::ranges::any_of(collective_algorithms(), [&](const CollectiveAlgorithm& algorithm) {
      return algorithm.name == name && supports(algorithm, kind) && algorithm.refusal(kind, shape).empty();
    });
    const CollectivePlan plan = plan_collective(fits ? name : kAutoCollective, kind, shape, bytes, costs);
    return expand_collective(*plan.algorithm, kind, plan.shape, bytes, StepForm::steady);
  };
}

}  // namespace

std::unique_ptr<NetworkModel> make_flow_network(const Scenario& scenario, std::uint64_t seed, std::size_t jobs) {
  const Scenario::Network& network = scenario.network;
  auto topology = std::make_unique<const Topology>(build_topology(scenario));
  auto router = build_router(scenario, *topology, seed);
  FlowNetworkOptions options;
  options.alpha = network.alpha;
  options.step_overhead = network.step_overhead;
  options.efficiency = network.efficiency;
  options.nic_penalty = network.contention_penalty;
  options.link_interval = network.link_interval;
  options.events = link_changes(scenario, *topology);
  options.schedule = schedule_by(network.collectives, network.step_overhead, *topology, *router);
  return make_flow_network(std::move(topology), std::move(router), std::move(options), jobs);
}

}  // namespace contend
