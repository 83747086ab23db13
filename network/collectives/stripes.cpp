#include "network/collectives/stripes.hpp"

#include "network/routing/near_interfaces.hpp"

#include <algorithm>

namespace contend {

namespace {

/// Where a stripe enters a server.
struct Door {
  NodeId interface;
  std::size_t place = 0;  ///< of its GPU among the GPUs of the server
};

/// The GPUs of a server that follow each other in the order.
struct Block {
  std::size_t first = 0;
  std::size_t size = 0;
  std::vector<Door> doors;  ///< in order of interface
};

std::vector<Block> servers_in(std::span<const NodeId> order, const Topology& topology, const NearInterfaces& near) {
  std::vector<Block> blocks;
  const auto server_of = [&](std::size_t i) { return topology.nodes()[order[i].index()].server; };
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || server_of(i) != server_of(i - 1)) blocks.push_back({i, 0, {}});
    Block& block = blocks.back();
    for (const NodeId nic : near.own[order[i].index()]) {
      const bool known = std::ranges::any_of(block.doors, [&](const Door& door) { return door.interface == nic; });
      if (!known) block.doors.push_back({nic, block.size});
    }
    ++block.size;
  }
  for (Block& block : blocks) std::ranges::sort(block.doors, {}, &Door::interface);
  return blocks;
}

/// The servers of these GPUs, each once, in order of id.
std::vector<ServerId> servers_of(std::span<const NodeId> gpus, const Topology& topology) {
  std::vector<ServerId> servers;
  for (const NodeId gpu : gpus) servers.push_back(topology.nodes()[gpu.index()].server);
  std::sort(servers.begin(), servers.end());
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  return servers;
}

}  // namespace

std::vector<std::vector<int>> ring_stripes(std::span<const NodeId> order, const Topology& topology) {
  const std::vector<ServerId> servers = servers_of(order, topology);
  const NearInterfaces near = near_interfaces(topology, servers);
  const std::vector<Block> blocks = servers_in(order, topology, near);
  const bool is_split = blocks.size() > servers.size();  // a server appears in two blocks
  if (blocks.size() < 2 || is_split) return {};
  std::size_t most = 0;
  for (const Block& block : blocks) {
    if (block.doors.empty()) return {};
    most = std::max(most, block.doors.size());
  }
  if (most < 2) return {};
  std::vector<std::vector<int>> stripes(most);
  for (std::size_t c = 0; c < most; ++c) {
    for (const Block& block : blocks) {
      const Door& door = block.doors[c % block.doors.size()];
      const std::size_t entry = door.place;
      const auto is_near = [&](std::size_t place) {
        const auto& nearest = near.nearest[order[block.first + place % block.size].index()];
        return std::find(nearest.begin(), nearest.end(), door.interface) != nearest.end();
      };
      // Forwards it leaves at the GPU before its entry, backwards at the one after.
      const bool before = is_near(entry + block.size - 1);
      const bool after = is_near(entry + 1);
      const bool backwards = after && (!before || c % 2 == 0);
      for (std::size_t i = 0; i < block.size; ++i) {
        const std::size_t place = (entry + (backwards ? block.size - i : i)) % block.size;
        stripes[c].push_back(static_cast<int>(block.first + place));
      }
    }
  }
  return stripes;
}

}  // namespace contend
