#include "network/routing/walk.hpp"

namespace contend {

namespace {

class ShortestPathRouter final : public Router {
 public:
  explicit ShortestPathRouter(const Topology& topology) : paths_{topology} {}

  void route(NodeId from, NodeId to, std::uint64_t, Route& route) const override {
    walk(
        paths_, from, to, [](NodeId, std::span<const LinkId> links) { return links.front(); }, route);
  }
  void set_link_up(LinkId link, bool up) override { paths_.set_link_up(link, up); }

 private:
  mutable ShortestPaths paths_;  // a cache
};

}  // namespace

std::unique_ptr<Router> make_shortest_path_router(const Topology& topology) {
  return std::make_unique<ShortestPathRouter>(topology);
}

}  // namespace contend
