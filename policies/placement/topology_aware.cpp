// Topology-aware placement uses as few switches as possible, then the least loaded uplinks. A job goes on the fullest
// server that has room for it. If no server has room, it goes to the lowest tier of the network with a group of servers
// that has room, and there to the group with the least room. Within the group it uses the fewest groups of the tier
// below, and so on down to the servers.
//
// Among the smallest sets of groups with enough room, the policy looks greedily for one whose uplinks carry few jobs:
// it takes the least loaded group first. The load of an uplink is the number of running jobs with GPUs on both sides of
// it.
//
// A job that no single server can take costs O(servers with free GPUs).
//
// `traffic-aware` weighs what the jobs send instead of counting them: the load of an uplink is the sum, over the
// running jobs with GPUs on both sides, of the bytes that a server of the job sends in a second when it is alone
// (PolicyContext::sent_per_second). That is what a ring over the job's servers sends over each uplink that it crosses,
// however its GPUs are divided. If it may use more groups than the fewest, it does so only where the fullest uplink of
// the groups then carries less.
//
// `groups` is the same for jobs whose ranks form groups that belong on one server (RankLayout): a server has room for
// whole groups only, on neighbouring GPUs where it can. As ranks are consecutive, a stage of a pipeline then fills
// neighbouring servers, the ranks with the same place in their groups have the same place on their servers (the same
// rail of a rail-optimised fabric), and stages follow each other from switch to switch. With `whole_stages` the lowest
// tier with a group that can hold a stage of the job (leaves, or islands with networks of their own) takes whole stages
// only: data-parallel groups then stay within one network, and only messages between stages go across, as Holmes wants
// it (Yang et al., arXiv 2312.03549).

#include "policies/placement/free_servers.hpp"
#include "policies/registry.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

namespace {

struct Part {
  std::uint32_t id;  // server or group
  std::int64_t room;
  std::int64_t load;
};

/// The fewest of these parts that have room for `needed` GPUs.
std::size_t fewest(const std::vector<Part>& parts, std::int64_t needed) {
  std::vector<std::int64_t> rooms;
  for (const Part& part : parts) rooms.push_back(part.room);
  std::sort(rooms.begin(), rooms.end(), std::greater<>{});
  std::size_t count = 0;
  for (std::int64_t room = 0; room < needed; ++count) room += rooms[count];
  return count;
}

/// Chooses `count` parts, at least fewest(), with room for `needed` >= 1 GPUs, or fewer if these have it. All parts
/// together must have room. The last part takes the remainder: among the parts with the least load, it is the one with
/// the least sufficient room.
void choose(std::vector<Part>& parts, std::int64_t needed, std::size_t count, std::vector<Part>& chosen) {
  chosen.clear();
  // The rooms of the parts not yet examined, largest first. After each choice, the largest of them must suffice for the
  // rest.
  std::vector<std::int64_t> rooms;
  for (const Part& part : parts) rooms.push_back(part.room);
  std::sort(rooms.begin(), rooms.end(), std::greater<>{});
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tuple{a.load, -a.room, a.id} < std::tuple{b.load, -b.room, b.id};
  });
  const auto is_chosen = [&](const Part& part) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const Part& other) { return other.id == part.id; });
  };
  for (const Part& part : parts) {
    if (chosen.size() + 1 == count || needed <= 0) break;
    const auto self = std::lower_bound(rooms.begin(), rooms.end(), part.room, std::greater<>{});
    rooms.erase(self);
    const auto others = static_cast<std::ptrdiff_t>(count - chosen.size() - 1);
    if (std::ssize(rooms) < others) continue;
    if (part.room + std::accumulate(rooms.begin(), rooms.begin() + others, std::int64_t{0}) < needed) continue;
    chosen.push_back(part);
    needed -= part.room;
  }
  std::sort(chosen.begin(), chosen.end(), [](const Part& a, const Part& b) {
    return std::tuple{-a.room, a.id} < std::tuple{-b.room, b.id};
  });
  if (needed <= 0) return;
  const Part* last = nullptr;
  for (const Part& part : parts) {
    if (part.room < needed || is_chosen(part)) continue;
    if (last == nullptr || std::tuple{part.load, part.room, part.id} < std::tuple{last->load, last->room, last->id}) {
      last = &part;
    }
  }
  CONTEND_CHECK(last != nullptr, "the parts have room together");
  chosen.push_back(*last);
}

class TopologyAware final : public PlacementPolicy {
 public:
  /// Keeps groups of ranks on one server if `by_groups`, and with `whole_stages` the ranks of a stage in one group of
  /// servers. A job may use `extra` groups more than the fewest of each tier, and adds `bytes_per_s` to its uplinks, or
  /// 1 if that is empty.
  TopologyAware(std::vector<std::vector<std::uint32_t>> tiers, bool by_groups, std::size_t extra = 0,
                std::vector<double> bytes_per_s = {}, bool whole_stages = false)
      : tiers_{std::move(tiers)},
        by_groups_{by_groups},
        whole_stages_{whole_stages},
        extra_{extra},
        bytes_per_s_{std::move(bytes_per_s)} {}

  // A job without groups may find a place where one with groups doesn't.
  [[nodiscard]] bool refuses_alike() const override { return !by_groups_; }
  [[nodiscard]] bool ignores_progress() const override { return true; }
  [[nodiscard]] bool takes_free_gpus() const override { return true; }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (asks_for_share(job)) return place_share(cluster, job, false, chosen);
    together_ = by_groups_ ? job.layout.together : 1;
    stage_ = whole_stages_ && job.layout.stage > 0 ? job.layout.stage : 1;
    find(cluster, job, chosen);
    if (!chosen.empty() || (together_ == 1 && stage_ == 1) || !job.layout.may_part) return;
    together_ = stage_ = 1;
    find(cluster, job, chosen);
  }

 private:
  void find(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) {
    FreeServers servers{cluster, job};
    if (const ServerId server = servers.fullest(job.gpus); server.valid()) {
      return servers.take_groups(server, job.gpus, together_, chosen);
    }
    std::vector<ServerId> found;
    servers.emptiest_first(INT_MAX, INT_MAX, found);
    std::erase_if(found, [&](ServerId server) { return room(servers, server) == 0; });
    if (tiers_.empty()) tiers_.assign(1, std::vector<std::uint32_t>(cluster.servers(), 0));
    forget_ended(cluster);
    find_stage_tier(cluster, job);
    std::vector<Part> parts;
    for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
      parts_of(servers, found, tier, parts);
      std::erase_if(parts, [&](const Part& part) { return part.room < job.gpus; });
      if (parts.empty()) continue;
      const Part least = *std::min_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
        return std::tuple{a.room, a.id} < std::tuple{b.room, b.id};
      });
      std::erase_if(found, [&](ServerId server) { return tiers_[tier][server.index()] != least.id; });
      fill(servers, found, tier, job.gpus, chosen);
      return remember(cluster, job.id, chosen);
    }
  }

  /// The GPUs of the server for whole groups.
  [[nodiscard]] int room(const FreeServers& servers, ServerId server) const {
    return servers.room(server) / together_ * together_;
  }

  /// Finds the lowest tier with a group that could hold a stage.
  void find_stage_tier(const ClusterView& cluster, const JobView& job) {
    stage_tier_ = tiers_.size();
    if (stage_ == 1) return;
    const int per_server = cluster.gpus_per_server(job.server_type);
    for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
      std::map<std::uint32_t, std::int64_t> gpus;
      for (const std::uint32_t group : tiers_[tier])
        if ((gpus[group] += per_server) >= stage_) return void(stage_tier_ = tier);
    }
  }

  /// Fills `parts` with the groups of a tier to which the servers belong, by id.
  void parts_of(const FreeServers& servers, const std::vector<ServerId>& found, std::size_t tier,
                std::vector<Part>& parts) const {
    std::map<std::uint32_t, std::int64_t> rooms;
    if (tier < stage_tier_) {
      for (const ServerId server : found) rooms[tiers_[tier][server.index()]] += room(servers, server);
    } else {
      std::map<std::uint32_t, std::pair<std::uint32_t, std::int64_t>> lower;  // group of this tier, and room
      for (const ServerId server : found) {
        auto& [above, sum] = lower[tiers_[stage_tier_][server.index()]];
        above = tiers_[tier][server.index()];
        sum += room(servers, server);
      }
      for (const auto& [group, of] : lower) rooms[of.first] += of.second / stage_ * stage_;
      std::erase_if(rooms, [](const auto& each) { return each.second == 0; });
    }
    parts.clear();
    for (const auto& [group, room] : rooms) {
      const auto load = load_.find({tier, group});
      parts.push_back({group, room, load == load_.end() ? 0 : load->second});
    }
  }

  /// Takes `needed` GPUs of the servers. The servers belong to one group of each tier from `above` on and have the
  /// room.
  void fill(FreeServers& servers, const std::vector<ServerId>& found, std::size_t above, std::int64_t needed,
            std::vector<GpuId>& chosen) const {
    std::vector<Part> parts, best;
    if (above > 0) {
      parts_of(servers, found, above - 1, parts);
    } else {
      for (const ServerId server : found) parts.push_back({server.value(), room(servers, server), 0});
    }
    const std::size_t least = fewest(parts, needed), most = above > 0 ? least + extra_ : least;
    choose(parts, needed, least, best);
    std::vector<Part> other;
    for (std::size_t count = least + 1; count <= std::min(most, parts.size()); ++count) {
      choose(parts, needed, count, other);
      if (fullest(other) < fullest(best)) best = other;
    }
    for (const Part& part : best) {
      const std::int64_t count = std::min(needed, part.room);
      needed -= count;
      if (above == 0) {
        servers.take_groups(ServerId{part.id}, static_cast<int>(count), together_, chosen);
        continue;
      }
      std::vector<ServerId> members;
      for (const ServerId server : found) {
        if (tiers_[above - 1][server.index()] == part.id) members.push_back(server);
      }
      fill(servers, members, above - 1, count, chosen);
    }
  }

  /// The largest load of an uplink of the groups.
  [[nodiscard]] static std::int64_t fullest(const std::vector<Part>& parts) {
    std::int64_t most = 0;
    for (const Part& part : parts) most = std::max(most, part.load);
    return most;
  }

  /// What the job adds to the load of an uplink that it crosses.
  [[nodiscard]] std::int64_t load_of(JobId job) const {
    return bytes_per_s_.empty() ? 1 : std::llround(bytes_per_s_[job.index()]);
  }

  void forget_ended(const ClusterView& cluster) {
    for (auto job = crossing_.begin(); job != crossing_.end();) {
      if (!cluster.gpus_of(job->first).empty()) {
        ++job;
        continue;
      }
      for (const auto& uplink : job->second) load_[uplink] -= load_of(job->first);
      job = crossing_.erase(job);
    }
  }

  /// Counts the job on the uplink of each group that holds some of its GPUs but not all.
  void remember(const ClusterView& cluster, JobId job, const std::vector<GpuId>& chosen) {
    std::vector<Uplink> uplinks;
    for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
      std::vector<Uplink> here;
      for (const GpuId gpu : chosen) here.emplace_back(tier, tiers_[tier][cluster.server_of(gpu).index()]);
      std::sort(here.begin(), here.end());
      here.erase(std::unique(here.begin(), here.end()), here.end());
      if (here.size() > 1) uplinks.insert(uplinks.end(), here.begin(), here.end());
    }
    if (uplinks.empty()) return;
    for (const Uplink& uplink : uplinks) load_[uplink] += load_of(job);
    crossing_[job] = std::move(uplinks);
  }

  using Uplink = std::pair<std::size_t, std::uint32_t>;  // tier and group below the uplink
  std::vector<std::vector<std::uint32_t>> tiers_;
  const bool by_groups_, whole_stages_;
  const std::size_t extra_;
  const std::vector<double> bytes_per_s_;          // by job, the traffic that it adds to an uplink; empty: each adds 1
  int together_ = 1;                               // ranks of the job at hand that belong on one server
  int stage_ = 1;                                  // and in one group of stage_tier_
  std::size_t stage_tier_ = 0;                     // the number of tiers: none
  std::map<JobId, std::vector<Uplink>> crossing_;  // running jobs that span groups
  std::map<Uplink, std::int64_t> load_;
};

std::vector<std::vector<std::uint32_t>> tiers_of(const PolicyContext& context) {
  return context.server_groups ? context.server_groups() : std::vector<std::vector<std::uint32_t>>{};
}

std::unique_ptr<PlacementPolicy> make_topology_aware(const Parameters&, const PolicyContext& context) {
  return std::make_unique<TopologyAware>(tiers_of(context), false);
}

std::unique_ptr<PlacementPolicy> make_traffic_aware(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<TopologyAware>(tiers_of(context), false,
                                         static_cast<std::size_t>(parameters.get<std::int64_t>("extra_groups")),
                                         context.sent_per_second ? context.sent_per_second() : std::vector<double>{});
}

std::unique_ptr<PlacementPolicy> make_groups(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<TopologyAware>(tiers_of(context), true, 0, std::vector<double>{},
                                         parameters.get<bool>("whole_stages"));
}

}  // namespace

PolicyRow<PlacementPolicy> topology_aware_placement() {
  return {.name = "topology-aware",
          .summary = "one server, else the fewest switches of the topology, then the least loaded uplinks",
          .source = "textbook",
          .make = make_topology_aware};
}

PolicyRow<PlacementPolicy> traffic_aware_placement() {
  static constexpr ParameterInfo kParameters[] = {
      {"extra_groups", std::int64_t{0}, 0, 1000,
       "switches of a tier that a job may use beyond the fewest, where their uplinks carry less"}};
  return {.name = "traffic-aware",
          .summary = "as topology-aware; the load of an uplink is the bytes a second that running jobs send over it",
          .source = "this project",
          .parameters = kParameters,
          .make = make_traffic_aware};
}

PolicyRow<PlacementPolicy> groups_placement() {
  static constexpr ParameterInfo kParameters[] = {
      {"whole_stages", false, 0, 0,
       "switches, or islands of network.islands, that can hold a pipeline stage take whole ones, or the job waits "
       "(Holmes)"}};
  return {.name = "groups",
          .summary = "as topology-aware; tensor-parallel groups lie on one server each, or the job waits",
          .source = "Narayanan et al., SC 2021, section 3; Dubey et al., arXiv 2407.21783, section 3.3",
          .parameters = kParameters,
          .make = make_groups};
}

}  // namespace contend
