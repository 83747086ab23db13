// Lucid (Hu et al., ASPLOS 2023, section 3) never preempts. Jobs come in order of the GPU time that they will need, the
// least first. One that finds no free GPUs may join a running job of as many GPUs which has its GPUs to itself, if both
// together are small enough: each job is tiny, medium or jumbo by the time for which it keeps its GPU busy, which
// counts 0, 1 and 2, and two jobs share if the sum is at most 2 (binary packing). Of several such jobs it joins the one
// with which the sum of the speeds is largest, then the one that came first. The CPUs and the memory of its servers
// have to suffice for both.
//
// The paper classifies jobs by a decision tree over measured utilisation, and estimates how long they take; here the
// class follows from `scheduling.sharing.profiles`, and the time is the true one.

#include "policies/registry.hpp"
#include "policies/scheduling/gpu_groups.hpp"
#include "policies/scheduling/host_room.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace contend {

namespace {

class Lucid final : public SchedulingPolicy {
 public:
  Lucid(double medium, double jumbo) : medium_{medium}, jumbo_{jumbo} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& view) override {
    const PolicyKey needed = view.remaining_service.ns();
    waiting_.emplace(std::pair{needed, view.tie}, view.id);
  }
  void left(JobId job) override {
    running_.erase(job);
    for (auto& [id, partner] : running_)
      if (partner == job) partner = JobId::none();
  }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const JobId job = at->second;
      if (actions.start(job)) {
        running_[job] = JobId::none();
      } else if (const JobId host = host_for(cluster, job); host.valid() && joins(cluster, actions, job, host)) {
        running_[job] = host;
        running_[host] = job;
      } else {
        actions.blocked(job, Why::no_place);
        ++at;
        continue;
      }
      at = waiting_.erase(at);
    }
  }

 private:
  static bool joins(const ClusterView& cluster, SchedulingActions& actions, JobId job, JobId host) {
    const auto held = cluster.gpus_of(host);
    return actions.start_at(job, std::vector<GpuId>{held.begin(), held.end()});
  }

  /// 0: tiny, 1: medium, 2: jumbo, or not known.
  [[nodiscard]] int size_class(const ClusterView& cluster, JobId job) const {
    const StageTimes stages = cluster.stages_of(job);
    const double all = std::accumulate(stages.begin(), stages.end(), 0.0);
    if (all == 0) return 2;
    const double busy = stages[kGpuStage] / all;
    return busy >= jumbo_ ? 2 : busy >= medium_ ? 1 : 0;
  }

  /// True if the servers of the running job have CPUs and memory left for the other job on the GPUs that it holds.
  static bool has_room(const ClusterView& cluster, JobId running, const JobView& other) {
    std::map<ServerId, int> ranks;
    for (const GpuId gpu : cluster.gpus_of(running)) ++ranks[cluster.server_of(gpu)];
    return std::ranges::all_of(ranks, [&](const auto& on) {
      return HostRoom::free_on(cluster, on.first).ranks(HostRoom::of_rank(other), on.second) == on.second;
    });
  }

  [[nodiscard]] JobId host_for(const ClusterView& cluster, JobId job) const {
    constexpr int kMostTogether = 2;
    const JobView view = cluster.job(job);
    if (!view.timed) return JobId::none();
    const int own = size_class(cluster, job);
    JobId best = JobId::none();
    double fastest = 0;
    std::int64_t tie = 0;
    for (const auto& [other, partner] : running_) {
      if (partner.valid()) continue;
      const JobView host = cluster.job(other);
      if (!host.timed || host.gpus != view.gpus || own + size_class(cluster, other) > kMostTogether) continue;
      const JobId both[] = {job, other};
      const double speed = joint_speed(cluster, both, host.server_type);
      if (speed < fastest || speed <= 0 || (speed == fastest && host.tie > tie)) continue;
      if (!has_room(cluster, other, view)) continue;
      best = other;
      fastest = speed;
      tie = host.tie;
    }
    return best;
  }

  double medium_, jumbo_;
  std::map<std::pair<PolicyKey, std::int64_t>, JobId> waiting_;
  std::map<JobId, JobId> running_;  // the job beside each, or none
};

std::unique_ptr<SchedulingPolicy> make_lucid(const Parameters& parameters, const PolicyContext&) {
  const auto medium = parameters.get<double>("medium"), jumbo = parameters.get<double>("jumbo");
  if (medium > jumbo)
    throw InputError{
        Complaint{.key = "policies.scheduling.medium", .reason = "medium jobs keep a GPU busier than jumbo ones"}};
  return std::make_unique<Lucid>(medium, jumbo);
}

}  // namespace

PolicyRow<SchedulingPolicy> lucid_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"medium", 0.4, 0, 1, "from this part of the time for which a job keeps its GPU busy it is medium, else tiny"},
      {"jumbo", 0.75, 0, 1, "from this part on it is jumbo"}};
  return {.name = "lucid",
          .summary = "shortest GPU time first, without preemption; small jobs share the GPUs of running ones",
          .source = "Hu et al., ASPLOS 2023",
          .parameters = kParameters,
          .make = make_lucid,
          .shares = GpuShares::by_profile};
}

}  // namespace contend
