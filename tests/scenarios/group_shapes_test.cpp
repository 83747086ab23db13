// The shapes of groups of ranks, from which closed forms give the cost of a collective in groups.

#include "scenarios/run/network_costs.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::vector<JobShape> shapes_of(const RankGroups& groups) {
  std::vector<GpuId> gpus;
  for (std::uint32_t g = 0; g < 8; ++g) gpus.emplace_back(g);
  return group_shapes(gpus, groups, {.per_server = 2});
}

RankGroups listed(std::vector<std::vector<int>> groups) {
  return {.lists = std::make_shared<const RankLists>(std::move(groups))};
}

}  // namespace

TEST_CASE("group shapes: lists that follow a rule have the shape of the rule") {
  // Four servers of two GPUs.
  CHECK(shapes_of({2, 4}) == std::vector<JobShape>{{.ranks = 4, .servers = 4, .per_server = 1, .sharing = 2}});
  CHECK(shapes_of(listed({{0, 2, 4, 6}, {1, 3, 5, 7}})) == shapes_of({2, 4}));
  CHECK(shapes_of({1, 2}) == std::vector<JobShape>{{.ranks = 2, .servers = 1, .per_server = 2, .sharing = 1}});
  CHECK(shapes_of(listed({{0, 1}, {2, 3}, {4, 5}, {6, 7}})) == shapes_of({1, 2}));
}

TEST_CASE("group shapes: each size of listed groups has one, and what sends nothing has none") {
  // {0,1} stays on server 0; {2,4,7} spans servers 1 to 3; {3,5} and {6} are beside it.
  const std::vector<JobShape> shapes = shapes_of(listed({{0, 1}, {2, 4, 7}, {3, 5}, {6}}));
  CHECK(shapes == std::vector<JobShape>{{.ranks = 2, .servers = 2, .per_server = 1, .sharing = 2},
                                        {.ranks = 3, .servers = 3, .per_server = 1, .sharing = 2}});
  CHECK(shapes_of(listed({{6}, {0}})).empty());
}
