#include "scenarios/run/fabric_collective.hpp"

#include "network/topologies/machines.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/flow_fidelity.hpp"
#include "sim/error.hpp"
#include "sim/ports.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

namespace contend {

FabricCollective fabric_collective(const ClusterSetup& cluster, const NetworkSetup& setup, const FailureSetup& failures,
                                   std::uint64_t seed, std::optional<CollectiveKind> kind, Bytes bytes,
                                   const std::vector<int>& ranks_by_server) {
  const auto all_servers = static_cast<std::size_t>(cluster.servers);
  const int each = cluster.gpus_per_server;
  if (ranks_by_server.size() > all_servers)
    throw InputError{fmt::format("{} servers: the cluster has {}", ranks_by_server.size(), all_servers)};
  std::vector<ServerId> servers;
  std::vector<GpuId> gpus;
  for (std::size_t server = 0; server < ranks_by_server.size(); ++server) {
    const int ranks = ranks_by_server[server];
    if (ranks < 1 || ranks > each)
      throw InputError{fmt::format("{} ranks on a server: expected 1 to {}, its number of GPUs", ranks, each)};
    servers.emplace_back(server);
    for (int i = 0; i < ranks; ++i)
      gpus.emplace_back(server * static_cast<std::size_t>(each) + static_cast<std::size_t>(i));
  }
  if (gpus.size() < 2) throw InputError{"a collective needs two ranks or more"};
  auto topology = std::make_unique<const Topology>(build_topology(cluster, setup));
  auto router = build_router(setup, *topology, seed);
  std::vector<NodeId> nodes;
  for (const GpuId gpu : gpus) nodes.push_back(topology->gpus()[gpu.index()]);
  FabricCollective result;
  if (kind) result.algorithm = collective_scheduler(setup, *topology, *router)(*kind, bytes, nodes).algorithm;
  const std::unique_ptr<NetworkModel> network =
      make_flow_network(setup, failures, std::move(topology), std::move(router), seed, 1);
  TransferRequest request;
  request.job = JobId{0U};
  std::vector<GpuId> receivers = gpus;
  std::rotate(receivers.begin(), receivers.begin() + 1, receivers.end());
  if (kind) {
    request.collective = *kind;
  } else {
    request.kind = OpKind::message;
    request.peers = receivers;
  }
  request.bytes = bytes;
  request.ranks = static_cast<int>(gpus.size());
  if (servers.size() > 1) request.servers = servers;
  request.gpus = gpus;
  network->start(request, Time{});
  std::vector<TransferId> ended;
  while (ended.empty()) {
    const Time next = network->next_end();
    if (next == Time::never())
      throw InputError{fmt::format("the {} never end{}: there is no route between some of the GPUs",
                                   kind ? "collective" : "messages", kind ? "s" : "")};
    network->finish_due(next, ended);
    result.time = next;
  }
  return result;
}

NcclMachine nccl_machine_of(const ClusterSetup& cluster, const NetworkSetup& network, GpuGeneration gpu,
                            CpuVendor cpu) {
  constexpr double kGiga = 1e9, kNvlink = 25, kPcie3 = 15.75;
  constexpr std::size_t kCubeMeshLinks = 6;
  const ServerSpec server = topology_spec(network).server;
  const std::string_view kind = built_as(server.kind);
  if (kind == "mi250x")
    throw InputError{{.key = "network.server",
                      .reason = "NCCL does not run on MI250X, and how RCCL plans its channels is not known here",
                      .hint = "give --machine for another kind of server"}};
  const auto giga = [](ByteRate rate) { return rate.bytes_per_second() / kGiga; };
  NcclMachine machine;
  machine.name = "scenario";
  machine.gpu = gpu;
  machine.cpu = cpu;
  machine.gpus = cluster.gpus_per_server;
  machine.nvswitch = kind == "nvswitch";
  const bool cube = kind == "hybrid-cube-mesh";
  machine.link = machine.nvswitch || cube ? InsideLink::nvlink : InsideLink::pcie;
  const double slot = giga(server.pcie_bandwidth) * kPlannedPcie3 / kPcie3;
  if (machine.link == InsideLink::nvlink) {
    const double planned = gpu >= GpuGeneration::hopper ? kPlannedNvlinkHopper : kPlannedNvlinkAmpere;
    const auto links = static_cast<double>(cube ? kCubeMeshLinks : server.nvlinks_per_gpu);
    machine.gpu_rate = links * giga(server.nvlink_bandwidth) * planned / kNvlink;
  } else {
    machine.gpu_rate = slot;
  }
  const auto gpus = static_cast<std::size_t>(machine.gpus);
  const std::size_t switches = (gpus + server.gpus_per_pcie_switch - 1) / server.gpus_per_pcie_switch;
  const bool tree = kind != "plain";
  if (tree && std::min(server.sockets, switches) > 1)
    machine.socket_rate = cpu == CpuVendor::amd ? kPlannedSocketAmd : kPlannedSocketIntel;
  machine.nics = static_cast<int>(tree ? server.nics : 1);
  machine.nic_rate = giga(server.nic_bandwidth);
  machine.nic_slot = slot;
  machine.near_nics = tree && server.nics >= switches;
  return machine;
}

}  // namespace contend
