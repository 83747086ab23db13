#include "network/request_route.hpp"

#include "network/collectives/scope_groups.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

/// Forwards to another router and records the first pair without a route.
class WatchedRouter final : public Router {
 public:
  explicit WatchedRouter(const Router& router) : router_{router} {}
  void route(NodeId from, NodeId to, std::uint64_t label, Route& route) const override {
    router_.route(from, to, label, route);
    if (route.links.empty() && !cut_) cut_.emplace(from, to);
  }
  void route_together(std::span<const RoutedFlow> flows, std::vector<Route>& routes) const override {
    router_.route_together(flows, routes);
    for (std::size_t i = 0; i < flows.size() && !cut_; ++i)
      if (routes[i].links.empty()) cut_.emplace(flows[i].from, flows[i].to);
  }
  [[nodiscard]] bool plans_together() const override { return router_.plans_together(); }
  void set_link_up(LinkId, bool) override {}
  [[nodiscard]] const std::optional<std::pair<NodeId, NodeId>>& cut() const { return cut_; }

 private:
  const Router& router_;
  mutable std::optional<std::pair<NodeId, NodeId>> cut_;
};

}  // namespace

bool RequestRoute::serves(const TransferRequest& request) const {
  return bytes == request.bytes && times == request.times && kind == request.kind && collective == request.collective &&
         scope == request.scope && groups == request.groups && std::ranges::equal(gpus, request.gpus) &&
         std::ranges::equal(peers, request.peers);
}

TransferRequest RequestRoute::request() const {
  TransferRequest request;
  request.job = job;
  request.kind = kind;
  request.collective = collective;
  request.scope = scope;
  request.groups = groups;
  request.bytes = bytes;
  request.times = times;
  request.gpus = gpus;
  request.peers = peers;
  return request;
}

RouteFinder::RouteFinder(const Topology& topology, const Router& router, const FlowNetworkOptions& options)
    : topology_{topology},
      router_{router},
      options_{options},
      hosts_{options.served.empty() ? std::vector<NodeId>{} : host_nodes(topology)} {}

std::vector<ServedExchange> RouteFinder::parts_of(const TransferRequest& request) const {
  const bool is_sum = request.collective == CollectiveKind::reduce || request.collective == CollectiveKind::broadcast;
  const bool may_be_served = request.kind == OpKind::collective && request.scope == CollectiveScope::all && is_sum;
  const HostedServers* const servers =
      may_be_served && !options_.served.empty() ? &options_.served[request.job.index()] : nullptr;
  std::vector<ServedExchange> parts;
  if (request.bytes <= Bytes{}) return parts;
  for (std::vector<NodeId>& group : groups_of(request)) {
    if (servers != nullptr && servers->count != 0) {
      parts.push_back(served_exchange(request.collective, request.bytes, *servers, group, topology_, hosts_));
      continue;
    }
    CollectiveSchedule schedule = request.kind == OpKind::message
                                      ? point_to_point(request.bytes)
                                      : options_.schedule(request.collective, request.bytes, group);
    parts.push_back({std::move(group), std::move(schedule)});
  }
  return parts;
}

RequestRoute RouteFinder::find(const TransferRequest& request,
                               const std::function<double(const CoupledFlow&)>& solo_rate) const {
  RequestRoute route;
  route.job = request.job;
  route.kind = request.kind;
  route.collective = request.collective;
  route.scope = request.scope;
  route.groups = request.groups;
  route.bytes = request.bytes;
  route.times = request.times;
  route.gpus.assign(request.gpus.begin(), request.gpus.end());
  route.peers.assign(request.peers.begin(), request.peers.end());
  route.start_up = route.solo = options_.alpha * route.times;
  CollectiveOptions collective;
  collective.label = route.job.value();
  collective.overhead = options_.step_overhead;
  collective.in_flight = options_.in_flight;
  const WatchedRouter router{router_};
  std::vector<std::vector<CoupledFlow>> flows;
  for (const ServedExchange& part : parts_of(request)) {
    if (part.schedule.expected) route.start_up = route.solo = Time{};
    flows.push_back(coupled_flows(part.schedule, part.nodes, topology_, router, collective));
  }
  for (CoupledFlow& flow : run_at_once(std::move(flows))) {
    RequestRoute::Step step;
    step.flow = std::move(flow);
    step.flow.bytes *= route.times;
    step.flow.fixed = step.flow.fixed * route.times;
    step.before = route.total;
    step.solo_rate = solo_rate(step.flow);
    route.total += step.flow.bytes;
    if (step.solo_rate > 0) route.solo += Time::ceil_nanoseconds(step.flow.bytes / step.solo_rate);
    route.solo += step.flow.fixed;
    route.steps.push_back(std::move(step));
  }
  route.cut = router.cut();
  return route;
}

/// The GPUs of each collective of the request, or the sender and the receiver of each message.
std::vector<std::vector<NodeId>> RouteFinder::groups_of(const TransferRequest& request) const {
  const auto node_of = [&](GpuId gpu) { return topology_.gpus()[gpu.index()]; };
  std::vector<NodeId> nodes;
  for (const GpuId gpu : request.gpus) nodes.push_back(node_of(gpu));
  if (request.peers.empty()) return scope_groups(request.scope, request.groups, nodes, topology_);
  std::vector<std::vector<NodeId>> pairs;
  for (std::size_t i = 0; i < nodes.size(); ++i) pairs.push_back({nodes[i], node_of(request.peers[i])});
  return pairs;
}

}  // namespace contend
