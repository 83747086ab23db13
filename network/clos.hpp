#pragma once
// Fabrics of two tiers as a policy sees them that gives jobs a part of their own: leaves, spines, and which jobs have
// which spines to themselves.

#include "network/topology.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace contend {

/// A leaf-spine fabric: the interfaces of each server are on one leaf, and each leaf is joined to each spine.
struct ClosFabric {
  std::vector<std::uint32_t> leaf;  ///< by server, from 0, in order of the leaves' first servers
  std::uint32_t leaves = 0;
  std::vector<NodeId> spines;  ///< in order of id, at least one
  double server_rate = 0;      ///< bytes a second that a server can send through its interfaces; the most of any
  double uplink_rate = 0;      ///< that a leaf can send to a spine; the least of any
};

/// The fabric of the topology; nothing if it is no such fabric.
[[nodiscard]] std::optional<ClosFabric> clos_of(const Topology& topology);

/// By label of a job, which is its number: the spines that it has to itself on the leaves where it has GPUs. A
/// placement policy gives them and a router that plans ahead keeps the job's flows on them; jobs that aren't there use
/// any.
struct ReservedSpines {
  std::map<std::uint64_t, std::vector<NodeId>> of_job;  ///< each in order of id
};

}  // namespace contend
