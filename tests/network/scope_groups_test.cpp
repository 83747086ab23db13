// The groups of a scope, and what their flows load when they run at once.

#include "network/collectives/scope_groups.hpp"

#include "tests/near.hpp"
#include "tests/network/topology_kit.hpp"

#include <cstddef>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

using Groups = std::vector<std::vector<std::size_t>>;

/// Groups of these of the twelve GPUs on three servers, as indices of GPUs.
Groups groups_of(CollectiveScope scope, const std::vector<std::size_t>& gpus, const RankGroups& of = {}) {
  const Topology topology = build_topology(spec("single-switch"), 3, 4);
  std::vector<NodeId> nodes;
  for (const std::size_t gpu : gpus) nodes.push_back(topology.gpus()[gpu]);
  Groups all;
  for (const std::vector<NodeId>& group : scope_groups(scope, of, nodes, topology)) {
    all.emplace_back();
    for (const NodeId node : group)
      all.back().push_back(
          static_cast<std::size_t>(std::ranges::find(topology.gpus(), node) - topology.gpus().begin()));
  }
  return all;
}

}  // namespace

TEST_CASE("scopes: the groups of ranks on servers of three, two and one") {
  const std::vector<std::size_t> ranks{8, 0, 4, 1, 5, 2};
  CHECK(groups_of(CollectiveScope::all, ranks) == Groups{{8, 0, 4, 1, 5, 2}});
  CHECK(groups_of(CollectiveScope::server, ranks) == Groups{{0, 1, 2}, {4, 5}});
  CHECK(groups_of(CollectiveScope::leaders, ranks) == Groups{{8, 0, 4}});
  CHECK(groups_of(CollectiveScope::peers, ranks) == Groups{{8, 0, 4}, {1, 5}});
  CHECK(groups_of(CollectiveScope::all, {3}).empty());
  CHECK(groups_of(CollectiveScope::leaders, {0, 1}).empty());
  CHECK(groups_of(CollectiveScope::server, {0, 4}).empty());
}

TEST_CASE("scopes: groups by a rule and by lists, in the orders of these") {
  const std::vector<std::size_t> ranks{8, 0, 4, 1, 5, 2};
  CHECK(groups_of(CollectiveScope::groups, ranks, {2, 3}) == Groups{{8, 4, 5}, {0, 1, 2}});
  const auto lists = std::make_shared<const RankLists>(std::vector<std::vector<int>>{{5, 0}, {3}, {2, 1, 4}});
  CHECK(groups_of(CollectiveScope::groups, ranks, {.lists = lists}) == Groups{{2, 8}, {4, 0, 5}});
}

TEST_CASE("scopes: groups that run at once load links with the bytes of all") {
  const LinkId a{0U}, b{1U}, c{2U};
  CoupledFlow small, large, last;
  small.links = {{a, 1}, {b, 0.5}};
  small.bytes = 30;
  small.fixed = Time::nanoseconds(7);
  large.links = {{b, 1}, {c, 0.25}};
  large.bytes = 120;
  large.fixed = Time::nanoseconds(3);
  last.links = {{c, 1}};
  last.bytes = 10;
  last.fixed = Time::nanoseconds(1);
  const std::vector<CoupledFlow> joined = run_at_once({{small}, {large, last}});
  REQUIRE(joined.size() == 2);
  CHECK(joined[0].bytes == 120);
  CHECK(joined[0].fixed == Time::nanoseconds(7));
  REQUIRE(joined[0].links.size() == 3);
  CHECK(joined[0].links[0].share == near(0.25));
  CHECK(joined[0].links[1].share == near(1 + 0.5 / 4));
  CHECK(joined[0].links[2].share == near(0.25));
  CHECK(joined[1].bytes == 10);
  CHECK(joined[1].fixed == Time::nanoseconds(1));
  REQUIRE(joined[1].links.size() == 1);
  CHECK(joined[1].links[0].link == c);
  CHECK(joined[1].links[0].share == near(1));
  // Fixed time alone loads nothing.
  CoupledFlow only_time;
  only_time.links = {{a, 1}};
  only_time.fixed = Time::nanoseconds(5);
  const std::vector<CoupledFlow> nothing = run_at_once({{only_time}, {only_time}});
  REQUIRE(nothing.size() == 1);
  CHECK(nothing[0].links.empty());
  CHECK(nothing[0].fixed == Time::nanoseconds(5));
}
