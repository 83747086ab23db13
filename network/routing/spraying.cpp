#include "network/routing.hpp"
#include "network/routing/merge_links.hpp"
#include "network/routing/shortest_paths.hpp"

#include <algorithm>

namespace contend {

namespace {

class SprayingRouter final : public Router {
 public:
  explicit SprayingRouter(const Topology& topology) : paths_{topology}, slot_(2 * topology.nodes().size(), kUnseen) {}

  void route(NodeId from, NodeId to, std::uint64_t, Route& route) const override {
    route.links.clear();
    route.latency = Time{};
    if (!paths_.aim(from, to)) return;
    spread_out(from, to);
    // A node comes after all nodes that lead to it, because it is nearer to the end, so the sums in both directions are
    // complete when they are needed.
    visited_.back().paths = 1;
    for (std::size_t i = steps_.size(); i-- > 0;) visited_[steps_[i].from].paths += visited_[steps_[i].to].paths;
    visited_.front().share = 1;
    const auto links = paths_.topology().links();
    for (const Step& step : steps_) {
      const Visited& before = visited_[step.from];
      Visited& after = visited_[step.to];
      const double share = before.share * (after.paths / before.paths);
      after.share += share;
      after.latency = std::max(after.latency, before.latency + links[step.link.index()].latency);
      route.links.push_back({step.link, share});
    }
    route.latency = visited_.back().latency;
    for (const Visited& visited : visited_) slot_of(visited.node, visited.has_gone_down) = kUnseen;
    merge_links(route.links);
  }
  void set_link_up(LinkId link, bool up) override { paths_.set_link_up(link, up); }

 private:
  static constexpr std::uint32_t kUnseen = UINT32_MAX;

  struct Visited {
    NodeId node;
    bool has_gone_down = false;
    double paths = 0;  ///< shortest paths from here to the end
    double share = 0;  ///< part of the bytes that passes here
    Time latency;      ///< of the longest path to here
  };
  struct Step {
    std::uint32_t from;
    std::uint32_t to;
    LinkId link;
  };

  std::uint32_t& slot_of(NodeId node, bool has_gone_down) const {
    return slot_[2 * node.index() + (has_gone_down ? 1 : 0)];
  }

  /// Visits the nodes of all shortest paths breadth first; the end comes last. A node counts by itself before a path
  /// has gone down and afterwards.
  void spread_out(NodeId from, NodeId to) const {
    steps_.clear();
    visited_.assign(1, {from, false, 0, 0, {}});
    slot_of(from, false) = 0;
    for (std::size_t i = 0; visited_[i].node != to; ++i) {
      for (const LinkId link : paths_.next(visited_[i].node, visited_[i].has_gone_down)) {
        const NodeId after = paths_.topology().links()[link.index()].to;
        const bool has_gone_down = visited_[i].has_gone_down || paths_.goes_down(link);
        std::uint32_t& slot = slot_of(after, has_gone_down);
        if (slot == kUnseen) {
          slot = static_cast<std::uint32_t>(visited_.size());
          visited_.push_back({after, has_gone_down, 0, 0, {}});
        }
        steps_.push_back({static_cast<std::uint32_t>(i), slot, link});
      }
    }
  }

  mutable ShortestPaths paths_;              // a cache
  mutable std::vector<std::uint32_t> slot_;  // by node, before and after the way down: its place in visited_
  mutable std::vector<Visited> visited_;
  mutable std::vector<Step> steps_;
};

}  // namespace

std::unique_ptr<Router> make_spraying_router(const Topology& topology) {
  return std::make_unique<SprayingRouter>(topology);
}

}  // namespace contend
