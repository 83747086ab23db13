// Muri (Zhao et al., SIGCOMM 2022, sections 4 and 5) groups jobs that keep different resources busy, so that one reads
// while another computes. It orders jobs by what they have left (Muri-S, srsf) or have had (Muri-L, las), and takes so
// many of the first as would fill the cluster with `scheduling.sharing.most` jobs on each GPU. Among jobs of as many
// GPUs it matches jobs, then the groups that came of it, so that the sum of their efficiencies is largest (maximum
// weight matching). The efficiency of a group is the part of the time for which its resources are busy, which is the
// sum of its jobs' speeds over the number of resources.
//
// The cluster is what is in service of the servers that the jobs may use. Jobs beyond the quota of their virtual
// cluster, by the order of all, wait; each job counts for its quota, whether it shares its GPUs or not.
//
// Two groups are joined only where they do more together than either does alone, and where the placement policy has a
// place for all of their jobs on servers with CPUs and memory for them. If all jobs have room, none shares, and as long
// as GPUs are left over, the groups that gain least give one of their jobs GPUs of its own.

#include "network/matching.hpp"
#include "policies/registry.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/gpu_groups.hpp"
#include "policies/scheduling/room_left.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

struct MuriGroup {
  std::vector<JobId> jobs;  ///< in the order of the jobs
  std::size_t first = 0;    ///< place of the first in that order
  int gpus = 1;
  double speed = 1;  ///< joint_speed()
};

class Muri final : public SchedulingPolicy {
 public:
  Muri(bool by_attained, Time period, std::size_t window)
      : by_attained_{by_attained}, period_{period}, window_{window} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& view) override { jobs_[view.id] = view.tie; }
  void left(JobId job) override { jobs_.erase(job); }
  [[nodiscard]] bool idle_passes() const override { return true; }  // jobs that end leave others that could part
  [[nodiscard]] Time slice(int) const override { return period_; }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override {
    return period_ == Time{} || waiting_ == 0 ? Time::never() : cluster.now() + period_;
  }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    if (jobs_.empty()) return;
    std::vector<JobView> all;
    for (const auto& [id, tie] : jobs_) all.push_back(cluster.job(id));
    std::ranges::sort(all, {}, [&](const JobView& view) { return std::pair{rank(view), view.tie}; });
    std::vector<JobView> order;
    QuotasLeft quotas{cluster};
    std::int64_t wanted = 0;
    for (const JobView& view : all) {
      if (!quotas.take(view.vc, view.gpus)) continue;
      wanted += view.gpus;
      order.push_back(view);
    }
    const std::int64_t room = cluster.gpus_in_service(all.front().vc, -1);
    std::vector<MuriGroup> groups;
    if (wanted <= room) {
      for (std::size_t i = 0; i < order.size(); ++i) groups.push_back({{order[i].id}, i, order[i].gpus, 1});
    } else {
      groups = grouped(cluster, actions, order, room);
    }
    std::ranges::sort(groups, {}, &MuriGroup::first);
    choose(cluster, groups, room);
    std::ranges::stable_sort(groups, std::ranges::greater{}, &MuriGroup::gpus);
    std::vector<GpuGroup> made;
    for (const MuriGroup& group : groups) made.push_back({group.jobs, -1});
    std::vector<JobId> running;
    for (const JobView& view : all)
      if (view.running) running.push_back(view.id);
    run_groups(cluster, actions, made, running);
    waiting_ = 0;
    for (const JobView& view : all) {
      if (cluster.job(view.id).running) continue;
      ++waiting_;
      actions.blocked(view.id, Why::passed_over);
    }
  }

 private:
  [[nodiscard]] PolicyKey rank(const JobView& view) const {
    return by_attained_ ? view.attained_service.ns() : view.remaining_service.ns();
  }

  /// The first jobs that fill the cluster when they share it, in groups, and all others alone.
  [[nodiscard]] std::vector<MuriGroup> grouped(const ClusterView& cluster, SchedulingActions& actions,
                                               const std::vector<JobView>& order, std::int64_t room) const {
    std::map<int, std::vector<MuriGroup>> by_size;
    std::vector<MuriGroup> all;
    std::int64_t left = room * cluster.most_on_gpu();
    for (std::size_t i = 0; i < order.size(); ++i) {
      MuriGroup alone{{order[i].id}, i, order[i].gpus, 1};
      std::vector<MuriGroup>& alike = by_size[order[i].gpus];
      if (order[i].gpus > left || alike.size() >= window_) {
        all.push_back(std::move(alone));
        continue;
      }
      left -= order[i].gpus;
      alike.push_back(std::move(alone));
    }
    for (auto& [gpus, groups] : by_size) {
      for (int size = 1; size < cluster.most_on_gpu(); size *= 2) groups = matched(cluster, actions, std::move(groups));
      for (MuriGroup& group : groups) all.push_back(std::move(group));
    }
    return all;
  }

  /// The groups after one round of matching.
  [[nodiscard]] static std::vector<MuriGroup> matched(const ClusterView& cluster, SchedulingActions& actions,
                                                      std::vector<MuriGroup> groups) {
    constexpr double kScale = 1e9;
    const auto joined = [&](const MuriGroup& a, const MuriGroup& b) {
      MuriGroup both = a.first < b.first ? a : b;
      const MuriGroup& other = a.first < b.first ? b : a;
      both.jobs.insert(both.jobs.end(), other.jobs.begin(), other.jobs.end());
      return both;
    };
    WeightedGraph graph{groups.size()};
    std::vector<JobId> all;
    for (const MuriGroup& group : groups) all.insert(all.end(), group.jobs.begin(), group.jobs.end());
    SharedPlaces places{cluster, actions, all};
    for (std::size_t a = 0; a < groups.size(); ++a) {
      for (std::size_t b = a + 1; b < groups.size(); ++b) {
        const std::vector<JobId> jobs = joined(groups[a], groups[b]).jobs;
        const double speed = joint_speed(cluster, jobs, 0);
        if (speed > std::max(groups[a].speed, groups[b].speed) && places.could_share(jobs, -1))
          graph.set(a, b, std::llround(speed * kScale));
      }
    }
    const std::vector<std::size_t> partner = maximum_weight_matching(graph);
    std::vector<MuriGroup> made;
    for (std::size_t a = 0; a < groups.size(); ++a) {
      if (partner[a] == kUnmatched) {
        made.push_back(groups[a]);
      } else if (partner[a] > a) {
        made.push_back(joined(groups[a], groups[partner[a]]));
        made.back().speed = static_cast<double>(graph.weight(a, partner[a])) / kScale;
      }
    }
    return made;
  }

  /// Keeps the first groups that fit, and has jobs leave their groups for GPUs that are left over.
  static void choose(const ClusterView& cluster, std::vector<MuriGroup>& groups, std::int64_t room) {
    std::vector<MuriGroup> chosen;
    std::vector<JobView> all;
    for (const MuriGroup& group : groups)
      for (const JobId job : group.jobs) all.push_back(cluster.job(job));
    RoomLeft left{cluster, {static_cast<int>(room)}, all};
    for (MuriGroup& group : groups) {
      std::vector<JobView> jobs;
      for (const JobId job : group.jobs) jobs.push_back(cluster.job(job));
      if (!left.take(0, jobs)) continue;
      room -= group.gpus;
      chosen.push_back(std::move(group));
    }
    for (;;) {
      MuriGroup* least = nullptr;
      for (MuriGroup& group : chosen)
        if (group.jobs.size() > 1 && group.gpus <= room && (least == nullptr || group.speed < least->speed))
          least = &group;
      if (least == nullptr) break;
      MuriGroup alone{{least->jobs.back()}, least->first, least->gpus, 1};
      least->jobs.pop_back();
      least->speed = joint_speed(cluster, least->jobs, 0);
      room -= alone.gpus;
      chosen.push_back(std::move(alone));
    }
    groups = std::move(chosen);
  }

  bool by_attained_;
  Time period_;
  std::size_t window_;
  std::map<JobId, std::int64_t> jobs_;  // by job: JobView::tie
  std::size_t waiting_ = 0;
};

std::unique_ptr<SchedulingPolicy> make_muri(const Parameters& parameters, const PolicyContext&) {
  const auto order = parameters.get<std::string>("order");
  if (order != "srsf" && order != "las")
    throw InputError{Complaint{.key = "policies.scheduling.order",
                               .reason = fmt::format("expected srsf or las, got \"{}\"", order)}};
  return std::make_unique<Muri>(order == "las", Time::ceil_nanoseconds(parameters.get<double>("period_s") * 1e9),
                                static_cast<std::size_t>(parameters.get<std::int64_t>("window")));
}

}  // namespace

PolicyRow<SchedulingPolicy> muri_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"order", std::string_view{"srsf"}, 0, 0,
       "which jobs come first: srsf (the least GPU time left, Muri-S) or las (the least GPU time so far, Muri-L)"},
      {"period_s", 360.0, 0, 1e7,
       "decisions come when jobs arrive or end, and after this many seconds while jobs wait; 0: only when they arrive "
       "or "
       "end"},
      {"window", std::int64_t{256}, 2, 4096,
       "most jobs of one number of GPUs that are matched; the time of a decision grows with its cube"}};
  return {.name = "muri",
          .summary = "jobs that use different resources share GPUs, in groups of the largest efficiency",
          .source = "Zhao et al., SIGCOMM 2022",
          .parameters = kParameters,
          .make = make_muri,
          .one_type = true,
          .shares = GpuShares::by_law};
}

}  // namespace contend
