// Placement by levels above the servers: the rules of schedulers by their worked examples, and what any placement
// policy makes of jobs that require levels, against a plain search.
#include "policies/placement/level_placement.hpp"
#include "tests/policies/placement_kit.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
using namespace contend::test;

namespace {

Level level_of(const std::string& name, const std::vector<int>& sizes) {
  Level level{name, {}};
  for (std::size_t d = 0; d < sizes.size(); ++d)
    level.domain.insert(level.domain.end(), static_cast<std::size_t>(sizes[d]), static_cast<std::uint32_t>(d));
  return level;
}

/// A policy of that name under levels.
std::unique_ptr<PlacementPolicy> levelled(const std::string& name, const LevelTree& levels, std::int64_t pod_gpus = 0) {
  PolicyContext context;
  context.levels = std::make_shared<const LevelTree>(levels);
  Choice choice{name, {}};
  if (pod_gpus > 0) choice.parameters = {{"pod_gpus", pod_gpus}};
  return make_level_placement(context.levels, make_policy(placement_policies(), choice, context));
}

/// A gang that asks for LevelTree::demands[index].
JobView asking(int gpus, std::int32_t index) {
  JobView job = gang(gpus);
  job.preferred_gpus = gpus;
  job.level = index;
  return job;
}

}  // namespace

// Leaves la = n1, n2; lb = n3 to n5; lc = n6 to n8 of a real slurmctld 22.05.8, with 4 GPUs each; here from 0.
TEST_CASE("slurm-tree: the nodes that Slurm chose") {
  LevelTree levels;
  levels.all = {level_of("leaf", {2, 3, 3})};
  const auto policy = levelled("slurm-tree", levels);
  const auto nodes = [&](const ClusterView& cluster, int count) { return placed(*policy, cluster, gang(4 * count)); };
  PlacedCluster idle{cluster_of(8, 4)};
  CHECK(nodes(idle, 1) == "0:4");
  CHECK(nodes(idle, 2) == "0:4 1:4");
  CHECK(nodes(idle, 3) == "2:4 3:4 4:4");
  CHECK(nodes(idle, 4) == "0:4 2:4 3:4 4:4");  // the most nodes first, then the smallest leaf for the last one
  CHECK(nodes(idle, 6) == "2:4 3:4 4:4 5:4 6:4 7:4");
  CHECK(nodes(idle, 9) == "-");
  // Together: 2, 1, 3; and 3, 2.
  PlacedCluster first{cluster_of(8, 4)};
  first.leave_free({0, 0, 4, 4, 4, 4, 4, 4});
  CHECK(nodes(first, 1) == "2:4");
  first.leave_free({4, 4, 0, 4, 4, 4, 4, 4});
  CHECK(nodes(first, 3) == "5:4 6:4 7:4");
  PlacedCluster second{cluster_of(8, 4)};
  second.leave_free({4, 4, 0, 0, 0, 4, 4, 4});
  CHECK(nodes(second, 2) == "0:4 1:4");
  // With one GPU of n4 in use, a job of one GPU goes to n1, and a whole node after it to n2.
  PlacedCluster used{cluster_of(8, 4)};
  used.leave_free({4, 4, 4, 3, 4, 4, 4, 4});
  CHECK(placed(*policy, used, gang(1)) == "0:1");
  used.leave_free({3, 4, 4, 4, 4, 4, 4, 4});
  CHECK(nodes(used, 1) == "1:4");
}

TEST_CASE("slurm-tree: leaves near the chosen ones come first") {
  // Leaves of two servers, blocks of two leaves. Three servers: no leaf suffices, block 0 has 3 and block 1 has 4: both
  // suffice, so the one with fewer; there leaf 1 with two servers, then leaf 0.
  LevelTree levels;
  levels.all = {level_of("leaf", {2, 2, 2, 2}), level_of("block", {4, 4})};
  PlacedCluster cluster{cluster_of(8, 4)};
  cluster.leave_free({4, 0, 4, 4, 4, 4, 4, 4});
  const auto policy = levelled("slurm-tree", levels);
  CHECK(placed(*policy, cluster, gang(12)) == "0:4 2:4 3:4");
  CHECK(placed(*policy, cluster, gang(16)) == "4:4 5:4 6:4 7:4");
}

TEST_CASE("slurm-block: the smallest block that suffices, of alike ones the last, and segment by segment") {
  // Base blocks of three servers, pairs of base blocks. Available: 3, 2, 3, 3.
  LevelTree levels;
  levels.all = {level_of("base", {3, 3, 3, 3}), level_of("pair", {6, 6})};
  levels.demands = {{.segment = 8, .segment_level = 0}};
  PlacedCluster cluster{cluster_of(12, 4)};
  cluster.leave_free({4, 4, 4, 0, 4, 4, 4, 4, 4, 4, 4, 4});
  const auto policy = levelled("slurm-block", levels);
  CHECK(placed(*policy, cluster, gang(8)) == "4:4 5:4");           // base block 1 has just two
  CHECK(placed(*policy, cluster, gang(12)) == "9:4 10:4 11:4");    // of 0, 2 and 3 the last
  CHECK(placed(*policy, cluster, gang(16)) == "0:4 1:4 2:4 4:4");  // pair 0 has five, pair 1 six
  CHECK(placed(*policy, cluster, gang(24)) == "6:4 7:4 8:4 9:4 10:4 11:4");
  // Seven servers fit no pair: base blocks of the cluster in at most two pairs.
  CHECK(placed(*policy, cluster, gang(28)) == "4:4 6:4 7:4 8:4 9:4 10:4 11:4");
  // Segments of two servers: base block 1 has just two, then the last of those with three.
  CHECK(placed(*policy, cluster, asking(24, 0)) == "4:4 5:4 9:4 10:4 6:4 7:4");
  CHECK(placed(*policy, cluster, asking(32, 0)) == "4:4 5:4 9:4 10:4 6:4 7:4 0:4 1:4");
  CHECK(placed(*policy, cluster, asking(40, 0)) == "-");  // eleven servers, and no room for a fifth segment
}

// K6: racks of one server with 5, 3 and 4 pods free.
TEST_CASE("kueue: best fit, then the largest first") {
  LevelTree levels;
  levels.all = {level_of("rack", {1, 1, 1})};
  levels.demands = {{.required = 0}, {.preferred = 0}};
  PlacedCluster cluster{cluster_of(3, 5)};
  cluster.leave_free({5, 3, 4});
  const auto policy = levelled("kueue", levels, 1);
  CHECK(placed(*policy, cluster, asking(3, 0)) == "1:3");
  CHECK(placed(*policy, cluster, asking(4, 0)) == "2:4");
  CHECK(placed(*policy, cluster, asking(5, 0)) == "0:5");
  CHECK(placed(*policy, cluster, asking(6, 0)) == "-");
  CHECK(placed(*policy, cluster, asking(6, 1)) == "0:5 1:1");
  CHECK(placed(*policy, cluster, asking(9, 1)) == "0:5 2:4");
  CHECK(placed(*policy, cluster, gang(6)) == "1:3 2:3");
}

TEST_CASE("kueue: slices lie in one rack each, and their pods on the servers with the least room") {
  // Pods of two GPUs. Rack 0 has room for two of them and rack 1 for three: a slice of two pods each.
  LevelTree levels;
  levels.all = {level_of("rack", {3, 3})};
  levels.demands = {{.segment = 4, .segment_level = 0}};
  PlacedCluster cluster{cluster_of(6, 4)};
  cluster.leave_free({3, 3, 0, 4, 2, 1});
  const auto policy = levelled("kueue", levels, 2);
  CHECK(placed(*policy, cluster, asking(8, 0)) == "0:2 1:2 4:2 3:2");
  CHECK(placed(*policy, cluster, asking(12, 0)) == "-");
}

// V4: racks of 16 GPUs, of which 4, 8 and 0 are in use; a gang of 8: 0.75, 1.0, 0.5.
TEST_CASE("volcano: of the lowest tier with room the domain that is used most; kai: the one with the least room") {
  LevelTree levels;
  levels.all = {level_of("rack", {2, 2, 2}), level_of("block", {6})};
  levels.demands = {{.required = 0}, {.required = 1}};
  PlacedCluster cluster{cluster_of(6, 8)};
  cluster.leave_free({8, 4, 8, 0, 8, 8});
  CHECK(placed(*levelled("volcano", levels, 1), cluster, asking(8, 0)) == "2:8");
  CHECK(placed(*levelled("kai", levels, 1), cluster, asking(8, 0)) == "2:8");
  // Asked for a block, Volcano tries racks first; KAI fills the fullest servers of the block.
  CHECK(placed(*levelled("volcano", levels, 1), cluster, asking(8, 1)) == "2:8");
  CHECK(placed(*levelled("kai", levels, 1), cluster, asking(8, 1)) == "1:4 0:4");
  // Racks of 2 and 8 servers, of which 12 of 16 and 16 of 64 GPUs are free: (4 + 8) / 16 < (48 + 8) / 64.
  levels.all = {level_of("rack", {2, 8})};
  levels.demands = {{.required = 0}};
  PlacedCluster uneven{cluster_of(10, 8)};
  uneven.leave_free({8, 4, 8, 8, 0, 0, 0, 0, 0, 0});
  CHECK(placed(*levelled("volcano", levels, 1), uneven, asking(8, 0)) == "2:8");
  CHECK(placed(*levelled("kai", levels, 1), uneven, asking(8, 0)) == "1:4 0:4");
}

TEST_CASE("consolidated under levels: the rack with the least room, else wait; a preferred rack, else the block") {
  LevelTree levels;
  levels.all = {level_of("rack", {2, 2, 2, 2}), level_of("block", {4, 4})};
  levels.demands = {{.required = 0}, {.preferred = 0}, {.required = 1, .preferred = 0}};
  PlacedCluster cluster{cluster_of(8, 4)};
  cluster.leave_free({4, 0, 4, 3, 4, 1, 0, 2});
  const auto policy = levelled("consolidated", levels);
  CHECK(placed(*policy, cluster, asking(4, 0)) == "0:4");      // rack 0 has just four
  CHECK(placed(*policy, cluster, asking(5, 0)) == "4:4 5:1");  // rack 2 has five, rack 1 seven
  CHECK(placed(*policy, cluster, asking(8, 0)) == "-");
  CHECK(placed(*policy, cluster, asking(8, 1)) == "0:4 2:4");       // block 0 has eleven, block 1 seven
  CHECK(placed(*policy, cluster, asking(12, 1)) == "0:4 2:4 4:4");  // no block: anywhere
  CHECK(placed(*policy, cluster, asking(12, 2)) == "-");
}

namespace {

/// A plain search over rooms: can a job of so many ranks lie as the demand says?
class PlainSearch {
 public:
  PlainSearch(const LevelTree& levels, std::vector<int> rooms) : levels_{levels}, rooms_{std::move(rooms)} {}

  [[nodiscard]] bool has_place(const LevelDemand& demand, int ranks) const {
    if (demand.required < 0) return fits_on(all(), demand, ranks);
    std::map<std::uint32_t, std::vector<std::size_t>> domains;
    for (const std::size_t s : all())
      domains[levels_.all[static_cast<std::size_t>(demand.required)].domain[s]].push_back(s);
    return std::ranges::any_of(domains, [&](const auto& each) { return fits_on(each.second, demand, ranks); });
  }

 private:
  [[nodiscard]] std::vector<std::size_t> all() const {
    std::vector<std::size_t> servers(rooms_.size());
    for (std::size_t s = 0; s < servers.size(); ++s) servers[s] = s;
    return servers;
  }
  [[nodiscard]] bool fits_on(const std::vector<std::size_t>& servers, const LevelDemand& demand, int ranks) const {
    std::map<std::uint32_t, int> parts;
    for (const std::size_t s : servers)
      parts[demand.segment == 0 ? 0 : levels_.all[static_cast<std::size_t>(demand.segment_level)].domain[s]] +=
          rooms_[s];
    std::vector<int> segments;
    for (int left = ranks; left > 0; left -= segments.back())
      segments.push_back(demand.segment == 0 ? left : std::min(left, demand.segment));
    std::vector<int> rooms;
    for (const auto& [id, room] : parts) rooms.push_back(room);
    return packs(segments, 0, rooms);
  }
  /// Tries every domain for each segment.
  static bool packs(const std::vector<int>& segments, std::size_t next, std::vector<int>& rooms) {
    if (next == segments.size()) return true;
    std::set<int> tried;
    for (int& room : rooms) {
      if (room < segments[next] || !tried.insert(room).second) continue;
      room -= segments[next];
      const bool is_packed = packs(segments, next + 1, rooms);
      room += segments[next];
      if (is_packed) return true;
    }
    return false;
  }

  const LevelTree& levels_;
  std::vector<int> rooms_;
};

/// Random levels that nest, over so many servers.
LevelTree random_levels(RandomStream& stream, int servers) {
  LevelTree levels;
  std::vector<int> sizes;
  for (int left = servers; left > 0; left -= sizes.back())
    sizes.push_back(std::min(left, static_cast<int>(stream.uniform_integer(1, 4))));
  levels.all.push_back(level_of("rack", sizes));
  std::vector<int> blocks;
  for (std::size_t next = 0; next < sizes.size();) {
    int size = 0;
    for (auto count = stream.uniform_integer(1, 3); count > 0 && next < sizes.size(); --count) size += sizes[next++];
    blocks.push_back(size);
  }
  levels.all.push_back(level_of("block", blocks));
  return levels;
}

LevelDemand random_demand(RandomStream& stream) {
  LevelDemand demand{.required = static_cast<int>(stream.uniform_integer(-1, 1))};
  if (demand.required != 0 && stream.uniform_integer(0, 1) == 0) demand.preferred = 0;
  if (stream.uniform_integer(0, 1) == 0) {
    demand.segment = static_cast<int>(stream.uniform_integer(1, 6));
    demand.segment_level = static_cast<int>(stream.uniform_integer(0, 1));
  }
  return demand;
}

/// The lowest level in one domain of which these servers lie; the number of levels: none.
std::size_t lies_in(const LevelTree& levels, const std::vector<std::size_t>& servers) {
  std::size_t level = 0;
  while (level < levels.all.size() && !std::ranges::all_of(servers, [&](std::size_t s) {
           return levels.all[level].domain[s] == levels.all[level].domain[servers.front()];
         }))
    ++level;
  return level;
}

}  // namespace

TEST_CASE("levels: jobs have a place where a plain search finds one, and in the lowest level that they prefer") {
  RandomStream stream{7, "levels"};
  int had_place = 0, had_none = 0, were_segmented = 0;
  for (int run = 0; run < 200; ++run) {
    const int servers = static_cast<int>(stream.uniform_integer(4, 12)), per_server = run % 2 == 0 ? 1 : 4;
    LevelTree levels = random_levels(stream, servers);
    levels.demands = {random_demand(stream)};
    const LevelDemand demand = levels.demands[0];
    if (demand == LevelDemand{}) continue;
    std::vector<int> free;
    for (int s = 0; s < servers; ++s) free.push_back(static_cast<int>(stream.uniform_integer(0, per_server)));
    PlacedCluster cluster{cluster_of(servers, per_server)};
    cluster.leave_free(free);
    const int gpus = static_cast<int>(stream.uniform_integer(1, per_server == 1 ? 6 : 16));
    const PlainSearch search{levels, free};
    const bool has_place = search.has_place(demand, gpus);
    // These take whatever GPUs are free; on servers of one GPU all policies do.
    std::vector<std::pair<std::string, std::int64_t>> policies{{"spread", 0}, {"first-fit", 0}, {"random", 0},
                                                               {"kueue", 1},  {"kai", 1},       {"volcano", 1}};
    if (per_server == 1)
      for (const char* const name : {"consolidated", "yarn", "topology-aware", "slurm-tree"})
        policies.push_back({name, 0});
    for (const auto& policy : policies) {
      const std::string& name = policy.first;
      CAPTURE(run);
      CAPTURE(name);
      std::vector<GpuId> chosen;
      levelled(name, levels, policy.second)->place(cluster, asking(gpus, 0), chosen);
      REQUIRE(chosen.empty() != has_place);
      if (!has_place) continue;
      std::vector<std::size_t> on;
      std::vector<ServerId> ids;
      for (const GpuId gpu : chosen) {
        on.push_back(cluster.server_of(gpu).index());
        ids.push_back(cluster.server_of(gpu));
      }
      CHECK(lies_right(levels, demand, ids));
      CHECK(has_room(levels, demand, gpus, free));
      if (demand.required >= 0) CHECK(lies_in(levels, on) <= static_cast<std::size_t>(demand.required));
      if (demand.segment > 0)
        for (std::size_t first = 0; first < on.size(); first += static_cast<std::size_t>(demand.segment)) {
          const std::size_t last = std::min(on.size(), first + static_cast<std::size_t>(demand.segment));
          CHECK(lies_in(levels, {on.begin() + static_cast<std::ptrdiff_t>(first),
                                 on.begin() + static_cast<std::ptrdiff_t>(last)}) <=
                static_cast<std::size_t>(demand.segment_level));
        }
      if (demand.preferred < 0 || name == "volcano") continue;  // which goes from there to the cluster
      LevelDemand lowest = demand;
      lowest.required = demand.preferred;
      while (lowest.required < 2 && !search.has_place(lowest, gpus)) ++lowest.required;
      if (lowest.required < 2) CHECK(lies_in(levels, on) <= static_cast<std::size_t>(lowest.required));
    }
    ++(has_place ? had_place : had_none);
    were_segmented += demand.segment > 0 ? 1 : 0;
  }
  CHECK(had_place > 50);
  CHECK(had_none > 20);
  CHECK(were_segmented > 50);
}
