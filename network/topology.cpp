#include "network/topology.hpp"

#include "network/reachability.hpp"
#include "sim/check.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/core.h>

namespace contend {

NodeId Topology::add_node(std::string name, NodeKind kind, ServerId server) {
  nodes_.push_back({std::move(name), kind, server, kind != NodeKind::gpu});
  return NodeId{nodes_.size() - 1};
}

LinkId Topology::add_link(NodeId from, NodeId to, ByteRate bandwidth, Time latency) {
  CONTEND_CHECK(from.index() < nodes_.size() && to.index() < nodes_.size(), "a link joins nodes that were added");
  links_.push_back({from, to, bandwidth, latency});
  return LinkId{links_.size() - 1};
}

LinkId Topology::add_cable(NodeId a, NodeId b, ByteRate bandwidth, Time latency) {
  const LinkId link = add_link(a, b, bandwidth, latency);
  add_link(b, a, bandwidth, latency);
  return link;
}

void Topology::make_relay(NodeId gpu) {
  nodes_[gpu.index()].relays = true;
}

void Topology::set_tier(NodeId node, std::uint8_t tier) {
  nodes_[node.index()].tier = tier;
}

std::span<const NodeId> Topology::gpus_of(ServerId server) const {
  const std::size_t first = first_gpu_[server.index()];
  return std::span{gpus_}.subspan(first, first_gpu_[server.index() + 1] - first);
}

std::span<const LinkId> Topology::out(NodeId node) const {
  const std::size_t first = first_out_[node.index()];
  return std::span{out_}.subspan(first, first_out_[node.index() + 1] - first);
}

std::string Topology::link_name(LinkId link) const {
  const Link& named = links_[link.index()];
  std::size_t number = 1;
  for (const LinkId other : out(named.from)) {
    if (other == link) break;
    if (links_[other.index()].to == named.to) ++number;
  }
  std::string name = nodes_[named.from.index()].name + "->" + nodes_[named.to.index()].name;
  if (number > 1) name += fmt::format("#{}", number);
  return name;
}

NodeId Topology::find_node(std::string_view name) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) { return node.name == name; });
  return found == nodes_.end() ? NodeId::none() : NodeId{static_cast<std::size_t>(found - nodes_.begin())};
}

namespace {

void check_names(std::span<const Node> nodes, Complaints& complaints) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return nodes[a].name != nodes[b].name ? nodes[a].name < nodes[b].name : a < b;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string& name = nodes[order[i]].name;
    if (name.empty()) complaints.add(fmt::format("node {}", order[i]), "has no name");
    if (i > 0 && !name.empty() && name == nodes[order[i - 1]].name) complaints.add(name, "two nodes have this name");
  }
}

void check_places(std::span<const Node> nodes, Complaints& complaints) {
  std::vector<bool> has_gpu;
  std::uint32_t servers = 0;
  for (const Node& node : nodes) {
    if (node.server.valid()) servers = std::max(servers, node.server.value() + 1);
    if (node.kind == NodeKind::gpu && !node.server.valid()) complaints.add(node.name, "a GPU outside the servers");
    if (node.kind == NodeKind::fabric_switch && node.server.valid()) {
      complaints.add(node.name, "a switch of the fabric inside a server", "inside a server it must be a bridge");
    }
  }
  // A server number far beyond the number of nodes is an error, and no memory may be reserved for it.
  if (servers > nodes.size()) {
    return complaints.add(
        "servers", fmt::format("the largest number is {} but there are only {} nodes", servers - 1, nodes.size()));
  }
  has_gpu.resize(servers);
  for (const Node& node : nodes) {
    if (node.kind == NodeKind::gpu && node.server.valid()) has_gpu[node.server.index()] = true;
  }
  for (std::size_t server = 0; server < has_gpu.size(); ++server) {
    if (!has_gpu[server]) complaints.add(fmt::format("server {}", server), "has no GPU");
  }
  if (servers == 0) complaints.add("servers", "there is no GPU");
}

void check_links(std::span<const Node> nodes, std::span<const Link> links, Complaints& complaints) {
  for (const Link& link : links) {
    const auto name = [&] { return nodes[link.from.index()].name + "->" + nodes[link.to.index()].name; };
    const double bandwidth = link.bandwidth.bytes_per_second();
    if (!(bandwidth > 0) || !std::isfinite(bandwidth)) {
      complaints.add(name(), fmt::format("a bandwidth of {} bytes per second", bandwidth), "it must be > 0");
    }
    if (link.latency < Time{})
      complaints.add(name(), fmt::format("a latency of {} ns", link.latency.ns()), "it must be >= 0");
    if (link.from == link.to) complaints.add(name(), "a link from a node to itself");
  }
}

void check_paths(const Topology& topology, Complaints& complaints) {
  constexpr std::size_t kNamed = 5;
  const auto name = [&](NodeId node) { return topology.nodes()[node.index()].name; };
  for (const auto& [from, to] : gpus_without_path(topology, kNamed)) {
    complaints.add(name(from), "no path to " + name(to));
  }
}

}  // namespace

void Topology::index_gpus() {
  std::size_t servers = 0;
  gpus_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].kind != NodeKind::gpu) continue;
    gpus_.emplace_back(i);
    servers = std::max(servers, nodes_[i].server.index() + 1);
  }
  std::stable_sort(gpus_.begin(), gpus_.end(),
                   [&](NodeId a, NodeId b) { return nodes_[a.index()].server < nodes_[b.index()].server; });
  first_gpu_.assign(servers + 1, 0);
  for (const NodeId gpu : gpus_) ++first_gpu_[nodes_[gpu.index()].server.index() + 1];
  std::partial_sum(first_gpu_.begin(), first_gpu_.end(), first_gpu_.begin());
}

void Topology::index_links() {
  first_out_.assign(nodes_.size() + 1, 0);
  for (const Link& link : links_) ++first_out_[link.from.index() + 1];
  std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
  std::vector<std::size_t> next = first_out_;
  out_.resize(links_.size());
  for (std::size_t i = 0; i < links_.size(); ++i) out_[next[links_[i].from.index()]++] = LinkId{i};
}

void Topology::finish() {
  Complaints complaints;
  check_names(nodes_, complaints);
  check_places(nodes_, complaints);
  check_links(nodes_, links_, complaints);
  index_links();
  if (complaints.empty()) {
    index_gpus();
    check_paths(*this, complaints);
  }
  complaints.throw_if_any();
}

}  // namespace contend
