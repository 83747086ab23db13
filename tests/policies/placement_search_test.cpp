// The engine finds GPUs with room, and the least loaded ones, through indices. Here every search of random runs is
// repeated by the plain search of ClusterView, which looks at all GPUs.

#include "sim/random_stream.hpp"
#include "sim/server_tree.hpp"
#include "tests/effort.hpp"
#include "tests/policies/random_cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// What the searches have met, so that a test can't pass because hardly anything was compared.
struct Seen {
  std::uint64_t searches = 0, with_gaps = 0, loaded = 0, out_of_order = 0, timed = 0, shares = 0;
};

/// Compares all searches, then lets a policy decide.
class Comparing final : public PlacementPolicy {
 public:
  Comparing(std::unique_ptr<PlacementPolicy> inner, std::uint64_t seed, Seen& seen)
      : inner_{std::move(inner)}, stream_{seed, "comparing"}, seen_{seen} {}

  [[nodiscard]] bool refuses_alike() const override { return inner_->refuses_alike(); }
  [[nodiscard]] RoomNeeded room_needed(const JobView& job, int gpus_per_server) const override {
    return inner_->room_needed(job, gpus_per_server);
  }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override { return inner_->next_decision(cluster); }

  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    ++seen_.searches;
    seen_.timed += job.timed ? 1U : 0U;
    seen_.shares += job.gpu_share > 0 && job.gpu_share < kWholeGpu ? 1U : 0U;
    for (std::size_t g = 0; g < cluster.gpus(); ++g) {
      const GpuId found = cluster.next_gpu(job, GpuId{g});
      REQUIRE(found == cluster.ClusterView::next_gpu(job, GpuId{g}));
      seen_.with_gaps += found.valid() && found.index() > g + 1 ? 1U : 0U;
    }
    // Not always all of them: what a search leaves out of its index shows in the next one.
    const auto some = static_cast<std::size_t>(stream_.uniform_integer(0, static_cast<std::int64_t>(cluster.gpus())));
    for (const std::size_t count : {static_cast<std::size_t>(job.gpus), some}) {
      std::vector<GpuId> gpus, plain_gpus;
      cluster.least_loaded(job, count, gpus);
      cluster.ClusterView::least_loaded(job, count, plain_gpus);
      REQUIRE(gpus == plain_gpus);
      std::vector<ServerId> servers, plain_servers;
      cluster.least_loaded_servers(job, count, servers);
      cluster.ClusterView::least_loaded_servers(job, count, plain_servers);
      REQUIRE(servers == plain_servers);
      if (!gpus.empty()) seen_.loaded += cluster.load(gpus.back()) > Time{} ? 1U : 0U;
      seen_.out_of_order += std::is_sorted(gpus.begin(), gpus.end()) ? 0U : 1U;
    }
    inner_->place(cluster, job, chosen);
  }

 private:
  std::unique_ptr<PlacementPolicy> inner_;
  RandomStream stream_;
  Seen& seen_;
};

/// The largest of some numbers.
struct Most {
  int value = -1;
  bool operator==(const Most&) const = default;
  friend Most join(const Most& a, const Most& b) { return {std::max(a.value, b.value)}; }
};

/// Gives some jobs a duration, a share of their GPUs or demands for CPUs, and some servers to a virtual cluster.
void mix(RandomCluster& cluster, std::uint64_t seed) {
  RandomStream stream{seed, "mix"};
  const auto chance = [&](double p) { return stream.uniform() < p; };
  if (chance(0.4)) cluster.cluster.milli_cpus = stream.uniform_integer(1, 8) * 1000;
  const bool has_owner = cluster.cluster.servers > 1 && chance(0.4);
  if (has_owner) cluster.cluster.vcs.push_back({.servers = {0, 1}});
  for (JobSpec& job : cluster.jobs) {
    if (chance(0.3)) job.milli_cpus = static_cast<std::int32_t>(stream.uniform_integer(1, 3)) * 500;
    if (has_owner && chance(0.3)) job.vc = 0;
    if (chance(0.3)) job.gpu_share = static_cast<std::int32_t>(stream.uniform_integer(1, 4)) * 250;
    if (chance(0.3)) job.duration = Time::nanoseconds(stream.uniform_integer(0, 20) * 100'000);
  }
}

}  // namespace

TEST_CASE("searches through the indices find what the plain search finds, on random clusters") {
  Seen seen;
  const std::uint64_t cases = effort(std::uint64_t{300});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(seed);
    if (seed % 2 == 1) mix(cluster, seed);
    INFO(cluster.describe());
    const auto compare = [&](std::unique_ptr<PlacementPolicy> inner) {
      return std::make_unique<Comparing>(std::move(inner), seed, seen);
    };
    for (const bool leap : {false, true}) (void)cluster.run(leap, compare);
  }
  MESSAGE(seen.searches, " searches, ", seen.with_gaps, " over gaps, ", seen.loaded, " of loaded GPUs, ",
          seen.out_of_order, " not in order of ids, ", seen.timed, " for timed jobs, ", seen.shares, " for shares");
  CHECK(seen.searches > 15 * cases);
  CHECK(seen.with_gaps > cases);
  CHECK(seen.loaded > cases);
  CHECK(seen.out_of_order > cases / 2);
  CHECK(seen.timed > cases);
  CHECK(seen.shares > cases);
}

TEST_CASE("the first server of a tree whose value suffices is the server of a plain search") {
  RandomStream stream{1, "server-tree"};
  for (const std::size_t servers : {1U, 2U, 3U, 7U, 64U, 100U}) {
    ServerTree<Most> tree{servers};
    std::vector<int> plain(servers, -1);
    for (int round = 0; round < 300; ++round) {
      const auto at = static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(servers) - 1));
      plain[at] = static_cast<int>(stream.uniform_integer(-1, 9));
      tree.set(at, {plain[at]});
      REQUIRE(tree.at(1).value == *std::max_element(plain.begin(), plain.end()));
      const auto wanted = static_cast<int>(stream.uniform_integer(0, 10));
      for (std::size_t from = 0; from <= servers; ++from) {
        std::size_t expected = from;
        while (expected < servers && plain[expected] < wanted) ++expected;
        REQUIRE(tree.next(from, [&](const Most& most) { return most.value >= wanted; }) == expected);
      }
    }
  }
}
