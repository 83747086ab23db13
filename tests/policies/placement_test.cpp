#include "tests/policies/policy_kit.hpp"

#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {
using Gpus = std::vector<std::uint32_t>;

/// Three servers of four GPUs. The sums of the loads are 18 on server 0, 20 on server 1 and 16 on server 2. The least
/// loaded GPUs are 5 (load 0), 0 (1), 9 (2), 8 and 10 (3).
FakeCluster busy_cluster() {
  return {4, {1, 4, 6, 7, 9, 0, 6, 5, 3, 2, 3, 8}};
}

Choice lwf(std::int64_t kappa) {
  return {"lwf", {{"kappa", kappa}}};
}

}  // namespace

TEST_CASE("first fit takes the first GPUs with enough memory, in index order") {
  FakeCluster cluster = busy_cluster();
  const auto policy = placement({"first-fit", {}});
  CHECK(place(*policy, cluster, 5) == Gpus{0, 1, 2, 3, 4});
  cluster.free[0] = 49;  // the job needs 50
  cluster.free[2] = 50;
  cluster.free[3] = 0;
  CHECK(place(*policy, cluster, 3) == Gpus{1, 2, 4});
  CHECK(place(*policy, cluster, 10) == Gpus{1, 2, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(place(*policy, cluster, 11).empty());
}

TEST_CASE("list scheduling takes the least loaded GPUs wherever they are; ties go to the smaller index") {
  FakeCluster cluster = busy_cluster();
  const auto policy = placement({"list-scheduling", {}});
  CHECK(place(*policy, cluster, 1) == Gpus{5});
  CHECK(place(*policy, cluster, 4) == Gpus{5, 0, 9, 8});
  CHECK(place(*policy, cluster, 6) == Gpus{5, 0, 9, 8, 10, 1});
  cluster.free[5] = 10;
  CHECK(place(*policy, cluster, 2) == Gpus{0, 9});
}

TEST_CASE("LWF-1: one GPU goes to the least loaded GPU, more fill the least loaded servers") {
  const FakeCluster cluster = busy_cluster();
  const auto policy = placement(lwf(1));
  CHECK(place(*policy, cluster, 1) == Gpus{5});
  // Server 2 first (16), inside it by load: 9 (2), 8 (3), 10 (3), 11 (8). Then server 0: 0, 1, 2, 3.
  CHECK(place(*policy, cluster, 2) == Gpus{9, 8});
  CHECK(place(*policy, cluster, 4) == Gpus{9, 8, 10, 11});
  CHECK(place(*policy, cluster, 7) == Gpus{9, 8, 10, 11, 0, 1, 2});
}

TEST_CASE("LWF-kappa: kappa is the largest size that may scatter, on both sides of the edge") {
  const FakeCluster cluster = busy_cluster();
  CHECK(place(*placement(lwf(2)), cluster, 2) == Gpus{5, 0});
  CHECK(place(*placement(lwf(2)), cluster, 3) == Gpus{9, 8, 10});
  CHECK(place(*placement(lwf(4)), cluster, 4) == Gpus{5, 0, 9, 8});
  CHECK(place(*placement(lwf(4)), cluster, 5) == Gpus{9, 8, 10, 11, 0});
  CHECK(place(*placement(lwf(12)), cluster, 12) == place(*placement({"list-scheduling", {}}), cluster, 12));
}

TEST_CASE("LWF: ties of server load go to the smaller server, ties of GPU load to the smaller GPU") {
  // Three servers of two: sums 6, 5, 5.
  const FakeCluster cluster{2, {3, 3, 1, 4, 4, 1}};
  CHECK(place(*placement(lwf(1)), cluster, 3) == Gpus{2, 3, 5});
  const FakeCluster idle{2, {0, 0, 0, 0}};
  CHECK(place(*placement(lwf(1)), idle, 3) == Gpus{0, 1, 2});
  CHECK(place(*placement(lwf(4)), idle, 3) == Gpus{0, 1, 2});
}

TEST_CASE("LWF: the load of a server counts all its GPUs, also those without memory for the job") {
  // Server 0: 1 + 1, server 1: 0 + 9. GPU 3 (load 9) is full of memory; server 1 still counts as 9.
  FakeCluster cluster{2, {1, 1, 0, 9}};
  cluster.free[3] = 0;
  CHECK(place(*placement(lwf(1)), cluster, 2) == Gpus{0, 1});
  CHECK(place(*placement(lwf(1)), cluster, 3) == Gpus{0, 1, 2});
  CHECK(place(*placement(lwf(1)), cluster, 4).empty());
}

TEST_CASE("random placement: only GPUs with memory, all of them in the long run, the same for the same seed") {
  FakeCluster cluster = busy_cluster();
  cluster.free[1] = cluster.free[6] = 0;
  const auto policy = placement({"random", {}}, 7), again = placement({"random", {}}, 7),
             other = placement({"random", {}}, 8);
  std::map<std::uint32_t, int> times;
  bool differs = false;
  for (int i = 0; i < 2000; ++i) {
    const Gpus chosen = place(*policy, cluster, 3);
    REQUIRE(chosen.size() == 3);
    CHECK(std::set<std::uint32_t>(chosen.begin(), chosen.end()).size() == 3);
    // A question whether there is a place draws nothing.
    CHECK(again->has_place(cluster, placed_job(i % 10 + 1)));
    CHECK_FALSE(again->has_place(cluster, placed_job(11)));
    CHECK(chosen == place(*again, cluster, 3));
    differs = differs || chosen != place(*other, cluster, 3);
    for (const std::uint32_t gpu : chosen) ++times[gpu];
  }
  CHECK(differs);
  CHECK(times.size() == 10);
  CHECK_FALSE(times.contains(1));
  CHECK_FALSE(times.contains(6));
  // 2000 x 3 / 10 = 600 each; the deviation is sqrt(2000 x 0.3 x 0.7) = 20.5.
  for (const auto& entry : times) CHECK_MESSAGE(std::abs(entry.second - 600) < 103, entry.first, ": ", entry.second);
  CHECK(place(*policy, cluster, 10).size() == 10);
  CHECK(place(*policy, cluster, 11).empty());
}

TEST_CASE("which policies refuse jobs of equal demand alike, so that one refusal stands for all") {
  for (const char* name :
       {"first-fit", "list-scheduling", "lwf", "random", "consolidated", "yarn", "worst-fit", "spread"}) {
    INFO(std::string{name});
    CHECK(placement({name, {}})->refuses_alike());
  }
  // A job that has waited long enough takes what another of its size refuses.
  CHECK_FALSE(placement({"consolidated-or-wait", {}})->refuses_alike());
}
