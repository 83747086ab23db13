#pragma once
// ShortestPaths answers which links out of a node lie on a shortest path between two GPUs. Distances are counted in
// links and follow the forwarding rules of network/topology.hpp. Of equally short paths between two GPUs of one server
// only the widest count, and none that leaves the server: two GPUs below one PCIe switch are as near to each other by
// that switch as by NVSwitch. Of equally short paths between servers only those count that leave by an interface of the
// source and arrive at one of the destination (network/routing/near_interfaces.hpp); if there are none, those that
// leave so; if there are none either, those that arrive so.
//
// Where switches have tiers (Topology::set_tier), only paths count that don't go up to a higher tier after they have
// gone down: who follows a path says whether it has. A switch from which a path goes down all the way to a goal is as
// far from it as their tiers are apart, and no other path from there is as short: so one distance a switch also tells
// whether the way down is open.
//
// At a switch only the ports matter that lead to other switches or to the two servers of the pair, so that a route
// through a switch with 100,000 servers costs as much as one through a switch with two.
//
// It stores only two small tables: for every server the distances between its own nodes, and for every switch with
// servers that was requested the distance of all switches to it (two bytes each). Other distances are minima over the
// few places where the servers of a pair are attached to the fabric. A k=32 fat-tree with 8192 hosts needs 1.3 MB
// instead of the 2.5 GB of a table from every node to every GPU.

#include "network/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// The shortest paths between the two GPUs of the last aim().
class ShortestPaths {
 public:
  explicit ShortestPaths(const Topology& topology);

  /// Makes the other functions refer to paths between these two GPUs. False if there is no path.
  bool aim(NodeId from, NodeId to);
  /// Number of links on a shortest path of the pair, if there is one.
  [[nodiscard]] std::uint32_t hops() const { return distance(from_); }
  /// The switches that the GPU reaches and their distances, in both directions, as words to compare. GPUs of different
  /// servers with the same contact have the same distance to every other GPU.
  [[nodiscard]] std::vector<std::uint32_t> contact(NodeId gpu) const;
  /// The links out of `at` that continue a shortest path, in order of id and never empty. `at` must be a node on a
  /// shortest path other than its end, and `has_gone_down` says if goes_down() is true of a link before. Valid until
  /// the next call.
  std::span<const LinkId> next(NodeId at, bool has_gone_down);
  /// True if the link leads from a switch with a tier to a lower one or into a server.
  [[nodiscard]] bool goes_down(LinkId link) const;
  void set_link_up(LinkId link, bool up);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  /// The number of links that all calls of next() have examined, for tests of the effort.
  [[nodiscard]] std::uint64_t examined() const { return examined_; }

 private:
  using Hops = std::uint16_t;
  static constexpr std::uint32_t kFar = 0x7fff;  // no path, or a longer one; the sum of two still fits in 16 bits

  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The data of a node that the searches need.
  struct Place {
    std::uint32_t server;  // none: a switch
    std::uint32_t local;   // number in the server, or among the switches
    bool relays;
  };
  /// The data of a link out of a node that the searches need.
  struct Step {
    std::uint32_t to;
    std::uint32_t to_switch;  // its number among the switches, if it is one
    LinkId link;
  };
  /// A link between a server and the fabric or another server.
  struct Crossing {
    NodeId inside;
    NodeId outside;
    LinkId link;
  };
  /// A switch from which the server of the destination is entered.
  struct Goal {
    std::uint32_t at;    // among the switches
    std::uint32_t rest;  // from there to the destination
  };
  /// A node that leads out of the server of the source.
  struct Exit {
    NodeId node;
    std::uint32_t rest;  // from there to the destination
  };
  struct Goals {
    std::uint64_t version = 0;  // of the links when they were found; 0: never
    std::vector<Goal> goals;
    std::vector<Goal> own;  // through interfaces of the GPU
  };

  void sort_nodes();
  void sort_links();
  void sort_steps();
  void measure_server(std::size_t server);
  const Hops* field(std::uint32_t goal);
  [[nodiscard]] bool loses_paths(std::uint32_t goal, const Link& link) const;
  /// True if a path of this field may take the step between two switches: up, or down where it never has to go up
  /// again.
  [[nodiscard]] bool may_step(const Hops* field, std::uint32_t goal, std::uint32_t from, std::uint32_t to) const {
    return tiers_[from] <= tiers_[to] || field[to] + tiers_[goal] == tiers_[to];
  }
  const Goals& goals_of(NodeId gpu);
  void find_goals(NodeId gpu, bool only_own, std::vector<Goal>& goals);
  void take_aims(const std::vector<Goal>& goals);
  void find_exits(bool only_own);
  void prefer_own(const Goals& goals);
  [[nodiscard]] bool owns(NodeId gpu, NodeId interface) const;
  void find_widths();
  [[nodiscard]] double width_over(const Step& step) const;
  [[nodiscard]] bool is_wide(const Step& step) const;
  void add_if_next(const Step& step, std::uint32_t left, bool has_gone_down);
  void add_next_of_switch(NodeId at, std::uint32_t left, bool has_gone_down);

  [[nodiscard]] std::uint32_t inner_distance(NodeId from, NodeId to) const;  // same server
  [[nodiscard]] std::uint32_t fabric_distance(std::uint32_t at) const;
  [[nodiscard]] std::uint32_t descent(std::uint32_t at) const;
  [[nodiscard]] std::uint32_t distance(NodeId at, bool has_gone_down = false) const;
  [[nodiscard]] const Place& place(NodeId node) const { return places_[node.index()]; }
  [[nodiscard]] std::span<const Step> steps(NodeId node) const {
    return std::span{steps_}.subspan(first_step_[node.index()],
                                     first_step_[node.index() + 1] - first_step_[node.index()]);
  }

  const Topology& topology_;
  std::vector<std::uint8_t> up_;  // by link
  std::uint64_t version_ = 1;     // changes with every link that fails or comes back

  std::vector<Place> places_;  // by node
  // By node that they leave. Inside servers they are in order of link; the steps of a switch lead first to other
  // switches, in order of switch and link, then to servers, in order of server and link.
  std::vector<Step> steps_;
  std::vector<std::size_t> first_step_;     // by node
  std::vector<std::size_t> first_to_door_;  // by switch: the first of its steps that leads to a server
  std::size_t switches_ = 0;
  std::vector<std::uint8_t> tiers_;      // by switch
  std::vector<NodeId> server_nodes_;     // server by server
  std::vector<std::size_t> first_node_;  // by server
  std::vector<Hops> inner_;              // distances within the servers, square matrices one after the other
  std::vector<std::size_t> first_inner_;
  std::vector<Crossing> exits_;
  std::vector<std::size_t> first_exit_;
  std::vector<Crossing> entries_;
  std::vector<std::size_t> first_entry_;
  std::vector<std::uint32_t> before_;  // by link of into_: the switch that it leaves
  std::vector<LinkId> into_;           // links between switches, by the switch that they enter
  std::vector<std::size_t> first_into_;

  std::vector<std::vector<Hops>> fields_;  // by switch; empty: not requested yet
  std::vector<Goals> goals_;               // by node
  std::vector<std::vector<NodeId>> own_;   // NearInterfaces::own

  struct Aim {
    const Hops* field;
    std::uint32_t at;  // among the switches
    std::uint32_t rest;
  };
  NodeId from_;
  NodeId to_;
  std::vector<Aim> aims_;
  std::vector<Exit> ways_out_;
  bool enters_own_ = false;     // only by interfaces of the destination
  std::vector<double> widths_;  // bytes per second from each node of the server to the end; empty: all ways count
  std::vector<LinkId> next_;
  std::uint64_t examined_ = 0;
  std::vector<std::uint32_t> queue_;  // of the search over switches
};

}  // namespace contend
