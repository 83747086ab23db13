#pragma once
// A Topology is the network as a graph: GPUs, NICs, bridges and switches joined by directed links with bandwidth and
// latency, in flat arrays. Builders (network/topologies/) and the YAML of a scenario fill it; routing and fair sharing
// only read it.
//
// Switches forward, and so do the bridges and NICs of the two servers of a flow. A server never carries traffic between
// other servers, and a GPU forwards only if it is a relay: NCCL sends between GPUs without a common NVLink over PCIe
// unless its "NVB" path through a neighbour is on, and CUDA refuses peer access to them.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

using NodeId = Id<struct NodeTag>;  ///< index into Topology::nodes()
using LinkId = Id<struct LinkTag>;  ///< index into Topology::links(); one direction

/// The kind of a node; only GPUs send and receive. `bridge` is a PCIe switch, root complex or NVSwitch inside a server.
enum class NodeKind : std::uint8_t { gpu, nic, bridge, fabric_switch };

/// A device of the network.
struct Node {
  std::string name;  ///< unique, e.g. "server3/gpu1", "leaf0"
  NodeKind kind = NodeKind::fabric_switch;
  ServerId server;        ///< none() outside the servers
  bool relays = true;     ///< true if it forwards traffic of other nodes; for a GPU only after make_relay()
  std::uint8_t tier = 0;  ///< of a switch of a fabric with tiers: 1 for a leaf, and so on upwards; 0: it has none
};

/// One direction of a cable. Parallel cables are separate links.
struct Link {
  NodeId from;
  NodeId to;
  ByteRate bandwidth;  ///< > 0
  Time latency;        ///< >= 0
};

/// A network: filled by the add functions, then checked and indexed once by `finish`.
class Topology {
 public:
  NodeId add_node(std::string name, NodeKind kind, ServerId server = ServerId::none());
  /// Adds a link in one direction.
  LinkId add_link(NodeId from, NodeId to, ByteRate bandwidth, Time latency);
  /// Adds both directions of a full-duplex cable: the link from `a` to `b`, whose id it returns, then the one back.
  LinkId add_cable(NodeId a, NodeId b, ByteRate bandwidth, Time latency);
  /// Makes the GPU forward traffic of other nodes.
  void make_relay(NodeId gpu);
  /// Puts a switch on a tier >= 1. A fabric has tiers if all its switches have one and every link between switches
  /// joins two tiers that follow each other; its routes go up and then down (network/routing.hpp).
  void set_tier(NodeId node, std::uint8_t tier);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  /// GPUs in order of GpuId: server by server, in order of creation within a server.
  [[nodiscard]] std::span<const NodeId> gpus() const { return gpus_; }
  /// One more than the largest server id.
  [[nodiscard]] std::size_t servers() const { return first_gpu_.empty() ? 0 : first_gpu_.size() - 1; }
  [[nodiscard]] std::span<const NodeId> gpus_of(ServerId server) const;
  /// Links that leave the node, in order of id. Valid after `finish`.
  [[nodiscard]] std::span<const LinkId> out(NodeId node) const;
  /// The name of a link, such as "leaf0->spine1"; parallel links get "#2", "#3" ...  Valid after `finish`.
  [[nodiscard]] std::string link_name(LinkId link) const;
  /// The node of that name, or none(). Takes a linear search.
  [[nodiscard]] NodeId find_node(std::string_view name) const;

  /// Checks the graph and builds the look-up tables; to be called once when everything has been added. Throws
  /// InputError with all problems at once: no GPU, a duplicate node name, a bandwidth that is not > 0 and finite, a
  /// negative latency, a link from a node to itself, a GPU without a server, a server without a GPU, a switch inside a
  /// server, and pairs of GPUs without a path (the first few are named).
  void finish();

 private:
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::vector<NodeId> gpus_;
  std::vector<std::size_t> first_gpu_;  ///< by server, and one past the last
  std::vector<LinkId> out_;
  std::vector<std::size_t> first_out_;

  void index_gpus();
  void index_links();
};

}  // namespace contend
