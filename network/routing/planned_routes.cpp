#include "network/routing/planned_routes.hpp"

#include "network/routing/merge_links.hpp"
#include "sim/check.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr double kShareTolerance = 1e-9;

class PlanChecker {
 public:
  PlanChecker(const Topology& topology, const std::vector<PlannedRoute>& plan)
      : topology_{topology}, plan_{plan}, visited_(topology.nodes().size(), 0) {}

  void check() {
    for (row_ = 0; row_ < plan_.size(); ++row_) check_route(plan_[row_]);
    check_twins();
    complaints_.throw_if_any();
  }

 private:
  [[nodiscard]] std::string name(NodeId node) const { return topology_.nodes()[node.index()].name; }
  [[nodiscard]] bool is_gpu(NodeId node) const {
    return node.index() < topology_.nodes().size() && topology_.nodes()[node.index()].kind == NodeKind::gpu;
  }

  void check_route(const PlannedRoute& route) {
    const std::string key = fmt::format("plan[{}]", row_);
    if (!is_gpu(route.from) || !is_gpu(route.to) || route.from == route.to) {
      return complaints_.add(key, "a route joins two different GPUs");
    }
    double sum = 0;
    for (std::size_t i = 0; i < route.paths.size(); ++i) {
      const std::string path_key = fmt::format("{}.paths[{}]", key, i);
      const std::string wrong = what_is_wrong(route, route.paths[i].links);
      if (!wrong.empty()) complaints_.add(path_key, wrong);
      if (!(route.paths[i].share > 0)) {
        complaints_.add(path_key, fmt::format("the share must be > 0, got {}", route.paths[i].share));
      }
      sum += route.paths[i].share;
    }
    if (!(std::abs(sum - 1) <= kShareTolerance))
      complaints_.add(key, fmt::format("the shares add up to {}, not to 1", sum));
  }

  std::string what_is_wrong(const PlannedRoute& route, const std::vector<LinkId>& links) {
    if (links.empty()) return "there are no links";
    ++stamp_;
    NodeId at = route.from;
    visited_[at.index()] = stamp_;
    for (const LinkId link : links) {
      if (link.index() >= topology_.links().size()) return fmt::format("there is no link {}", link.value());
      const Link& step = topology_.links()[link.index()];
      if (step.from != at) {
        if (at == route.from) return fmt::format("{} does not start at {}", topology_.link_name(link), name(at));
        return fmt::format("a gap: {} is reached, but {} comes next", name(at), topology_.link_name(link));
      }
      if (at != route.from && !forwards(route, at)) return name(at) + " does not forward traffic of other nodes";
      at = step.to;
      if (visited_[at.index()] == stamp_) return "a cycle: " + name(at) + " is visited twice";
      visited_[at.index()] = stamp_;
    }
    return at == route.to ? "" : fmt::format("ends at {}, not at {}", name(at), name(route.to));
  }

  [[nodiscard]] bool forwards(const PlannedRoute& route, NodeId at) const {
    const auto nodes = topology_.nodes();
    const ServerId server = nodes[at.index()].server;
    const bool own =
        !server.valid() || server == nodes[route.from.index()].server || server == nodes[route.to.index()].server;
    return own && nodes[at.index()].relays;
  }

  void check_twins() {
    std::vector<std::size_t> order(plan_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](std::size_t i) { return std::tuple{plan_[i].from, plan_[i].to, plan_[i].label}; };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair{key(a), a} < std::pair{key(b), b};
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (key(order[i]) != key(order[i - 1])) continue;
      complaints_.add(fmt::format("plan[{}]", order[i]), fmt::format("the same flow as plan[{}]", order[i - 1]));
    }
  }

  const Topology& topology_;
  const std::vector<PlannedRoute>& plan_;
  std::size_t row_ = 0;
  std::vector<std::size_t> visited_;  // by node: the stamp of the last path that visited it
  std::size_t stamp_ = 0;
  Complaints complaints_;
};

class PlanRouter final : public Router {
 public:
  PlanRouter(const Topology& topology, std::vector<PlannedRoute> plan, std::unique_ptr<Router> others)
      : topology_{topology}, plan_{std::move(plan)}, others_{std::move(others)}, up_(topology.links().size(), 1) {
    PlanChecker{topology, plan_}.check();
    std::sort(plan_.begin(), plan_.end(), [](const PlannedRoute& a, const PlannedRoute& b) { return key(a) < key(b); });
  }

  void route(NodeId from, NodeId to, std::uint64_t label, Route& route) const override {
    if (!route_by_plan(from, to, label, route)) others_->route(from, to, label, route);
  }

  void route_together(std::span<const RoutedFlow> flows, std::vector<Route>& routes) const override {
    routes.resize(flows.size());
    std::vector<RoutedFlow> others;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (route_by_plan(flows[i].from, flows[i].to, flows[i].label, routes[i])) continue;
      others.push_back(flows[i]);
      places.push_back(i);
    }
    std::vector<Route> found;
    others_->route_together(others, found);
    for (std::size_t i = 0; i < places.size(); ++i) routes[places[i]] = std::move(found[i]);
  }
  [[nodiscard]] bool plans_together() const override { return others_->plans_together(); }

  void set_link_up(LinkId link, bool up) override {
    up_[link.index()] = up ? 1 : 0;
    others_->set_link_up(link, up);
  }

  [[nodiscard]] bool plans_ahead() const override { return others_->plans_ahead(); }
  void enter(const RoutedJob& job) override {
    RoutedJob others = job;
    std::erase_if(others.flows, [&](const RoutedFlow& flow) {
      return find({flow.from, flow.to, flow.label}) != nullptr || find({flow.from, flow.to, std::nullopt}) != nullptr;
    });
    others_->enter(others);
  }
  void leave(std::uint64_t label) override { others_->leave(label); }
  void plan() override { others_->plan(); }
  [[nodiscard]] int level(std::uint64_t label) const override { return others_->level(label); }
  [[nodiscard]] bool shifts_iterations() const override { return others_->shifts_iterations(); }
  void pace(std::uint64_t label, Time iteration, Time communication) override {
    others_->pace(label, iteration, communication);
  }
  [[nodiscard]] std::optional<Beat> beat(std::uint64_t label) const override { return others_->beat(label); }
  [[nodiscard]] std::uint64_t age(std::uint64_t label) const override { return others_->age(label); }

 private:
  using Key = std::tuple<NodeId, NodeId, std::optional<std::uint64_t>>;
  static Key key(const PlannedRoute& route) { return {route.from, route.to, route.label}; }

  [[nodiscard]] const PlannedRoute* find(const Key& wanted) const {
    const auto found = std::lower_bound(plan_.begin(), plan_.end(), wanted,
                                        [](const PlannedRoute& route, const Key& k) { return key(route) < k; });
    return found != plan_.end() && key(*found) == wanted ? &*found : nullptr;
  }
  /// False if the plan has no route for the flow that works.
  bool route_by_plan(NodeId from, NodeId to, std::uint64_t label, Route& route) const {
    const PlannedRoute* planned = find({from, to, label});
    if (planned == nullptr) planned = find({from, to, std::nullopt});
    return planned != nullptr && follow(*planned, route);
  }
  [[nodiscard]] bool works(const PlannedPath& path) const {
    return std::ranges::all_of(path.links, [&](LinkId link) { return up_[link.index()] != 0; });
  }

  /// False if every path crosses a link that is down.
  bool follow(const PlannedRoute& planned, Route& route) const {
    double working = 0;
    std::size_t down = 0;
    for (const PlannedPath& path : planned.paths) {
      if (works(path)) {
        working += path.share;
      } else {
        ++down;
      }
    }
    if (down == planned.paths.size()) return false;
    if (down == 0) {
      join_paths(topology_, planned.paths, route);
      return true;
    }
    std::vector<PlannedPath> left;
    for (const PlannedPath& path : planned.paths) {
      if (works(path)) left.push_back({path.links, path.share / working});
    }
    join_paths(topology_, left, route);
    return true;
  }

  const Topology& topology_;
  std::vector<PlannedRoute> plan_;  // sorted by key
  std::unique_ptr<Router> others_;
  std::vector<std::uint8_t> up_;
};

}  // namespace

void join_paths(const Topology& topology, std::span<const PlannedPath> paths, Route& route) {
  route.links.clear();
  route.latency = Time{};
  for (const PlannedPath& path : paths) {
    Time latency;
    for (const LinkId link : path.links) {
      route.links.push_back({link, path.share});
      latency += topology.links()[link.index()].latency;
    }
    route.latency = std::max(route.latency, latency);
  }
  merge_links(route.links);
}

std::unique_ptr<Router> make_plan_router(const Topology& topology, std::vector<PlannedRoute> plan,
                                         std::unique_ptr<Router> others) {
  CONTEND_CHECK(others != nullptr, "flows outside the plan need a router");
  return std::make_unique<PlanRouter>(topology, std::move(plan), std::move(others));
}

}  // namespace contend
