#pragma once
// Reports the contents and the capacity of a topology in numbers: nodes, cables, tiers, diameter and bisection.

#include "network/bisection.hpp"
#include "network/topology.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The part of the network in which a link lies. Inside servers: links of GPUs to each other or to NVSwitches, between
/// sockets, and PCIe.
enum class LinkPlace : std::uint8_t {
  gpu_link,
  between_sockets,
  pcie,
  server_to_fabric,
  between_switches,
  between_servers
};
[[nodiscard]] std::string_view name_of(LinkPlace place);

/// The number of links of one place and bandwidth. Two links in opposite directions between the same nodes are a cable.
struct CableCount {
  LinkPlace place = LinkPlace::pcie;
  ByteRate bandwidth;  ///< per direction
  std::size_t cables = 0;
  std::size_t one_way = 0;  ///< links without a partner of the same bandwidth
};

/// The switches at one distance from the nearest server, counted in links, with the total bandwidths of their links.
struct TierReport {
  std::size_t tier = 1;  ///< the distance; tier 1 has servers attached
  std::size_t switches = 0;
  ByteRate from_below;  ///< in from the tier below, or from the servers
  ByteRate upwards;     ///< up to the next tier
  ByteRate sideways;    ///< to other switches of the tier
  /// The largest ratio of bandwidth from below to bandwidth upwards of its switches, as wired; 0 if none leads up.
  double oversubscription = 0;
};

/// The figures of a topology.
struct TopologyReport {
  std::size_t servers = 0;
  std::size_t gpus = 0;
  std::size_t nics = 0;
  std::size_t bridges = 0;
  std::size_t switches = 0;
  std::vector<CableCount> cables;  ///< by place, then by bandwidth
  std::uint32_t diameter = 0;      ///< links on the longest of all shortest paths between GPUs; 0 with one GPU
  Bisection bisection;
  std::vector<TierReport> tiers;
};

/// Computes the figures. It takes about a second for thousands of servers that are all connected differently.
[[nodiscard]] TopologyReport report_topology(const Topology& topology);

/// The tier of each node; 0 for nodes inside servers and for switches that no server reaches.
[[nodiscard]] std::vector<std::size_t> tiers_of(const Topology& topology);

/// The rate as a text such as "50 GB/s", with as many digits as needed.
[[nodiscard]] std::string format_rate(ByteRate rate);

}  // namespace contend
