#include "network/server_groups.hpp"

#include "network/topology_report.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace contend {
namespace {

/// Disjoint sets of nodes; each is identified by its smallest member.
class Sets {
 public:
  explicit Sets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

/// The groups of servers, each of which is in the set of one of these elements.
std::vector<std::uint32_t> groups(const std::vector<std::size_t>& elements, Sets& sets) {
  std::vector<std::uint32_t> group(elements.size());
  std::vector<std::pair<std::size_t, std::uint32_t>> known;  // set and its group, by set
  std::uint32_t next = 0;
  for (std::size_t s = 0; s < group.size(); ++s) {
    const std::size_t set = sets.find(elements[s]);
    const auto at = std::lower_bound(known.begin(), known.end(), std::pair{set, std::uint32_t{0}});
    if (at != known.end() && at->first == set) {
      group[s] = at->second;
    } else {
      group[s] = next++;
      known.insert(at, {set, group[s]});
    }
  }
  return group;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> server_groups(const Topology& topology) {
  const std::vector<std::size_t> tiers = tiers_of(topology);
  const auto nodes = topology.nodes();
  const auto inside = [&](NodeId node) { return nodes[node.index()].kind != NodeKind::fabric_switch; };
  Sets sets{nodes.size()};
  for (std::size_t s = 0; s < topology.servers(); ++s) {
    // The GPUs of a server are always in one set.
    for (const NodeId gpu : topology.gpus_of(ServerId{s})) {
      sets.unite(topology.gpus_of(ServerId{s}).front().index(), gpu.index());
    }
  }
  for (const Link& link : topology.links()) {
    if (inside(link.from) && inside(link.to) && nodes[link.from.index()].server == nodes[link.to.index()].server) {
      sets.unite(link.from.index(), link.to.index());
    }
  }
  std::vector<std::size_t> elements;
  for (std::size_t s = 0; s < topology.servers(); ++s)
    elements.push_back(topology.gpus_of(ServerId{s}).front().index());
  std::vector<std::vector<std::uint32_t>> result;
  const std::size_t top = *std::max_element(tiers.begin(), tiers.end());
  for (std::size_t tier = 1; tier <= top; ++tier) {
    for (const Link& link : topology.links()) {
      const auto below = [&](NodeId node) {
        return inside(node) || (tiers[node.index()] > 0 && tiers[node.index()] <= tier);
      };
      if (inside(link.from) && inside(link.to)) continue;
      if (below(link.from) && below(link.to)) sets.unite(link.from.index(), link.to.index());
    }
    std::vector<std::uint32_t> group = groups(elements, sets);
    if (result.empty() || result.back() != group) result.push_back(std::move(group));
  }
  const std::vector<std::uint32_t> all(topology.servers(), 0);
  if (result.empty() || result.back() != all) result.push_back(all);
  return result;
}

std::vector<std::vector<std::uint32_t>> site_groups(const LinkMatrix& sites) {
  struct Pair {
    double rate;
    std::size_t a, b;
  };
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < sites.size(); ++a)
    for (std::size_t b = a + 1; b < sites.size(); ++b)
      if (const auto rate = sites.slower_rate(a, b)) pairs.push_back({rate->bytes_per_second(), a, b});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& one, const Pair& other) { return one.rate > other.rate; });
  std::vector<std::size_t> elements(sites.size());
  std::iota(elements.begin(), elements.end(), std::size_t{0});
  Sets sets{sites.size()};
  std::vector<std::vector<std::uint32_t>> result;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    sets.unite(pairs[i].a, pairs[i].b);
    if (i + 1 < pairs.size() && pairs[i + 1].rate == pairs[i].rate) continue;
    std::vector<std::uint32_t> group = groups(elements, sets);
    if (result.empty() || result.back() != group) result.push_back(std::move(group));
  }
  const std::vector<std::uint32_t> all(sites.size(), 0);
  if (result.empty() || result.back() != all) result.push_back(all);
  return result;
}

}  // namespace contend
