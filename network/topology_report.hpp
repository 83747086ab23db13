#pragma once
// What there is in a topology and what it can do, as numbers and as drawings.

#include "network/bisection.hpp"
#include "network/topology.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Where a link is.
enum class LinkPlace : std::uint8_t { inside_server, server_to_fabric, between_switches, between_servers };
[[nodiscard]] std::string_view name_of(LinkPlace place);

/// Links of one place and bandwidth. Two links in opposite directions between the same nodes are a cable.
struct CableCount {
  LinkPlace place = LinkPlace::inside_server;
  ByteRate bandwidth;  ///< per direction
  std::size_t cables = 0;
  std::size_t one_way = 0;  ///< links without a partner of the same bandwidth
};

/// Switches equally many links away from the nearest server; tier 1 has servers on it. Bandwidths of all its links that
/// go up to the next tier, in from the tier below (or the servers), and to other switches of the tier.
struct TierReport {
  std::size_t tier = 1;
  std::size_t switches = 0;
  ByteRate from_below;
  ByteRate upwards;
  ByteRate sideways;
  /// The largest ratio of bandwidth from below to bandwidth upwards of its switches, as wired; 0 if none leads up.
  double oversubscription = 0;
};

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

/// Takes a second or so for thousands of servers that are all placed differently.
[[nodiscard]] TopologyReport report_topology(const Topology& topology);

/// By node: its tier, 0 for what is inside a server and for switches without a server in reach.
[[nodiscard]] std::vector<std::size_t> tiers_of(const Topology& topology);

/// "50 GB/s", with as many digits as needed.
[[nodiscard]] std::string format_rate(ByteRate rate);

}  // namespace contend
