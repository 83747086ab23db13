#include "policies/scheduling/in_order.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <functional>
#include <utility>

namespace contend {

void InOrder::queued(const JobView& job) {
  std::erase(running_, job.id);
  if (in_pass_) {
    preempted_.push_back(job);
  } else {
    insert(job);
  }
}

void InOrder::left(JobId job) {
  std::erase(running_, job);
}

/// Returns true if no job of the same shape can start now.
bool InOrder::is_hopeless(const ClusterView& cluster, const JobView& job) const {
  if (rules_.strict || rules_.preemptive || listens_) return false;
  return demand_of(job) > cluster.free_gpus_of_vc(job.vc) || job.gpus > cluster.quota_left(job.vc);
}

void InOrder::pass(const ClusterView& cluster, SchedulingActions& actions) {
  in_pass_ = true;
  listens_ = actions.recording();
  // A preemption frees GPUs and queues jobs, so the next round follows at once: the jobs behind the victims in the
  // order must not get the freed GPUs before them. The rounds come to an end because no job that started in this pass
  // becomes a victim.
  do {
    preempted_.clear();
    round(cluster, actions);
    for (const JobView& job : preempted_) insert(job);
  } while (!preempted_.empty());
  running_.insert(running_.end(), started_.begin(), started_.end());
  started_.clear();
  in_pass_ = false;
}

/// Visits the jobs in order, until one has taken the place of running jobs.
void InOrder::round(const ClusterView& cluster, SchedulingActions& actions) {
  const auto may_start = [&](const Lanes::Lane& lane) { return !is_hopeless(cluster, lane.example); };
  lanes_.begin_round(may_start);
  while (const Lanes::Place* next = lanes_.front(may_start)) {
    const JobId job = next->job;
    if (try_to_start(cluster, actions, job)) {
      lanes_.advance(Lanes::Outcome::started);
      if (!preempted_.empty()) return;
      continue;
    }
    const bool are_alike = !rules_.preemptive && !listens_ && actions.refused_alike();
    lanes_.advance(are_alike ? Lanes::Outcome::refused_alike : Lanes::Outcome::refused);
    if (rules_.strict) hold_back_behind(cluster, actions, job);
  }
}

void InOrder::hold_back_behind(const ClusterView& cluster, SchedulingActions& actions, JobId refused) {
  const auto is_isolated = [&](std::int32_t vc) {  // its jobs and jobs of others don't hold back each other
    return cluster.quota_left(vc) != INT_MAX;
  };
  const std::int32_t own = cluster.job(refused).vc;
  const auto is_held_back = [&](const Lanes::Lane& lane) {
    return lane.example.vc == own || (!is_isolated(own) && !is_isolated(lane.example.vc));
  };
  lanes_.end_round_if(is_held_back);
  if (!listens_) return;
  for (const auto& [shape, lane] : lanes_.by_shape()) {
    if (!is_held_back(lane)) continue;
    for (const Lanes::Place& place : lane.jobs) {
      if (place.job != refused) actions.blocked(place.job, Why::behind, refused);
    }
  }
}

bool InOrder::try_to_start(const ClusterView& cluster, SchedulingActions& actions, JobId job) {
  if (!actions.start(job) && !(rules_.preemptive && start_in_place_of_larger(cluster, actions, job))) {
    if (listens_) actions.blocked(job, why_not(cluster, cluster.job(job)));
    return false;
  }
  if (rules_.preemptive) started_.push_back(job);
  return true;
}

/// A job that has started in this pass stays: its key may have grown, because it started on a slow server, and two jobs
/// could take each other's GPUs for ever.
bool InOrder::start_in_place_of_larger(const ClusterView& cluster, SchedulingActions& actions, JobId id) {
  const PolicyKey own = key(cluster.job(id));
  std::vector<std::pair<PolicyKey, JobId>> larger;
  for (const JobId other : running_) {
    const PolicyKey its = key(cluster.job(other));
    if (its > own) larger.emplace_back(its, other);
  }
  std::sort(larger.begin(), larger.end(), std::greater<>{});
  std::vector<JobId> candidates;
  for (const auto& [its, other] : larger) candidates.push_back(other);
  return !candidates.empty() && actions.start_preempting(id, candidates);
}

Why InOrder::why_not(const ClusterView& cluster, const JobView& job) {
  if (cluster.quota_left(job.vc) < job.gpus) return Why::quota;
  return cluster.free_gpus_of_vc(job.vc) < demand_of(job) ? Why::no_gpus : Why::no_place;
}

}  // namespace contend
