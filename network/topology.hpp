#pragma once
// The fabric as a graph: devices, interfaces and switches joined by directed links with bandwidth and latency. Flat
// arrays; builders (network/topologies/) and the YAML of a scenario fill it, routing and fair sharing only read it.
//
// Who forwards: switches, and the bridges and NICs of the two servers of a flow. A server never carries traffic between
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

/// What a node is; only GPUs send and receive. `bridge` is a PCIe switch, root complex or NVSwitch inside a server.
enum class NodeKind : std::uint8_t { gpu, nic, bridge, fabric_switch };

struct Node {
  std::string name;  ///< unique, e.g. "server3/gpu1", "leaf0"
  NodeKind kind = NodeKind::fabric_switch;
  ServerId server;     ///< none for what stands outside the servers
  bool relays = true;  ///< passes on traffic of others; GPUs do not unless told to
};

/// One direction of a cable. Parallel cables are separate links.
struct Link {
  NodeId from;
  NodeId to;
  ByteRate bandwidth;  ///< > 0
  Time latency;        ///< >= 0
};

class Topology {
 public:
  NodeId add_node(std::string name, NodeKind kind, ServerId server = ServerId::none());
  /// One direction.
  LinkId add_link(NodeId from, NodeId to, ByteRate bandwidth, Time latency);
  /// Both directions of a full-duplex cable: the link from `a` to `b`, then the one back.
  LinkId add_cable(NodeId a, NodeId b, ByteRate bandwidth, Time latency);
  /// From now on the GPU passes on traffic of others.
  void make_relay(NodeId gpu);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  /// GPUs in order of GpuId: server by server, in order of creation within a server.
  [[nodiscard]] std::span<const NodeId> gpus() const { return gpus_; }
  /// One more than the largest server id.
  [[nodiscard]] std::size_t servers() const { return first_gpu_.empty() ? 0 : first_gpu_.size() - 1; }
  [[nodiscard]] std::span<const NodeId> gpus_of(ServerId server) const;
  /// Links that leave the node, in order of id. After `finish`.
  [[nodiscard]] std::span<const LinkId> out(NodeId node) const;
  /// "leaf0->spine1"; parallel links get "#2", "#3" ...  After `finish`.
  [[nodiscard]] std::string link_name(LinkId link) const;
  /// The node of that name, or none. Linear search.
  [[nodiscard]] NodeId find_node(std::string_view name) const;

  /// Checks the graph and builds the look-up tables; call it once when everything has been added. Throws InputError
  /// (all problems at once) for: no GPU, a duplicate node name, a bandwidth that is not > 0 and finite, a negative
  /// latency, a link from a node to itself, a GPU without a server, a server number without a GPU below the largest
  /// one, a switch inside a server, pairs of GPUs without a path (the first few are named).
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
