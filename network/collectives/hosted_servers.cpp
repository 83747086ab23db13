#include "network/collectives/hosted_servers.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace contend {
namespace {

/// The servers on which they run, in the order in which they are dealt out.
std::vector<ServerId> places_of(const HostedServers& servers, std::span<const NodeId> workers,
                                const Topology& topology) {
  if (!servers.on.empty()) return servers.on;
  std::vector<ServerId> own;
  for (const NodeId worker : workers) {
    const ServerId server = topology.nodes()[worker.index()].server;
    if (std::find(own.begin(), own.end(), server) == own.end()) own.push_back(server);
  }
  if (servers.colocated) return own;
  std::vector<bool> is_own(topology.servers(), false);
  for (const ServerId server : own) is_own[server.index()] = true;
  std::vector<ServerId> others;
  const std::size_t last = std::max_element(own.begin(), own.end())->index();
  for (std::size_t i = 1; i <= topology.servers(); ++i) {
    const std::size_t server = (last + i) % topology.servers();
    if (!is_own[server]) others.emplace_back(server);
  }
  return others.empty() ? own : others;
}

}  // namespace

std::vector<NodeId> host_nodes(const Topology& topology) {
  const auto rank = [](NodeKind kind) { return kind == NodeKind::bridge ? 0 : kind == NodeKind::nic ? 1 : 2; };
  std::vector<NodeId> hosts(topology.servers(), NodeId::none());
  for (std::size_t i = 0; i < topology.nodes().size(); ++i) {
    const Node& node = topology.nodes()[i];
    if (!node.server.valid()) continue;
    NodeId& host = hosts[node.server.index()];
    if (!host.valid() || rank(node.kind) < rank(topology.nodes()[host.index()].kind)) host = NodeId{i};
  }
  return hosts;
}

ServedExchange served_exchange(CollectiveKind kind, Bytes bytes, const HostedServers& servers,
                               std::span<const NodeId> workers, const Topology& topology,
                               std::span<const NodeId> hosts) {
  CONTEND_CHECK(servers.count != 0 && !workers.empty(), "a job with parameter servers has workers");
  const int count = servers.count == kAsManyAsWorkers ? static_cast<int>(workers.size()) : servers.count;
  const std::vector<ServerId> places = places_of(servers, workers, topology);
  ServedExchange exchange;
  exchange.nodes.assign(workers.begin(), workers.end());
  const std::size_t used = std::min(places.size(), static_cast<std::size_t>(count));
  std::vector<std::int64_t> share(used, 0);  // bytes of each worker for the parameter servers of a host
  for (int i = 0; i < count; ++i)
    share[static_cast<std::size_t>(i) % used] += part_of({0, bytes.count()}, count, i).bytes;
  for (std::size_t place = 0; place < used; ++place) {
    const NodeId host = hosts[places[place].index()];
    const int there = static_cast<int>(exchange.nodes.size());
    exchange.nodes.push_back(host);
    for (std::size_t worker = 0; worker < workers.size(); ++worker) {
      if (workers[worker] == host) continue;  // of a server that is nothing but GPUs
      const bool push = kind == CollectiveKind::reduce;
      const int here = static_cast<int>(worker);
      exchange.schedule.send(0, push ? here : there, push ? there : here, {0, share[place]}, push);
    }
  }
  exchange.schedule.ranks = static_cast<int>(exchange.nodes.size());
  return exchange;
}

}  // namespace contend
