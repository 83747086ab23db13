#include "tests/effort.hpp"
#include "tests/policies/placement_kit.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

std::string placed_by(const Choice& choice, const std::vector<int>& free, int gpus) {
  PlacedCluster cluster{cluster_of(static_cast<int>(free.size()), 8)};
  cluster.leave_free(free);
  return placed(*placement(choice), cluster, gang(gpus));
}

const Choice kConsolidated{"consolidated", {}};
const Choice kBestFit{"consolidated", {{"best_fit_remainder", true}}};
const Choice kYarn{"yarn", {}};
const Choice kWorstFit{"worst-fit", {}};
const Choice kSpread{"spread", {}};

/// The reference applies the rules by sorting all servers.
struct Slow {
  const ClusterView& cluster;
  const JobView& job;
  std::vector<std::uint32_t> order{};  // servers, and GPUs taken there
  std::map<std::uint32_t, int> taken{};

  [[nodiscard]] int room(std::uint32_t s) const {
    const ServerId server{s};
    return static_cast<int>(std::min<std::int64_t>(cluster.free_gpus(server), cluster.ranks_by_host(server, job)));
  }
  [[nodiscard]] int free(std::uint32_t s) const { return cluster.free_gpus(ServerId{s}); }

  template <class Rank>
  bool take_best(int needed, Rank rank) {
    const ServerRange range = cluster.servers_for(job);
    std::vector<std::uint32_t> fitting;
    for (std::uint32_t s = range.first; s < range.last; ++s) {
      if (!taken.contains(s) && room(s) >= needed) fitting.push_back(s);
    }
    if (fitting.empty()) return false;
    const std::uint32_t best = *std::min_element(fitting.begin(), fitting.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair{rank(a), a} < std::pair{rank(b), b};
    });
    taken[best] = needed;
    order.push_back(best);
    return true;
  }

  [[nodiscard]] std::string text() const {
    std::string result;
    for (const std::uint32_t s : order) {
      result += (result.empty() ? "" : " ") + std::to_string(s) + ":" + std::to_string(taken.at(s));
    }
    return result.empty() ? "-" : result;
  }

  template <class Alone, class Remainder>
  std::string gangs(Alone alone, Remainder remainder) {
    const int per_server = static_cast<int>(cluster.gpus() / cluster.servers());
    const bool large = job.gpus > per_server;
    for (int i = 0; large && i < job.gpus / per_server; ++i) {
      // Only wholly free servers qualify. All fitting servers are alike then, and the first one is taken.
      if (!take_best(per_server, [](std::uint32_t) { return 0; })) return "-";
    }
    const int rest = large ? job.gpus % per_server : job.gpus;
    if (rest > 0 && !(large ? take_best(rest, remainder) : take_best(rest, alone))) return "-";
    return text();
  }

  std::string by_rule(const std::string& rule) {
    const auto full = [&](std::uint32_t s) { return free(s); };
    const auto empty = [&](std::uint32_t s) { return -free(s); };
    const auto first = [](std::uint32_t) { return 0; };
    if (rule == "consolidated") return gangs(full, empty);
    if (rule == "best fit") return gangs(full, full);
    if (rule == "yarn") return gangs(first, first);
    if (rule == "worst-fit") return gangs(empty, empty);
    if (rule == "first-fit") return first_fit();
    return spread();
  }

  std::string first_fit() {
    const ServerRange range = cluster.servers_for(job);
    int left = job.gpus;
    for (std::uint32_t s = range.first; s < range.last && left > 0; ++s) {
      const int count = std::min(left, room(s));
      if (count == 0) continue;
      taken[s] = count;
      order.push_back(s);
      left -= count;
    }
    return left == 0 ? text() : "-";
  }

  std::string spread() {
    const ServerRange range = cluster.servers_for(job);
    int left = job.gpus;
    while (left > 0) {
      // The next GPU goes to the server that has received the fewest, then to the one with the most free, then to the
      // first.
      std::vector<std::tuple<int, int, std::uint32_t>> candidates;
      for (std::uint32_t s = range.first; s < range.last; ++s) {
        if (taken[s] < room(s)) candidates.emplace_back(taken[s], -free(s), s);
      }
      if (candidates.empty()) return "-";
      ++taken[std::get<2>(*std::min_element(candidates.begin(), candidates.end()))];
      --left;
    }
    for (std::uint32_t s = range.first; s < range.last; ++s) {
      if (taken[s] > 0) order.push_back(s);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return free(a) > free(b); });
    return text();
  }
};

}  // namespace

TEST_CASE("consolidated: one server, the fullest that has room") {
  // Free GPUs: 5, 3, 8, 3. Three fit exactly on servers 1 and 3; the smaller id wins. Four go on server 0, six on
  // server 2.
  const std::vector<int> free{5, 3, 8, 3};
  CHECK(placed_by(kConsolidated, free, 1) == "1:1");
  CHECK(placed_by(kConsolidated, free, 3) == "1:3");
  CHECK(placed_by(kConsolidated, free, 4) == "0:4");
  CHECK(placed_by(kConsolidated, free, 6) == "2:6");
  // Nine need all of server 2 and one more GPU. Helios takes the servers in order of free GPUs, so server 0 is next;
  // the best fit is server 1. Twelve leave a remainder of four, for which only server 0 has room. Fourteen leave six.
  CHECK(placed_by(kConsolidated, free, 9) == "2:8 0:1");
  CHECK(placed_by(kBestFit, free, 9) == "2:8 1:1");
  CHECK(placed_by(kConsolidated, free, 12) == "2:8 0:4");
  CHECK(placed_by(kConsolidated, free, 14) == "-");
  CHECK(placed_by(kConsolidated, free, 16) == "-");  // 19 GPUs are free, but only one server is wholly free
  // Two whole servers for 17, and Helios' rule takes a third whole one for the last GPU.
  CHECK(placed_by(kConsolidated, {8, 8, 2, 8}, 17) == "0:8 1:8 3:1");
  CHECK(placed_by(kBestFit, {8, 8, 2, 8}, 17) == "0:8 1:8 2:1");
  CHECK(placed_by(kConsolidated, {7, 7}, 8) == "-");
}

TEST_CASE("yarn: the first server that has room") {
  const std::vector<int> free{2, 5, 8, 3, 8};
  CHECK(placed_by(kYarn, free, 1) == "0:1");
  CHECK(placed_by(kYarn, free, 3) == "1:3");
  CHECK(placed_by(kYarn, free, 6) == "2:6");
  CHECK(placed_by(kYarn, free, 8) == "2:8");
  CHECK(placed_by(kYarn, free, 9) == "2:8 0:1");
  CHECK(placed_by(kYarn, free, 12) == "2:8 1:4");
  CHECK(placed_by(kYarn, free, 14) == "2:8 4:6");
  CHECK(placed_by(kYarn, free, 16) == "2:8 4:8");
  CHECK(placed_by(kYarn, free, 17) == "2:8 4:8 0:1");
  CHECK(placed_by(kYarn, free, 24) == "-");
}

TEST_CASE("worst-fit: one server, the emptiest") {
  const std::vector<int> free{5, 3, 7, 7};
  CHECK(placed_by(kWorstFit, free, 1) == "2:1");
  CHECK(placed_by(kWorstFit, free, 7) == "2:7");
  CHECK(placed_by(kWorstFit, free, 8) == "-");
  CHECK(placed_by(kWorstFit, {5, 8, 6}, 10) == "1:8 2:2");
}

TEST_CASE("spread: one GPU on each of as many servers as possible") {
  // Free 2, 4, 3, 0. Rounds: 1, 2, 0; then 1, 2, 0 again; then 1, 2; then 1.
  const std::vector<int> free{2, 4, 3, 0};
  CHECK(placed_by(kSpread, free, 1) == "1:1");
  CHECK(placed_by(kSpread, free, 3) == "1:1 2:1 0:1");
  CHECK(placed_by(kSpread, free, 4) == "1:2 2:1 0:1");
  CHECK(placed_by(kSpread, free, 8) == "1:3 2:3 0:2");
  CHECK(placed_by(kSpread, free, 9) == "1:4 2:3 0:2");
  CHECK(placed_by(kSpread, free, 10) == "-");
}

TEST_CASE("a server without the CPUs or the memory for the job has no room") {
  // 8000 milli-CPUs: two GPUs at 3000 each leave room for no third. Four free GPUs on each of two servers.
  ClusterSpec spec = cluster_of(2, 4);
  spec.milli_cpus = 8000;
  PlacedCluster cluster{spec};
  JobView job = gang(2);
  job.milli_cpus = 3000;
  const auto policy = placement(kYarn);
  CHECK(placed(*policy, cluster, job) == "0:2");
  job.gpus = 3;
  CHECK(placed(*policy, cluster, job) == "-");
  CHECK(placed(*placement(kSpread), cluster, job) == "0:2 1:1");
  cluster.hold({GpuId{0u}}, job);
  job.gpus = 2;
  CHECK(placed(*policy, cluster, job) == "1:2");
}

TEST_CASE("GPU shares are packed on the GPU with the least share left that is enough; spread takes the most") {
  // Shares left: 1000, 300, 500, 1000.
  PlacedCluster cluster{cluster_of(2, 2)};
  JobView held = gang(1);
  held.gpu_share = 700;
  cluster.hold({GpuId{1u}}, held);
  held.gpu_share = 500;
  held.id = JobId{1u};
  cluster.hold({GpuId{2u}}, held);
  const auto where = [&](const char* policy, int share) {
    JobView job = gang(1, 9);
    job.gpu_share = share;
    std::vector<GpuId> chosen;
    placement({policy, {}})->place(cluster, job, chosen);
    return chosen.empty() ? -1 : static_cast<int>(chosen.front().value());
  };
  for (const char* policy : {"consolidated", "yarn", "consolidated-or-wait", "topology-aware"}) {
    CHECK(where(policy, 300) == 1);
    CHECK(where(policy, 301) == 2);
    CHECK(where(policy, 501) == 0);
  }
  CHECK(where("spread", 300) == 0);
  CHECK(where("worst-fit", 300) == 0);
  // Two GPUs have 501 left, which are enough for two ranks and too few for three.
  JobView ranks = gang(2, 9);
  ranks.gpu_share = 501;
  for (const char* policy : {"consolidated", "worst-fit", "spread"}) {
    std::vector<GpuId> chosen;
    placement({policy, {}})->place(cluster, ranks, chosen);
    CHECK(chosen == std::vector{GpuId{0u}, GpuId{3u}});
  }
  std::vector<GpuId> none;
  ranks.gpus = 3;
  placement({"spread", {}})->place(cluster, ranks, none);
  CHECK(none.empty());
  // A job takes whole GPUs only where no job holds a share.
  CHECK(placed(*placement(kYarn), cluster, gang(1)) == "0:1");
  CHECK(placed(*placement(kYarn), cluster, gang(2)) == "-");
  CHECK(placed(*placement(kSpread), cluster, gang(2)) == "0:1 1:1");
}

TEST_CASE("every rule chooses as its definition does on random clusters, within the servers of the job") {
  const std::map<std::string, Choice> rules{{"consolidated", kConsolidated},  {"best fit", kBestFit},
                                            {"first-fit", {"first-fit", {}}}, {"yarn", kYarn},
                                            {"worst-fit", kWorstFit},         {"spread", kSpread}};
  int waits = 0, placements = 0;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{300}); ++seed) {
    RandomStream random{seed, "test.gangs"};
    ClusterSpec spec =
        cluster_of(static_cast<int>(random.uniform_integer(1, 12)), static_cast<int>(random.uniform_integer(1, 8)));
    if (random.uniform() < 0.4) spec.milli_cpus = 1000 * random.uniform_integer(2, 12);
    if (random.uniform() < 0.4) {
      spec.vcs.resize(1);
      const auto first = static_cast<std::uint32_t>(random.uniform_integer(0, spec.servers - 1));
      spec.vcs[0].servers = {first, static_cast<std::uint32_t>(random.uniform_integer(first + 1, spec.servers))};
    }
    PlacedCluster cluster{spec};
    for (int step = 0; step < 40; ++step) {
      JobView job = gang(static_cast<int>(random.uniform_integer(1, 2 * spec.gpus_per_server + 1)),
                         static_cast<std::uint32_t>(step));
      job.milli_cpus = static_cast<std::int32_t>(1000 * random.uniform_integer(0, 2));
      if (!spec.vcs.empty()) job.vc = static_cast<std::int32_t>(random.uniform_integer(-1, 0));
      for (const auto& each : rules) {
        const auto& name = each.first;
        Slow slow{cluster, job};
        const std::string expected = slow.by_rule(name);
        INFO(name << " seed " << seed << " step " << step << ", GPUs " << job.gpus);
        CHECK(placed(*placement(each.second), cluster, job) == expected);
        (expected == "-" ? waits : placements) += 1;
      }
      std::vector<GpuId> chosen;
      auto rule = rules.begin();
      std::advance(rule, random.uniform_integer(0, std::ssize(rules) - 1));
      placement(rule->second)->place(cluster, job, chosen);
      if (!chosen.empty()) cluster.hold(chosen, job);
      const auto victim = JobId{static_cast<std::uint32_t>(random.uniform_integer(0, step))};
      if (random.uniform() < 0.5 && !cluster.gpus_of(victim).empty()) cluster.end(victim);
    }
  }
  CHECK(waits > 5000);
  CHECK(placements > effort(5000));
}

TEST_CASE("consolidated-or-wait wants to be asked again at the first deadline that is still to come") {
  PlacedCluster cluster{cluster_of(2, 2)};
  cluster.leave_free({1, 1});
  const auto policy = placement({"consolidated-or-wait", {{"patience_s", 10.0}}});
  CHECK(policy->next_decision(cluster) == Time::never());
  JobView first = gang(2, 1), second = gang(2, 2);
  second.since = Time::seconds(3);
  CHECK(placed(*policy, cluster, first) == "-");
  CHECK(placed(*policy, cluster, second) == "-");
  CHECK(policy->next_decision(cluster) == Time::seconds(10));
  cluster.time = Time::seconds(10) - Time::nanoseconds(1);
  CHECK(policy->next_decision(cluster) == Time::seconds(10));
  CHECK(placed(*policy, cluster, first) == "-");
  cluster.time = Time::seconds(10);
  CHECK(policy->next_decision(cluster) == Time::seconds(13));
  CHECK(placed(*policy, cluster, second) == "-");
  CHECK(placed(*policy, cluster, first) == "0:1 1:1");
  cluster.time = Time::seconds(13);
  CHECK(policy->next_decision(cluster) == Time::never());
}
