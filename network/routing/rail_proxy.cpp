#include "network/routing/rail_proxy.hpp"

#include "network/routing/merge_links.hpp"
#include "network/routing/near_interfaces.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace contend {

namespace {

class RailProxyRouter final : public Router {
 public:
  RailProxyRouter(const Topology& topology, std::unique_ptr<Router> router)
      : topology_{topology}, router_{std::move(router)}, switches_(topology.nodes().size()) {
    const NearInterfaces near = near_interfaces(topology);
    for (const NodeId gpu : topology.gpus()) {
      std::vector<NodeId>& list = switches_[gpu.index()];
      for (const NodeId nic : near.own[gpu.index()]) {
        for (const LinkId link : topology.out(nic)) {
          const NodeId to = topology.links()[link.index()].to;
          if (!topology.nodes()[to.index()].server.valid()) list.push_back(to);
        }
      }
      std::sort(list.begin(), list.end());
    }
  }

  void route(NodeId from, NodeId to, std::uint64_t label, Route& route) const override {
    if (find_proxy(from, to, label, route).valid()) return prepend(inner_, route);
    router_->route(from, to, label, route);
  }
  void route_together(std::span<const RoutedFlow> flows, std::vector<Route>& routes) const override {
    if (!plans_together()) return Router::route_together(flows, routes);
    std::vector<RoutedFlow> outside(flows.begin(), flows.end());
    std::vector<Route> inside(flows.size());
    Route single;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const NodeId proxy = find_proxy(flows[i].from, flows[i].to, flows[i].label, single);
      if (!proxy.valid()) continue;
      outside[i].from = proxy;
      inside[i] = inner_;
    }
    router_->route_together(outside, routes);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (!inside[i].links.empty() && !routes[i].links.empty()) prepend(inside[i], routes[i]);
    }
  }
  [[nodiscard]] bool plans_together() const override { return router_->plans_together(); }
  void set_link_up(LinkId link, bool up) override { router_->set_link_up(link, up); }

  [[nodiscard]] bool plans_ahead() const override { return router_->plans_ahead(); }
  void enter(const RoutedJob& job) override {
    RoutedJob outside = job;
    Route single;
    std::map<std::pair<NodeId, NodeId>, double> bytes;
    for (const RoutedFlow& flow : job.flows) {
      const NodeId proxy = find_proxy(flow.from, flow.to, flow.label, single);
      bytes[{proxy.valid() ? proxy : flow.from, flow.to}] += flow.bytes;
    }
    outside.flows.clear();
    for (const auto& [ends, sum] : bytes) outside.flows.push_back({ends.first, ends.second, job.label, sum});
    router_->enter(outside);
  }
  void leave(std::uint64_t label) override { router_->leave(label); }
  void plan() override { router_->plan(); }
  [[nodiscard]] int level(std::uint64_t label) const override { return router_->level(label); }
  [[nodiscard]] bool shifts_iterations() const override { return router_->shifts_iterations(); }
  void pace(std::uint64_t label, Time iteration, Time communication) override {
    router_->pace(label, iteration, communication);
  }
  [[nodiscard]] std::optional<Beat> beat(std::uint64_t label) const override { return router_->beat(label); }
  [[nodiscard]] std::uint64_t age(std::uint64_t label) const override { return router_->age(label); }

 private:
  [[nodiscard]] ServerId server_of(NodeId node) const { return topology_.nodes()[node.index()].server; }

  [[nodiscard]] bool share_switch(NodeId a, NodeId b) const {
    const auto& ours = switches_[a.index()];
    const auto& theirs = switches_[b.index()];
    return std::ranges::any_of(ours,
                               [&](NodeId each) { return std::binary_search(theirs.begin(), theirs.end(), each); });
  }

  /// The GPU of the source's server in the rail of the destination; none if there is none.
  [[nodiscard]] NodeId proxy_of(NodeId from, NodeId to) const {
    const auto ours = topology_.gpus_of(server_of(from));
    const auto theirs = topology_.gpus_of(server_of(to));
    const auto place = static_cast<std::size_t>(std::find(theirs.begin(), theirs.end(), to) - theirs.begin());
    if (place < ours.size() && share_switch(ours[place], to)) return ours[place];
    const auto found = std::ranges::find_if(ours, [&](NodeId gpu) { return share_switch(gpu, to); });
    return found == ours.end() ? NodeId::none() : *found;
  }

  /// Bandwidth of the narrowest of the links inside the server.
  [[nodiscard]] double width_inside(const Route& route, ServerId server) const {
    double least = std::numeric_limits<double>::infinity();
    for (const LinkShare& use : route.links) {
      const Link& link = topology_.links()[use.link.index()];
      if (server_of(link.from) == server && server_of(link.to) == server)
        least = std::min(least, link.bandwidth.bytes_per_second());
    }
    return least;
  }

  /// The proxy whose rail the flow takes, or none. Leaves the way to it in inner_ and that from it in `route`.
  NodeId find_proxy(NodeId from, NodeId to, std::uint64_t label, Route& route) const {
    if (server_of(from) == server_of(to) || share_switch(from, to)) return NodeId::none();
    const NodeId proxy = proxy_of(from, to);
    if (!proxy.valid()) return NodeId::none();
    router_->route(from, proxy, label, inner_);
    router_->route(proxy, to, label, route);
    const ServerId server = server_of(from);
    if (inner_.links.empty() || route.links.empty()) return NodeId::none();
    return width_inside(inner_, server) > width_inside(route, server) ? proxy : NodeId::none();
  }

  /// Puts the way to the proxy in front. A link of both ways is crossed twice.
  static void prepend(const Route& inner, Route& route) {
    route.latency += inner.latency;
    route.links.insert(route.links.end(), inner.links.begin(), inner.links.end());
    merge_links(route.links);
  }

  const Topology& topology_;
  std::unique_ptr<Router> router_;
  std::vector<std::vector<NodeId>> switches_;  // by GPU: the switches of its interfaces
  mutable Route inner_;                        // scratch
};

}  // namespace

std::unique_ptr<Router> make_rail_proxy_router(const Topology& topology, std::unique_ptr<Router> router) {
  CONTEND_CHECK(router != nullptr, "flows without a proxy need a router");
  return std::make_unique<RailProxyRouter>(topology, std::move(router));
}

}  // namespace contend
