#include "policies/scheduling/in_order.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <functional>
#include <optional>
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

void InOrder::insert(const JobView& job) {
  const Demand demand{
      job.vc, job.gpus, job.gpu_share, job.milli_cpus, job.memory_per_gpu.count(), job.host_memory.count()};
  const auto [entry, is_new] = lane_of_.try_emplace(demand, lanes_.size());
  if (is_new) {
    lanes_.emplace_back();
    lanes_.back().demand = demand;
  }
  lanes_[entry->second].queue.insert({key(job), job.tie, job.id}, demand_of(job));
}

/// Returns true if no job of the lane can start now.
bool InOrder::is_hopeless(const ClusterView& cluster, const Lane& lane) const {
  if (rules_.strict || rules_.preemptive || listens_) return false;
  const Demand& demand = lane.demand;
  return (demand.share == kWholeGpu && demand.gpus > cluster.free_gpus_of_vc(demand.vc)) ||
         demand.gpus > cluster.quota_left(demand.vc);
}

void InOrder::pass(const ClusterView& cluster, SchedulingActions& actions) {
  in_pass_ = true;
  listens_ = actions.recording();
  // A preemption frees GPUs and queues jobs, so another round follows at the same instant. The rounds come to an end
  // because every victim has a larger key than the job that takes its place.
  do {
    preempted_.clear();
    round(cluster, actions);
    for (const JobView& job : preempted_) insert(job);
  } while (!preempted_.empty());
  in_pass_ = false;
}

void InOrder::round(const ClusterView& cluster, SchedulingActions& actions) {
  order_.clear();
  const auto is_later = [this](std::size_t a, std::size_t b) { return lanes_[b].next < lanes_[a].next; };
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    Lane& lane = lanes_[l];
    if (lane.queue.empty() || is_hopeless(cluster, lane)) continue;
    const std::int32_t vc = lane.demand.vc;
    lane.is_isolated = vc >= 0 && (cluster.quota_left(vc) != INT_MAX || cluster.owns_servers(vc));
    lane.is_dropped = false;
    lane.next = lane.queue.front();
    order_.push_back(l);
  }
  std::make_heap(order_.begin(), order_.end(), is_later);
  while (!order_.empty()) {
    std::pop_heap(order_.begin(), order_.end(), is_later);
    Lane& lane = lanes_[order_.back()];
    if (lane.is_dropped || is_hopeless(cluster, lane)) {  // within a round, the free GPUs only become fewer
      order_.pop_back();
      continue;
    }
    const bool started = try_to_start(cluster, actions, lane.next.job);
    if (!started) on_refused(actions, lane);
    const auto next = lane.is_dropped ? std::nullopt : lane.queue.next(lane.next, INT_MAX);
    if (started) lane.queue.erase(lane.next.job);
    if (next) {
      lane.next = *next;
      std::push_heap(order_.begin(), order_.end(), is_later);
    } else {
      order_.pop_back();
    }
  }
}

void InOrder::on_refused(SchedulingActions& actions, Lane& lane) {
  if (rules_.strict) {
    for (Lane& other : lanes_) {
      const bool is_apart = other.is_isolated || lane.is_isolated;
      if (is_apart && other.demand.vc != lane.demand.vc) continue;
      other.is_dropped = true;
      if (listens_) report_behind(actions, other, lane.next.job);
    }
  } else if (!rules_.preemptive && !listens_) {
    lane.is_dropped = actions.refused_alike();
  }
}

bool InOrder::try_to_start(const ClusterView& cluster, SchedulingActions& actions, JobId job) {
  if (!actions.start(job) && !(rules_.preemptive && start_in_place_of_larger(cluster, actions, job))) {
    if (listens_) actions.blocked(job, why_not(cluster, cluster.job(job)));
    return false;
  }
  if (rules_.preemptive) running_.push_back(job);
  return true;
}

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

void InOrder::report_behind(SchedulingActions& actions, const Lane& lane, JobId blocker) {
  for (auto place = lane.queue.first(INT_MAX); place; place = lane.queue.next(*place, INT_MAX)) {
    if (place->job != blocker) actions.blocked(place->job, Why::behind, blocker);
  }
}

}  // namespace contend
