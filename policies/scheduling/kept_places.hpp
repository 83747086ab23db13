#pragma once
// KeptPlaces has a place for each of several jobs at every time of their plans (gpu_plan.hpp), so that plans in numbers
// of GPUs can be carried out whatever the placement policy makes of them. Jobs may move: where
// some jobs find no place beside the others, more and more of the others get new places, too, the smallest jobs first.

#include "policies/scheduling/elastic_policy.hpp"
#include "policies/scheduling/gpu_plan.hpp"
#include "sim/scheduling.hpp"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace contend {

/// The plan of a job, from now on.
struct PlannedJobGpus {
  const ElasticJob* job = nullptr;
  const GpuPlan* plan = nullptr;
};

class KeptPlaces {
 public:
  /// SchedulingActions::plan_together().
  using Finder = std::function<bool(std::span<SizedClaim>)>;

  /// Finds places for the plans, which begin now and end, while no other job of `running` has GPUs. Jobs stay where
  /// they are, with the GPUs that they have at first and later in the plan, as long as their number stays the same and
  /// all find a place so. Nothing if that can't be done.
  [[nodiscard]] static std::optional<KeptPlaces> find(std::span<const PlannedJobGpus> plans,
                                                      std::span<const SizedClaim> running, const PlanTimes& times,
                                                      const Finder& finder);

  /// What is kept at that time.
  [[nodiscard]] std::vector<SizedClaim> at(Time now) const;
  /// The numbers of GPUs that are kept for the job from that time on.
  [[nodiscard]] GpuPlan plan_of(JobId job, Time now) const;
  /// Keeps nothing for other jobs any more.
  void keep_only(const std::set<JobId>& jobs);

 private:
  struct Stretch {
    Time from;  // until the next one begins
    std::vector<SizedClaim> claims;
  };
  std::vector<Stretch> stretches_;
};

}  // namespace contend
