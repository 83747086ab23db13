#pragma once
// All shortest paths between GPUs, as a question: which links out of this node lie on one? Distances are counted in
// links and follow the rules of forwarding in network/topology.hpp.
//
// Only two small things are stored: for every server the distances between its own nodes, and, for every switch with
// servers on it that was asked for, the distance of all switches to it (two bytes each). All else is a minimum over the
// few places where the servers of a pair touch the fabric. A k=32 fat-tree with 8192 hosts needs 1.3 MB instead of the
// 2.5 GB of a table from every node to every GPU.

#include "network/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

class ShortestPaths {
 public:
  explicit ShortestPaths(const Topology& topology);

  /// From now on the questions are about paths between these two GPUs. False if there is none.
  bool aim(NodeId from, NodeId to);
  /// The links out of `at`, a node on a shortest path and not its end, that lead on along one; in order of id, none
  /// empty. Valid until the next call.
  std::span<const LinkId> next(NodeId at);
  void set_link_up(LinkId link, bool up);

  [[nodiscard]] const Topology& topology() const { return topology_; }

 private:
  using Hops = std::uint16_t;
  static constexpr std::uint32_t kFar = 0x7fff;  // two of them still fit in 16 bits; longer ways count as none

  /// A link between a server and the fabric or another server.
  struct Crossing {
    NodeId inside;
    NodeId outside;
    LinkId link;
  };
  struct Goal {
    const Hops* field;   // by switch: distance to the switch where the server of the destination is entered
    std::uint32_t rest;  // from there to the destination
  };
  struct Exit {
    NodeId node;
    std::uint32_t rest;  // from the node out of its server and on to the destination
  };

  void sort_nodes();
  void sort_links();
  void measure_server(std::size_t server);
  const Hops* field(NodeId attachment);
  [[nodiscard]] bool loses_paths(const std::vector<Hops>& field, const Link& link) const;
  void find_goals();
  void find_exits();

  [[nodiscard]] std::uint32_t inner_distance(NodeId from, NodeId to) const;  // same server
  [[nodiscard]] std::uint32_t fabric_distance(NodeId at) const;
  [[nodiscard]] std::uint32_t distance(NodeId at) const;
  [[nodiscard]] ServerId server(NodeId node) const { return topology_.nodes()[node.index()].server; }
  [[nodiscard]] bool relays(NodeId node) const { return topology_.nodes()[node.index()].relays; }

  const Topology& topology_;
  std::vector<std::uint8_t> up_;  // by link

  std::vector<std::uint32_t> local_;     // by node: its number in its server, or among the switches
  std::size_t switches_ = 0;             // nodes outside the servers
  std::vector<NodeId> server_nodes_;     // server by server
  std::vector<std::size_t> first_node_;  // by server
  std::vector<Hops> inner_;              // distances within the servers, square matrices one after the other
  std::vector<std::size_t> first_inner_;
  std::vector<Crossing> exits_;
  std::vector<std::size_t> first_exit_;
  std::vector<Crossing> entries_;
  std::vector<std::size_t> first_entry_;
  std::vector<LinkId> into_;  // links between switches, by the switch that they enter
  std::vector<std::size_t> first_into_;

  std::vector<std::vector<Hops>> fields_;  // by switch; empty: not asked for yet

  NodeId from_;
  NodeId to_;
  std::vector<Goal> goals_;
  std::vector<Exit> ways_out_;
  std::vector<LinkId> next_;
  std::vector<std::uint32_t> queue_;  // of the search over switches
};

}  // namespace contend
