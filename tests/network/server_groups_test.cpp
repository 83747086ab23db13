#include "network/server_groups.hpp"

#include "tests/network/topology_kit.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {
using Tiers = std::vector<std::vector<std::uint32_t>>;
}

TEST_CASE("servers of a leaf, then all of them") {
  CHECK(server_groups(build_topology(leaf_spine(2, 2), 5, 1)) == Tiers{{0, 0, 1, 1, 2}, {0, 0, 0, 0, 0}});
  // One leaf: the spine joins nothing new.
  CHECK(server_groups(build_topology(leaf_spine(4, 1), 4, 1)) == Tiers{{0, 0, 0, 0}});
}

TEST_CASE("a fat-tree of 4-port switches: two servers per edge switch, two edge switches per pod") {
  CHECK(server_groups(build_topology(fat_tree(4), 16, 2)) == Tiers{{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7},
                                                                   {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3},
                                                                   {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
}

TEST_CASE("rails: the servers whose NICs meet on the same leaves are a group") {
  CHECK(server_groups(build_topology(rails(2, 2, 4), 4, 4)) == Tiers{{0, 0, 1, 1}, {0, 0, 0, 0}});
}

TEST_CASE("without switches above the servers there is one group") {
  CHECK(server_groups(build_topology(torus({2, 2}), 4, 1)).back() == std::vector<std::uint32_t>{0, 0, 0, 0});
}

TEST_CASE("sites: servers that the fastest links join, then servers that slower links join") {
  LinkMatrix sites{{"a", "b", "c", "d", "e"}};
  const auto join = [&](std::size_t from, std::size_t to, double rate, double back) {
    sites.set(from, to, {Time{}, ByteRate{rate}});
    sites.set(to, from, {Time{}, ByteRate{back}});
  };
  join(0, 3, 1e9, 1e9);
  join(1, 2, 2e9, 5e8);  // the slower direction counts
  join(0, 1, 1e7, 1e7);
  join(3, 2, 1e6, 1e6);  // joins nothing new
  CHECK(site_groups(sites) == Tiers{{0, 1, 2, 0, 3}, {0, 1, 1, 0, 2}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0}});
  CHECK(site_groups(LinkMatrix{{"a", "b"}}) == Tiers{{0, 0}});
  CHECK(site_groups(sites.first(1)) == Tiers{{0}});
}
