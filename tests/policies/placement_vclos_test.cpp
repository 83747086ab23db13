// Tests the placement policy that gives jobs leaves and spines of their own, by hand and on random clusters.

#include "network/clos.hpp"
#include "sim/error.hpp"
#include "tests/effort.hpp"
#include "tests/policies/placement_kit.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Servers of four GPUs, so many on each leaf. A GPU sends as much as `gpus_per_uplink` of them fill a link to a spine.
struct Isolated {
  Isolated(int servers, int on_leaf, int spines, double gpus_per_uplink, std::int64_t most = 0)
      : cluster{cluster_of(servers, 4)} {
    for (int s = 0; s < servers; ++s) fabric.leaf.push_back(static_cast<std::uint32_t>(s / on_leaf));
    fabric.leaves = fabric.leaf.back() + 1;
    for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(spines); ++s) fabric.spines.emplace_back(100 + s);
    fabric.server_rate = 4;
    fabric.uplink_rate = gpus_per_uplink;
    PolicyContext context;
    context.clos = [this] { return std::optional{fabric}; };
    context.reserved = reserved;
    policy = make_policy(placement_policies(), {"vclos", {{"spines", most}}}, context);
  }

  /// Places the job, and has it hold the GPUs.
  std::string put(int gpus, std::uint32_t id) {
    const std::string where = placed(*policy, cluster, gang(gpus, id));
    std::vector<GpuId> chosen;
    policy->place(cluster, gang(gpus, id), chosen);
    if (!chosen.empty()) cluster.hold(chosen, gang(gpus, id));
    return where;
  }
  [[nodiscard]] std::set<std::uint32_t> spines(std::uint32_t job) const {
    std::set<std::uint32_t> numbers;
    const auto found = reserved->of_job.find(job);
    if (found == reserved->of_job.end()) return numbers;
    for (const NodeId node : found->second) numbers.insert(node.value() - 100);
    return numbers;
  }

  PlacedCluster cluster;
  ClosFabric fabric;
  std::shared_ptr<ReservedSpines> reserved = std::make_shared<ReservedSpines>();
  std::unique_ptr<PlacementPolicy> policy;
};

using Numbers = std::set<std::uint32_t>;

}  // namespace

TEST_CASE("vclos: a server, else a leaf, else leaves with spines of the job's own") {
  // Three leaves of three servers; an uplink carries what four GPUs send.
  Isolated one{9, 3, 2, 4};
  CHECK(one.put(3, 1) == "0:3");
  CHECK(one.put(4, 2) == "1:4");
  CHECK(one.put(8, 3) == "3:4 4:4");  // leaf 0 has room for 5
  CHECK(one.spines(3).empty());
  // Ten of 5, 4 and 12 free GPUs fit on leaf 2. Of the 11 that are left then, 8 need two leaves, four GPUs on each and
  // so a spine; the remainder of a server is the last.
  CHECK(one.put(10, 4) == "6:4 7:4 8:2");
  CHECK(one.put(8, 5) == "2:4 5:4");
  CHECK(one.spines(5) == Numbers{0});
  CHECK(one.put(3, 6) == "8:2 0:1");
  CHECK(one.spines(6) == Numbers{1});
}

TEST_CASE("vclos: a job waits for spines that are free on all of its leaves") {
  // Sixteen GPUs on two leaves are eight on each, which fill both spines.
  Isolated all{9, 3, 2, 4};
  CHECK(all.put(16, 1) == "0:4 1:4 3:4 4:4");
  CHECK(all.spines(1) == Numbers{0, 1});
  CHECK(all.put(16, 2) == "-");  // there is room for 20
  CHECK(all.put(12, 3) == "6:4 7:4 8:4");
  all.cluster.end(JobId{1u});
  CHECK(all.put(16, 4) == "0:4 1:4 3:4 4:4");
  // With one spine for each job another one has room.
  Isolated single{9, 3, 2, 4, 1};
  CHECK(single.put(16, 1) == "0:4 1:4 3:4 4:4");
  CHECK(single.spines(1) == Numbers{0});
  CHECK(single.put(16, 2) == "6:4 7:4 8:4 2:4");  // all of leaf 2, and what leaf 0 has
  CHECK(single.spines(2) == Numbers{1});
  CHECK(single.put(4, 3) == "5:4");
}

TEST_CASE("vclos property: no spine of a leaf belongs to two jobs, and what has room alone is not refused") {
  int crossing = 0, waiting = 0;
  const std::uint64_t cases = effort(std::uint64_t{100});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomStream random{seed, "vclos"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
    const int leaves = static_cast<int>(in(2, 6)), on_leaf = static_cast<int>(in(1, 4));
    Isolated fabric{leaves * on_leaf, on_leaf, static_cast<int>(in(1, 4)), static_cast<double>(in(1, 8)), in(0, 2)};
    const int all = leaves * on_leaf * 4;
    std::map<std::uint32_t, std::vector<GpuId>> running;
    for (std::uint32_t job = 0; job < 60; ++job) {
      if (!running.empty() && in(0, 2) == 0) {
        const auto ended = std::next(running.begin(), in(0, std::ssize(running) - 1));
        fabric.cluster.end(JobId{ended->first});
        running.erase(ended);
      }
      const JobView view = gang(static_cast<int>(in(1, running.empty() ? all : std::max(1, all / 2))), job);
      std::vector<GpuId> chosen;
      fabric.policy->place(fabric.cluster, view, chosen);
      if (chosen.empty()) {
        ++waiting;
        CHECK(!running.empty());
        continue;
      }
      CHECK(std::ssize(chosen) == view.gpus);
      fabric.cluster.hold(chosen, view);
      running[job] = chosen;
      std::set<std::pair<std::uint32_t, std::uint32_t>> taken;  // leaf and spine
      for (const auto& [id, gpus] : running) {
        std::set<std::uint32_t> on;
        for (const GpuId gpu : gpus) on.insert(fabric.fabric.leaf[gpu.index() / 4]);
        const Numbers spines = fabric.spines(id);
        CHECK(spines.empty() == (on.size() == 1));
        if (on.size() > 1) ++crossing;
        for (const std::uint32_t leaf : on)
          for (const std::uint32_t spine : spines) CHECK(taken.emplace(leaf, spine).second);
      }
    }
  }
  MESSAGE(cases, " cases, ", crossing, " times a job on several leaves, ", waiting, " times a job that waits");
  CHECK(crossing > static_cast<int>(cases));
  CHECK(waiting > static_cast<int>(cases));
}

TEST_CASE("vclos: without leaves and spines whose paths are planned it is refused") {
  CHECK_THROWS_AS(
      static_cast<void>(make_policy(placement_policies(), {"vclos", {{"spines", std::int64_t{0}}}}, PolicyContext{})),
      InputError);
}
