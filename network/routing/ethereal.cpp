#include "network/routing/planned_routes.hpp"
#include "network/routing/shortest_paths.hpp"
#include "sim/complaints.hpp"

namespace contend {

namespace {

class EtherealRouter final : public Router {
 public:
  explicit EtherealRouter(const Topology& topology) : paths_{topology} {}

  void route(NodeId from, NodeId to, std::uint64_t label, Route& route) const override {
    const RoutedFlow flow{from, to, label, 1};
    route_together({&flow, 1}, routes_);
    route = routes_.front();
  }

  void route_together(std::span<const RoutedFlow> flows, std::vector<Route>& routes) const override {
    routes.assign(flows.size(), {});
    std::vector<Demand> demands;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (!paths_.aim(flows[i].from, flows[i].to)) continue;  // it stalls
      demands.push_back({flows[i].from, flows[i].to, flows[i].bytes});
      places.push_back(i);
    }
    const std::vector<PlannedRoute> plan = split(demands);
    for (std::size_t i = 0; i < plan.size(); ++i) join_paths(paths_.topology(), plan[i].paths, routes[places[i]]);
  }
  [[nodiscard]] bool plans_together() const override { return true; }

  void set_link_up(LinkId link, bool up) override { paths_.set_link_up(link, up); }

 private:
  [[nodiscard]] std::vector<PlannedRoute> split(std::span<const Demand> demands) const {
    try {
      return plan_splits(paths_, demands);
    } catch (const InputError& error) {
      throw amended(error, [](Complaint& each) {
        each.key = "routing";
        each.hint = "ethereal lists all shortest paths of a pair; spraying and ecmp don't";
      });
    }
  }

  mutable ShortestPaths paths_;        // a cache
  mutable std::vector<Route> routes_;  // scratch
};

}  // namespace

std::unique_ptr<Router> make_ethereal_router(const Topology& topology) {
  return std::make_unique<EtherealRouter>(topology);
}

}  // namespace contend
