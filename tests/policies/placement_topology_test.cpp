#include "tests/policies/placement_kit.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

using Tiers = std::vector<std::vector<std::uint32_t>>;

std::unique_ptr<PlacementPolicy> topology_aware(const Tiers& tiers) {
  PolicyContext context;
  context.server_groups = [&] { return tiers; };
  return make_policy(placement_policies(), {"topology-aware", {}}, context);
}

std::unique_ptr<PlacementPolicy> traffic_aware(const Tiers& tiers, const std::vector<double>& bytes_per_s,
                                               std::int64_t extra_groups = 0) {
  PolicyContext context;
  context.server_groups = [&] { return tiers; };
  context.sent_per_second = [&] { return bytes_per_s; };
  return make_policy(placement_policies(), {"traffic-aware", {{"extra_groups", extra_groups}}}, context);
}

/// Three leaves of three servers of four GPUs.
const Tiers kLeaves{{0, 0, 0, 1, 1, 1, 2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 0}};

}  // namespace

TEST_CASE("topology-aware: a server, else a leaf, else the fewest leaves") {
  PlacedCluster cluster{cluster_of(9, 4)};
  cluster.leave_free({1, 2, 2, 4, 0, 3, 3, 3, 0});
  const auto policy = topology_aware(kLeaves);
  CHECK(placed(*policy, cluster, gang(2)) == "1:2");
  CHECK(placed(*policy, cluster, gang(4)) == "3:4");
  // The leaves have room for 5, 7 and 6. Five fit exactly on leaf 0, on its servers by room. Six go on leaf 2, seven on
  // leaf 1.
  CHECK(placed(*policy, cluster, gang(5)) == "1:2 2:2 0:1");
  CHECK(placed(*policy, cluster, gang(6)) == "6:3 7:3");
  CHECK(placed(*policy, cluster, gang(7)) == "3:4 5:3");
  // Eleven need two leaves: the first of the larger ones, leaf 1, and four of the one that just has room: leaf 0.
  CHECK(placed(*policy, cluster, gang(11)) == "3:4 5:3 1:2 2:2");
  // Thirteen: only leaves 1 and 2 have room for that together. Eighteen need all, nineteen have no place.
  CHECK(placed(*policy, cluster, gang(13)) == "3:4 5:3 6:3 7:3");
  CHECK(placed(*policy, cluster, gang(18)) == "3:4 5:3 6:3 7:3 1:2 2:2 0:1");
  CHECK(placed(*policy, cluster, gang(19)) == "-");
}

TEST_CASE("topology-aware: among equally many switches, those whose uplinks carry fewer jobs") {
  // All nine servers have two GPUs free, each leaf six. Job 1 takes eight: leaf 0 whole and two GPUs of leaf 1, which
  // then carry a job each; the leaves have room for 0, 4 and 6.
  PlacedCluster cluster{cluster_of(9, 4)};
  cluster.leave_free({2, 2, 2, 2, 2, 2, 2, 2, 2});
  const auto policy = topology_aware(kLeaves);
  std::vector<GpuId> chosen;
  policy->place(cluster, gang(8, 1), chosen);
  cluster.hold(chosen, gang(8, 1));
  CHECK(cluster.free_gpus(ServerId{0u}) + cluster.free_gpus(ServerId{1u}) + cluster.free_gpus(ServerId{2u}) == 0);
  CHECK(cluster.free_gpus(ServerId{3u}) == 0);
  // A further job of eight takes leaf 2 whole (load 0) and two GPUs of leaf 1 (load 1).
  CHECK(placed(*policy, cluster, gang(8, 2)) == "6:2 7:2 8:2 4:2");

  // Leaf 0 gets room again while job 3 still crosses from leaf 1 to leaf 2. Now 6, 6 and 6 are free and the loads are
  // 0, 1, 1 (job 1 has ended): a job of seven takes leaf 0 first and one GPU of leaf 1, the first of equals.
  PlacedCluster other{cluster_of(9, 4)};
  other.leave_free({0, 0, 0, 4, 4, 4, 4, 4, 4});
  const auto again = topology_aware(kLeaves);
  chosen.clear();
  again->place(other, gang(13, 3), chosen);
  CHECK(chosen.size() == 13);
  other.hold(chosen, gang(13, 3));
  // Rooms are 0, 0 and 11 now. Servers of leaf 0 end what they ran:
  for (std::uint32_t job = 1'000'000; job < 1'000'003; ++job) other.end(JobId{job});
  // Rooms 12, 0, 11 with loads 0, 1, 1.
  CHECK(placed(*again, other, gang(14, 4)) == "0:4 1:4 2:4 6:2");
  other.end(JobId{3u});
  // Nothing crosses any more: 12, 12, 12, all of load 0.
  CHECK(placed(*again, other, gang(14, 5)) == "0:4 1:4 2:4 3:2");
}

TEST_CASE("traffic-aware: what jobs send over an uplink counts, and not how many they are") {
  const std::vector<double> sent{900, 10, 1, 1};
  const auto run = [&](PlacementPolicy& policy) {
    PlacedCluster cluster{cluster_of(9, 4)};
    cluster.leave_free({2, 2, 2, 2, 2, 2, 2, 2, 2});
    for (const std::uint32_t job : {0U, 1U}) {
      std::vector<GpuId> chosen;
      policy.place(cluster, gang(8, job), chosen);
      cluster.hold(chosen, gang(8, job));
    }
    // Job 0 lies on leaves 0 and 1, job 1 on leaves 2 and 1; 2 GPUs of leaf 1 are free. All that the first cluster held
    // ends, and there is room for 6, 8 and 6 GPUs, with 900, 910 and 10 bytes/s on the uplinks, or 1, 2 and 1 jobs.
    for (std::uint32_t job = 1'000'000; job < 1'000'009; ++job) cluster.end(JobId{job});
    return placed(policy, cluster, gang(9, 3));
  };
  const auto weighing = traffic_aware(kLeaves, sent);
  const auto counting = topology_aware(kLeaves);
  // Nine need two leaves. By traffic leaf 2 comes first (10), then the least loaded that suffices: leaf 0 (900).
  // By number leaf 0 comes before leaf 2.
  CHECK(run(*weighing) == "6:2 7:2 8:2 0:2 1:1");
  CHECK(run(*counting) == "0:2 1:2 2:2 6:2 7:1");
}

TEST_CASE("traffic-aware: a job uses more switches only where their uplinks then carry less") {
  const Tiers tiers{{0, 1, 2, 3, 4}, {0, 0, 0, 0, 0}};  // a server is a leaf
  const std::vector<double> sent{500, 5, 5};
  for (const std::int64_t extra : {0, 1}) {
    CAPTURE(extra);
    PlacedCluster cluster{cluster_of(5, 8)};
    cluster.leave_free({1, 1, 0, 0, 0});
    const auto policy = traffic_aware(tiers, sent, extra);
    std::vector<GpuId> chosen;
    policy->place(cluster, gang(2, 0), chosen);
    cluster.hold(chosen, gang(2, 0));
    for (std::uint32_t job = 1'000'000; job < 1'000'005; ++job) cluster.end(JobId{job});
    for (const std::uint32_t server : {2U, 3U, 4U}) {
      std::vector<GpuId> five;
      for (std::uint32_t g = 0; g < 5; ++g) five.emplace_back(8 * server + g);
      cluster.hold(five, gang(5, 10 + server));
    }
    // Rooms are 7, 7, 3, 3 and 3. Nine GPUs fit on two leaves, of which one at least carries 500 bytes/s, or on three
    // that carry nothing.
    CHECK(placed(*policy, cluster, gang(9, 1)) == (extra == 0 ? "2:3 0:6" : "2:3 3:3 4:3"));
  }
}

TEST_CASE("topology-aware: never more groups than necessary, and all of the job in one group if one has room") {
  int several = 0, alone = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    RandomStream random{seed, "test.topology"};
    const int servers = static_cast<int>(random.uniform_integer(1, 14));
    Tiers tiers(2);
    for (int s = 0; s < servers; ++s) {
      tiers[0].push_back(static_cast<std::uint32_t>(random.uniform_integer(0, 3)));
      tiers[1].push_back(0);
    }
    PlacedCluster cluster{cluster_of(servers, 4)};
    std::vector<int> free;
    for (int s = 0; s < servers; ++s) free.push_back(static_cast<int>(random.uniform_integer(0, 4)));
    cluster.leave_free(free);
    const auto policy = topology_aware(tiers);
    for (std::uint32_t step = 0; step < 6; ++step) {
      const JobView job = gang(static_cast<int>(random.uniform_integer(1, 2 * servers)), step);
      std::vector<int> room(4);
      int all = 0, largest = 0;
      for (int s = 0; s < servers; ++s) {
        const int here = cluster.free_gpus(ServerId{static_cast<std::uint32_t>(s)});
        room[tiers[0][static_cast<std::size_t>(s)]] += here;
        largest = std::max(largest, here);
        all += here;
      }
      std::sort(room.rbegin(), room.rend());
      std::size_t fewest = 0;
      for (int sum = 0; sum < job.gpus && fewest < 4; ++fewest) sum += room[fewest];
      std::vector<GpuId> chosen;
      policy->place(cluster, job, chosen);
      INFO("seed " << seed << " step " << step);
      CHECK(chosen.empty() == (all < job.gpus));
      if (chosen.empty()) continue;
      std::set<std::uint32_t> leaves;
      std::set<ServerId> used;
      std::set<GpuId> different;
      for (const GpuId gpu : chosen) {
        CHECK(cluster.fits(gpu, job));
        different.insert(gpu);
        used.insert(cluster.server_of(gpu));
        leaves.insert(tiers[0][cluster.server_of(gpu).index()]);
      }
      CHECK(static_cast<int>(different.size()) == job.gpus);
      CHECK(leaves.size() == fewest);
      several += fewest > 1 ? 1 : 0;
      if (largest >= job.gpus) {
        CHECK(used.size() == 1);
        ++alone;
      }
      cluster.hold(chosen, job);
      if (random.uniform() < 0.3) cluster.end(job.id);
    }
  }
  CHECK(several > 100);
  CHECK(alone > 100);
}
