#pragma once
// Finds interfaces that a job leaves idle although other interfaces of the same server are busy with its bytes.

#include "network/topology.hpp"

#include <span>
#include <vector>

namespace contend {

/// The interfaces without a byte of the job, in order of id, on servers that it leaves or enters by others. Only those
/// count that belong to a GPU that sends or receives bytes of the job (network/routing/near_interfaces.hpp), and those
/// that belong to no GPU. `used` are the links that carry bytes of the job.
[[nodiscard]] std::vector<NodeId> idle_interfaces(const Topology& topology, std::span<const LinkId> used);

}  // namespace contend
