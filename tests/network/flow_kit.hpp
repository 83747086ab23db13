#pragma once
// A fabric on which times are easy to work out, and ring collectives, for tests of fidelity `flow`.

#include "network/collectives/algorithm.hpp"
#include "network/flow_network.hpp"
#include "tests/network/topology_kit.hpp"

#include <vector>

namespace contend::test {

inline constexpr double kByteANanosecond = 1e9;

/// NICs and cables of one byte per nanosecond without latency; everything inside a server is a thousand times faster.
inline TopologySpec plain_fabric(TopologySpec made) {
  made.fabric.link_latency = Time{};
  made.server.pcie_latency = Time{};
  made.server.nic_bandwidth = ByteRate{kByteANanosecond};
  made.server.pcie_bandwidth = ByteRate{1000 * kByteANanosecond};
  if (made.server.kind != "plain") made.server.socket_bandwidth = ByteRate{1000 * kByteANanosecond};
  return made;
}

inline FlowNetworkOptions ring_options() {
  FlowNetworkOptions options;
  options.schedule = [](CollectiveKind kind, Bytes bytes, std::vector<NodeId>& gpus) {
    CollectiveShape shape;
    shape.ranks = static_cast<int>(gpus.size());
    return expand_collective(find_collective_algorithm("ring", kind), kind, shape, bytes, StepForm::steady);
  };
  return options;
}

}  // namespace contend::test
