#include "scenarios/run/fabric_flows.hpp"

#include "scenarios/run/fabric.hpp"
#include "scenarios/run/flow_fidelity.hpp"
#include "sim/ports.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace contend {
namespace {

std::vector<std::size_t> in_order_of_start(std::span<const ListedFlow> flows) {
  std::vector<std::size_t> order(flows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return flows[a].start < flows[b].start; });
  return order;
}

/// Routes flows by their numbers in the list: each has a label among the flows of its pair, and a router that plans
/// flows together gets those that start at one instant together, and again when a link fails or comes back.
class ListRouter final : public Router {
 public:
  ListRouter(std::unique_ptr<Router> router, const Topology& topology, std::span<const ListedFlow> flows,
             std::span<const std::size_t> order)
      : router_{std::move(router)}, flows_(flows.size()), place_(flows.size()) {
    std::map<std::pair<GpuId, GpuId>, std::uint64_t> labels;
    Time start;
    for (const std::size_t f : order) {
      const ListedFlow& flow = flows[f];
      flows_[f] = {topology.gpus()[flow.source.index()], topology.gpus()[flow.destination.index()],
                   labels[{flow.source, flow.destination}]++, flow.bytes.to_double()};
      if (groups_.empty() || flow.start != start) groups_.emplace_back();
      start = flow.start;
      place_[f] = {groups_.size() - 1, groups_.back().flows.size()};
      groups_.back().flows.push_back(flows_[f]);
    }
  }

  void route(NodeId from, NodeId to, std::uint64_t flow, Route& route) const override {
    if (!router_->plans_together()) return router_->route(from, to, flows_[flow].label, route);
    const auto [number, index] = place_[flow];
    const Group& group = groups_[number];
    if (group.routes.empty()) router_->route_together(group.flows, group.routes);
    route = group.routes[index];
    // The network asks once for each flow and state of the fabric.
    if (++group.asked == group.flows.size()) group.forget();
  }
  void set_link_up(LinkId link, bool up) override {
    router_->set_link_up(link, up);
    for (const Group& group : groups_) group.forget();
  }

 private:
  /// The flows that start at one instant.
  struct Group {
    std::vector<RoutedFlow> flows;
    mutable std::vector<Route> routes;  // a cache; empty: not planned
    mutable std::size_t asked = 0;      // how often since it was planned
    void forget() const {
      std::vector<Route>{}.swap(routes);
      asked = 0;
    }
  };
  std::unique_ptr<Router> router_;
  std::vector<RoutedFlow> flows_;
  std::vector<std::pair<std::size_t, std::size_t>> place_;  // by flow: group, and place in it
  std::vector<Group> groups_;
};

/// The message of a flow. It names no servers: nobody asks for their accounts.
TransferRequest message_of(const ListedFlow& flow, std::size_t number, std::array<GpuId, 2>& ends) {
  ends = {flow.source, flow.destination};
  TransferRequest request;
  request.job = JobId{number};
  request.kind = OpKind::message;
  request.bytes = flow.bytes;
  request.ranks = 2;
  request.gpus = ends;
  return request;
}

}  // namespace

std::vector<FlowOutcome> run_flows(const ClusterSetup& cluster, const NetworkSetup& setup, const FailureSetup& failures,
                                   std::uint64_t seed, std::span<const ListedFlow> flows) {
  const std::vector<std::size_t> order = in_order_of_start(flows);
  auto topology = std::make_unique<const Topology>(build_topology(cluster, setup));
  auto router = std::make_unique<ListRouter>(build_router(setup, *topology, seed), *topology, flows, order);
  NetworkSetup unsampled = setup;
  unsampled.link_interval = Time{};
  const std::unique_ptr<NetworkModel> network =
      make_flow_network(unsampled, failures, std::move(topology), std::move(router), seed, flows.size());
  std::vector<FlowOutcome> outcomes(flows.size());
  std::array<GpuId, 2> ends;
  // Before anything starts, no event has changed the network.
  for (const std::size_t f : order) outcomes[f].ideal = network->solo_time(message_of(flows[f], f, ends));
  std::vector<std::size_t> flow_of;  // by transfer
  std::vector<TransferId> ended;
  std::size_t next = 0, active = 0;
  while (next < order.size() || active > 0) {
    const Time end = network->next_end();
    const Time start = next < order.size() ? flows[order[next]].start : Time::never();
    const Time now = std::min(end, start);
    if (now == Time::never()) break;
    if (end <= now) {
      ended.clear();
      network->finish_due(now, ended);
      for (const TransferId transfer : ended) outcomes[flow_of[transfer.index()]].end = now;
      active -= ended.size();
    }
    for (; next < order.size() && flows[order[next]].start == now; ++next, ++active) {
      const TransferId transfer = network->start(message_of(flows[order[next]], order[next], ends), now);
      if (flow_of.size() <= transfer.index()) flow_of.resize(transfer.index() + 1);
      flow_of[transfer.index()] = order[next];
    }
  }
  return outcomes;
}

}  // namespace contend
