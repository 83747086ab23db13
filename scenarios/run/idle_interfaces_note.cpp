#include "scenarios/run/idle_interfaces_note.hpp"

#include "network/collectives/collective_run.hpp"
#include "network/idle_interfaces.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/flow_fidelity.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// Such as "7 of 8 interfaces of server0, the first server0/nic1, carry nothing while others do, and so on 3 servers".
std::string describe(const Topology& topology, const std::vector<NodeId>& idle) {
  const ServerId server = topology.nodes()[idle.front().index()].server;
  const auto in_server = [&](NodeId node) { return topology.nodes()[node.index()].server == server; };
  const auto here = std::ranges::count_if(idle, in_server);
  const auto all = std::ranges::count_if(
      topology.nodes(), [&](const Node& node) { return node.kind == NodeKind::nic && node.server == server; });
  std::size_t servers = 0;
  for (std::size_t i = 0; i < idle.size(); ++i) {
    const bool is_first =
        i == 0 || topology.nodes()[idle[i].index()].server != topology.nodes()[idle[i - 1].index()].server;
    if (is_first) ++servers;
  }
  return fmt::format(
      "{} of {} interfaces of server{} ({} first) carry none of its bytes while others of the server do{}", here, all,
      server.value(), topology.nodes()[idle.front().index()].name,
      servers > 1 ? fmt::format(", and likewise on {} servers in all", servers) : "");
}

constexpr std::string_view kRemedy =
    "`network.collectives: auto`, `ring` or `hierarchical` would use the interfaces of all GPUs";

}  // namespace

std::string expected_idle_interfaces(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed) {
  if (!network.traits().has_topology || cluster.servers < 2) return {};
  const Topology topology = build_topology(cluster, network);
  const auto router = build_router(network, topology, seed);
  const auto first =
      topology.gpus().first(topology.gpus_of(ServerId{0U}).size() + topology.gpus_of(ServerId{1U}).size());
  std::vector<NodeId> gpus{first.begin(), first.end()};
  const CollectiveSchedule schedule =
      collective_scheduler(network, topology, *router)(CollectiveKind::all_reduce, Bytes::mebibytes(64), gpus);
  std::vector<LinkId> used;
  for (const CoupledFlow& flow : coupled_flows(schedule, gpus, topology, *router, {})) {
    for (const LinkShare& use : flow.links) used.push_back(use.link);
  }
  const std::vector<NodeId> idle = idle_interfaces(topology, used);
  if (idle.empty()) return {};
  return fmt::format("network.collectives: of an all-reduce by `{}` over two servers, {}. {}", network.collectives,
                     describe(topology, idle), kRemedy);
}

std::string seen_idle_interfaces(const ClusterSetup& cluster, const NetworkSetup& network, const RunResult& result) {
  if (!network.traits().has_topology || result.fabric.links.empty()) return {};
  const Topology topology = build_topology(cluster, network);
  std::map<JobId, std::vector<LinkId>> used;
  for (std::size_t link = 0; link < result.fabric.links.size(); ++link) {
    for (const FabricLinkResult::User& user : result.fabric.links[link].users) {
      if (user.bytes > 0) used[user.job].push_back(LinkId{link});
    }
  }
  std::size_t jobs = 0;
  std::string first;
  for (const auto& [job, links] : used) {
    const std::vector<NodeId> idle = idle_interfaces(topology, links);
    if (idle.empty()) continue;
    if (jobs++ == 0) first = fmt::format("of job {}, {}", result.jobs[job.index()].name, describe(topology, idle));
  }
  if (jobs == 0) return {};
  const std::string others = jobs == 1 ? "" : fmt::format("; {} jobs leave interfaces idle", jobs);
  return fmt::format("{}{}. {}", first, others, kRemedy);
}

}  // namespace contend
