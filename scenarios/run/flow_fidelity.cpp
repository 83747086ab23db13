#include "scenarios/run/flow_fidelity.hpp"

#include "network/collectives/choice.hpp"
#include "network/collectives/rank_order.hpp"
#include "network/collectives/stripes.hpp"
#include "network/flow_network.hpp"
#include "scenarios/run/fabric.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace contend {

std::function<CollectiveSchedule(CollectiveKind, Bytes, std::vector<NodeId>&)> collective_scheduler(
    const Scenario& scenario, const Topology& topology, const Router& router) {
  const std::string& name = scenario.network.collectives;
  const Time step_overhead = scenario.network.step_overhead;
  return [name, step_overhead, &topology, &router](CollectiveKind kind, Bytes bytes, std::vector<NodeId>& gpus) {
    gpus = topological_order(gpus, topology);
    CollectiveShape shape;
    shape.ranks = static_cast<int>(gpus.size());
    shape.groups = level_sizes(gpus, topology);
    shape.stripes = ring_stripes(gpus, topology);
    const CollectiveCosts costs =
        probe_costs(gpus, shape.groups, topology, router, {step_overhead, step_overhead}, 0, shape.stripes);
    const bool fits = std::ranges::any_of(collective_algorithms(), [&](const CollectiveAlgorithm& algorithm) {
      return algorithm.name == name && supports(algorithm, kind) && algorithm.refusal(kind, shape).empty();
    });
    const IdleFabric fabric{gpus, topology, router, {.overhead = step_overhead}};
    const CollectivePlan plan =
        fits ? plan_collective(name, kind, shape, bytes, costs) : choose_on_fabric(kind, shape, bytes, costs, fabric);
    return expand_collective(*plan.algorithm, kind, plan.shape, bytes, StepForm::steady);
  };
}

std::unique_ptr<NetworkModel> make_flow_network(const Scenario& scenario, std::uint64_t seed, std::size_t jobs,
                                                NetworkRecords records, std::span<const JobExchange> exchanges) {
  auto topology = std::make_unique<const Topology>(build_topology(scenario));
  auto router = build_router(scenario, *topology, seed);
  return make_flow_network(scenario, std::move(topology), std::move(router), seed, jobs, std::move(records), exchanges);
}

std::unique_ptr<NetworkModel> make_flow_network(const Scenario& scenario, std::unique_ptr<const Topology> topology,
                                                std::unique_ptr<Router> router, std::uint64_t seed, std::size_t jobs,
                                                NetworkRecords records, std::span<const JobExchange> exchanges) {
  const Scenario::Network& network = scenario.network;
  FlowNetworkOptions options;
  options.alpha = network.alpha;
  options.step_overhead = network.step_overhead;
  options.efficiency = network.efficiency;
  options.nic_penalty = network.contention_penalty.value_or(0);
  options.link_interval = network.link_interval;
  options.events = link_changes(scenario, *topology);
  options.failing = failing_links(scenario, *topology);
  options.failing_seed = seed;
  options.watched = std::move(records.watched);
  options.uses = std::move(records.uses);
  for (const JobExchange& each : exchanges) {
    HostedServers& servers = options.served.emplace_back();
    if (!each.served) continue;
    servers.count = each.servers.value_or(kAsManyAsWorkers);
    servers.colocated = each.colocated;
    for (const int host : each.hosts) servers.on.emplace_back(static_cast<std::size_t>(host));
  }
  options.schedule = collective_scheduler(scenario, *topology, *router);
  return make_flow_network(std::move(topology), std::move(router), std::move(options), jobs);
}

}  // namespace contend
