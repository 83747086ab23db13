// The placement `groups`: groups of ranks that belong on one server.

#include "tests/policies/placement_kit.hpp"

#include <memory>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

std::unique_ptr<PlacementPolicy> groups_policy() {
  PolicyContext context;
  context.server_groups = [] {
    return std::vector<std::vector<std::uint32_t>>{{0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0}};
  };
  return make_policy(placement_policies(), {"groups", {}}, context);
}

JobView grouped(int gpus, int together, bool may_part = false) {
  JobView job = gang(gpus);
  job.layout = {.together = together, .stage = gpus, .may_part = may_part};
  return job;
}

}  // namespace

TEST_CASE("groups: servers have room for whole groups only") {
  // Two leaves of three servers of four GPUs.
  PlacedCluster cluster{cluster_of(6, 4)};
  cluster.leave_free({3, 3, 3, 4, 2, 2});
  const auto policy = groups_policy();
  // Without groups nine GPUs are on leaf 0; groups of two have room for six there and for eight on leaf 1.
  CHECK(placed(*policy, cluster, gang(8)) == "3:4 4:2 5:2");
  CHECK(placed(*policy, cluster, gang(9)) == "0:3 1:3 2:3");
  CHECK(placed(*policy, cluster, grouped(6, 2)) == "0:2 1:2 2:2");
  CHECK(placed(*policy, cluster, grouped(8, 2)) == "3:4 4:2 5:2");
  // A group of four has one server.
  CHECK(placed(*policy, cluster, grouped(4, 4)) == "3:4");
  CHECK(placed(*policy, cluster, grouped(8, 4)) == "-");
  CHECK(placed(*policy, cluster, gang(16)) != "-");
  CHECK(placed(*policy, cluster, grouped(16, 2)) == "-");
}

TEST_CASE("groups: those that may be torn apart are, where there is no other place") {
  PlacedCluster cluster{cluster_of(6, 4)};
  cluster.leave_free({3, 3, 3, 0, 0, 0});
  const auto policy = groups_policy();
  CHECK(placed(*policy, cluster, grouped(8, 4)) == "-");
  CHECK(placed(*policy, cluster, grouped(8, 4, true)) == "0:3 1:3 2:2");
  CHECK(placed(*policy, cluster, grouped(6, 2, true)) == "0:2 1:2 2:2");
}

TEST_CASE("groups: ranks of a group are neighbours, from the same place of each server on") {
  PlacedCluster cluster{cluster_of(2, 8)};
  // GPU 0 of server 0 is taken: its pairs are 2-3, 4-5 and 6-7.
  cluster.hold({GpuId{0U}}, gang(1, 7));
  const auto policy = groups_policy();
  JobView job = grouped(6, 2);
  std::vector<GpuId> chosen;
  policy->place(cluster, job, chosen);
  REQUIRE(chosen.size() == 6);
  for (std::size_t rank = 0; rank < chosen.size(); rank += 2) {
    CHECK(chosen[rank].value() % 2 == 0);
    CHECK(chosen[rank + 1].value() == chosen[rank].value() + 1);
  }
  CHECK(chosen.front() == GpuId{2U});
}

TEST_CASE("groups: with whole_stages, parts of the network that can hold a pipeline stage take whole ones") {
  // Two parts of three servers of four GPUs, with 12 and 8 free GPUs; stages of four, six and eight GPUs.
  PlacedCluster cluster{cluster_of(6, 4)};
  cluster.leave_free({4, 4, 4, 0, 4, 4});
  PolicyContext context;
  context.server_groups = [] {
    return std::vector<std::vector<std::uint32_t>>{{0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0}};
  };
  const auto whole = make_policy(placement_policies(), {"groups", {{"whole_stages", true}}}, context);
  const auto loose = groups_policy();
  const auto staged = [](int gpus, int stage, bool may_part = false) {
    JobView job = gang(gpus);
    job.layout = {.together = 2, .stage = stage, .may_part = may_part};
    return job;
  };
  // Three stages of four and two of four.
  CHECK(placed(*whole, cluster, staged(20, 4)) == "0:4 1:4 2:4 4:4 5:4");
  // Of stages of eight each part has room for one; without the rule the second would lie on both.
  CHECK(placed(*whole, cluster, staged(16, 8)) == "0:4 1:4 4:4 5:4");
  CHECK(placed(*loose, cluster, staged(16, 8)) == "0:4 1:4 2:4 4:4");
  // Two stages of six fill the first part, a third has room on the second.
  CHECK(placed(*whole, cluster, staged(12, 6)) == "0:4 1:4 2:4");
  CHECK(placed(*whole, cluster, staged(18, 6)) == "0:4 1:4 2:4 4:4 5:2");
  // No part can hold a stage of ten twice, and so the job waits, unless its stages may be parted.
  CHECK(placed(*whole, cluster, staged(20, 10)) == "-");
  CHECK(placed(*whole, cluster, staged(20, 10, true)) == "0:4 1:4 2:4 4:4 5:4");
  // Where no part could ever hold a stage, the rule holds for the tier above.
  CHECK(placed(*whole, cluster, staged(20, 20)) == "0:4 1:4 2:4 4:4 5:4");
}
