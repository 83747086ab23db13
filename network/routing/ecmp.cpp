#include "network/routing/walk.hpp"

namespace contend {

namespace {

/// The finalizer of splitmix64 with the constants of Stafford's variant 13: every bit of the input changes half of the
/// bits of the output.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class EcmpRouter final : public Router {
 public:
  EcmpRouter(const Topology& topology, std::uint64_t seed, EcmpHash hash)
      : paths_{topology}, seed_{seed}, hash_{hash} {}

  void route(NodeId from, NodeId to, std::uint64_t label, Route& route) const override {
    const std::uint64_t flow = mix(mix(mix(seed_ ^ from.value()) + to.value()) + label);
    const auto choose = [&](NodeId at, std::span<const LinkId> links) {
      if (links.size() == 1) return links.front();
      const bool is_switch = !paths_.topology().nodes()[at.index()].server.valid();
      const std::uint64_t salt = is_switch && hash_ == EcmpHash::same ? 0 : at.value() + 1;
      const std::uint64_t hash = mix(flow ^ mix(seed_ + salt));
      return links[static_cast<std::size_t>((static_cast<Wide>(hash) * links.size()) >> 64)];
    };
    walk(paths_, from, to, choose, route);
  }
  void set_link_up(LinkId link, bool up) override { paths_.set_link_up(link, up); }

 private:
  __extension__ using Wide = unsigned __int128;  // g++ and clang both have it, neither calls it ISO C++

  mutable ShortestPaths paths_;  // a cache
  std::uint64_t seed_;
  EcmpHash hash_;
};

}  // namespace

std::unique_ptr<Router> make_ecmp_router(const Topology& topology, std::uint64_t seed, EcmpHash hash) {
  return std::make_unique<EcmpRouter>(topology, seed, hash);
}

}  // namespace contend
