#include "scenarios/run/flow_fidelity.hpp"

#include "network/collectives/choice.hpp"
#include "network/collectives/rank_order.hpp"
#include "network/collectives/stripes.hpp"
#include "network/flow_network.hpp"
#include "network/library/nccl_tree.hpp"
#include "scenarios/run/fabric.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {
namespace {

/// The server of each GPU, numbered as they come.
std::vector<int> servers_of(std::span<const NodeId> gpus, const Topology& topology) {
  std::map<ServerId, int> numbers;
  std::vector<int> servers;
  for (const NodeId gpu : gpus) {
    const ServerId server = topology.nodes()[gpu.index()].server;
    servers.push_back(numbers.try_emplace(server, static_cast<int>(numbers.size())).first->second);
  }
  return servers;
}

/// What NCCL chooses for ranks on these servers.
NcclTime chosen_by(const NcclLibrary& library, CollectiveKind kind, Bytes bytes, std::span<const int> servers) {
  std::vector<int> ranks(static_cast<std::size_t>(*std::ranges::max_element(servers)) + 1);
  for (const int server : servers) ++ranks[static_cast<std::size_t>(server)];
  return library.model(ranks).choice(kind, bytes);
}

/// CollectiveOptions::in_flight: as given, else what NCCL has for an interface; 0 without both.
double bytes_in_flight(const NetworkSetup& network) {
  if (network.in_flight) return network.in_flight->to_double();
  return cost_formula(network).basis == CostBasis::library ? nccl_library(network).in_flight() : 0;
}

bool is_tree(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::tree || algorithm == NcclAlgorithm::nvls_tree;
}

/// The collective that sends as many bytes as this one does if switches add: the tensor goes to them and comes back
/// once, which is half of what a ring sends.
CollectiveKind sent_as(CollectiveKind kind, NcclAlgorithm algorithm) {
  const bool adds = algorithm == NcclAlgorithm::collnet_direct || algorithm == NcclAlgorithm::collnet_chain ||
                    algorithm == NcclAlgorithm::nvls;
  return adds && kind == CollectiveKind::all_reduce ? CollectiveKind::reduce_scatter : kind;
}

}  // namespace

std::function<CollectiveSchedule(CollectiveKind, Bytes, std::vector<NodeId>&)> collective_scheduler(
    const NetworkSetup& network, const Topology& topology, const Router& router) {
  const std::string& name = network.collectives;
  const Time step_overhead = network.step_overhead;
  const CollectiveOptions options{.overhead = step_overhead, .in_flight = bytes_in_flight(network)};
  const TransferScales scales = network.scales;
  std::optional<NcclLibrary> library;
  if (cost_formula(network).basis == CostBasis::library) library = nccl_library(network);
  return [=, &topology, &router](CollectiveKind kind, Bytes bytes, std::vector<NodeId>& gpus) {
    gpus = topological_order(gpus, topology);
    CollectiveShape shape;
    shape.ranks = static_cast<int>(gpus.size());
    shape.groups = level_sizes(gpus, topology);
    shape.stripes = ring_stripes(gpus, topology);
    const CollectiveCosts costs =
        probe_costs(gpus, shape.groups, topology, router, {step_overhead, step_overhead}, shape.stripes, options);
    const IdleFabric fabric{gpus, topology, router, options};
    const auto expand = [&](std::string_view algorithm, CollectiveKind sent) {
      const bool fits = std::ranges::any_of(collective_algorithms(), [&](const CollectiveAlgorithm& each) {
        return each.name == algorithm && supports(each, sent) && each.refusal(sent, shape).empty();
      });
      const CollectivePlan plan = fits ? plan_collective(algorithm, sent, shape, bytes, costs)
                                       : choose_on_fabric(sent, shape, bytes, costs, fabric);
      return expand_collective(*plan.algorithm, sent, plan.shape, bytes, StepForm::steady);
    };
    if (!library || !nccl_has(kind)) return expand(name, kind);
    const std::vector<int> servers = servers_of(gpus, topology);
    const NcclTime choice = chosen_by(*library, kind, bytes, servers);
    const CollectiveKind sent = sent_as(kind, choice.algorithm);
    CollectiveSchedule schedule = is_tree(choice.algorithm) ? nccl_tree(servers, shape.stripes, bytes,
                                                                        choice.algorithm == NcclAlgorithm::nvls_tree)
                                                            : expand(auto_candidates(sent).front(), sent);
    schedule.algorithm = to_string(choice.algorithm);
    const double scale = *std::ranges::max_element(servers) > 0 ? scales.between : scales.inside;
    schedule.expected = LibraryTime{Time::ceil_nanoseconds(scale * choice.start_up * 1e9),
                                    scale * static_cast<double>(bytes.count()) / choice.bandwidth};
    return schedule;
  };
}

std::unique_ptr<NetworkModel> make_flow_network(const ClusterSetup& cluster, const NetworkSetup& network,
                                                const FailureSetup& failures, std::uint64_t seed, std::size_t jobs,
                                                NetworkRecords records, std::span<const JobExchange> exchanges) {
  auto topology = std::make_unique<const Topology>(build_topology(cluster, network));
  auto router = build_router(network, *topology, seed, records.reserved);
  return make_flow_network(network, failures, std::move(topology), std::move(router), seed, jobs, std::move(records),
                           exchanges);
}

std::unique_ptr<NetworkModel> make_flow_network(const NetworkSetup& network, const FailureSetup& failures,
                                                std::unique_ptr<const Topology> topology,
                                                std::unique_ptr<Router> router, std::uint64_t seed, std::size_t jobs,
                                                NetworkRecords records, std::span<const JobExchange> exchanges) {
  FlowNetworkOptions options;
  options.alpha = scaled(network.alpha, network.scales.between);
  options.step_overhead = scaled(network.step_overhead, network.scales.between);
  options.in_flight = bytes_in_flight(network);
  options.efficiency = network.efficiency;
  options.inside = 1 / network.scales.inside;
  options.between = 1 / network.scales.between;
  options.nic_penalty = network.contention_penalty.value_or(0);
  options.link_interval = network.link_interval;
  options.events = link_changes(network, *topology);
  options.failing = failing_links(failures, *topology);
  options.failing_seed = seed;
  options.watched = std::move(records.watched);
  options.uses = std::move(records.uses);
  options.stalls = std::move(records.stalls);
  options.job_name = std::move(records.job_name);
  for (const JobExchange& each : exchanges) {
    HostedServers& servers = options.served.emplace_back();
    if (!each.served) continue;
    servers.count = each.servers.value_or(kAsManyAsWorkers);
    servers.colocated = each.colocated;
    for (const int host : each.hosts) servers.on.emplace_back(static_cast<std::size_t>(host));
  }
  options.schedule = collective_scheduler(network, *topology, *router);
  return make_flow_network(std::move(topology), std::move(router), std::move(options), jobs);
}

}  // namespace contend
