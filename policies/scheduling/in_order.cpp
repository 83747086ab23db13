#include "policies/scheduling/in_order.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <functional>
#include <utility>

namespace contend {

bool Eviction::would_fit(const ClusterView& cluster, GpuId gpu, const JobView& job, const std::vector<JobId>& victims) {
  on_gpu_.clear();
  cluster.jobs_on(gpu, on_gpu_);
  Bytes memory = cluster.free_memory(gpu);
  int share = cluster.free_share(gpu);
  bool is_left = false;
  bool is_reserved = false;
  for (const JobId id : on_gpu_) {
    const JobView holder = cluster.job(id);
    if (std::find(victims.begin(), victims.end(), id) != victims.end()) {
      memory += holder.memory_per_gpu;
      share += holder.gpu_share;
    } else {
      is_left = true;
      is_reserved = is_reserved || holder.gpu_share > 0;
    }
  }
  if (!is_left) return true;
  if (job.gpu_share == 0) return !is_reserved && memory >= job.memory_per_gpu;
  return is_reserved && share >= job.gpu_share;
}

bool Eviction::choose(const ClusterView& cluster, const JobView& job, const std::vector<Candidate>& candidates,
                      std::vector<JobId>& victims) {
  victims.clear();
  const ServerRange servers = cluster.servers_for(job);
  const std::size_t per_server = cluster.gpus() / cluster.servers();
  int room = 0;
  int quota = cluster.quota_left(job.vc);
  const bool lacks_quota = quota < job.gpus;
  fits_.assign(cluster.gpus(), 0);
  for (std::size_t g = servers.first * per_server; g < servers.last * per_server; ++g) {
    fits_[g] = cluster.fits(GpuId{g}, job) ? 1 : 0;
    room += fits_[g];
  }
  for (const Candidate& candidate : candidates) {
    if (room >= job.gpus && quota >= job.gpus) break;
    const auto gpus = cluster.gpus_of(candidate.job);
    const bool shares_quota = cluster.job(candidate.job).vc == job.vc;
    if (!servers.contains(cluster.server_of(gpus.front())) || (lacks_quota && !shares_quota)) continue;
    victims.push_back(candidate.job);
    if (lacks_quota) quota += static_cast<int>(gpus.size());
    for (const GpuId gpu : gpus) {
      if (fits_[gpu.index()] != 0 || !would_fit(cluster, gpu, job, victims)) continue;
      fits_[gpu.index()] = 1;
      ++room;
    }
  }
  if (room >= job.gpus && quota >= job.gpus) return true;
  victims.clear();
  return false;
}

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
  const auto lane = static_cast<std::size_t>(job.vc + 1);
  while (lanes_.size() <= lane) {
    lanes_.emplace_back();
    lanes_.back().vc = static_cast<std::int32_t>(lanes_.size()) - 2;
  }
  lanes_[lane].queue.insert({key(job), job.tie, job.id}, demand_of(job));
}

int InOrder::limit(const ClusterView& cluster, const Lane& lane) const {
  if (rules_.strict || rules_.preemptive || listens_) return INT_MAX;
  return std::min(cluster.free_gpus_of_vc(lane.vc), cluster.quota_left(lane.vc));
}

void InOrder::find_next(const ClusterView& cluster, Lane& lane, const OrderedQueue::Place* after) {
  const auto found =
      after == nullptr ? lane.queue.first(limit(cluster, lane)) : lane.queue.next(*after, limit(cluster, lane));
  lane.has_next = found.has_value();
  if (found) lane.next = *found;
}

InOrder::Lane* InOrder::first_lane() {
  Lane* first = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.has_next && (first == nullptr || lane.next < first->next)) first = &lane;
  }
  return first;
}

void InOrder::pass(const ClusterView& cluster, SchedulingActions& actions) {
  in_pass_ = true;
  listens_ = actions.recording();
  pushed_.clear();
  // What a preemption frees or queues is for another round at the same instant. A job pushes others out only once in
  // it, so that this comes to an end.
  do {
    preempted_.clear();
    round(cluster, actions);
    for (const JobView& job : preempted_) insert(job);
  } while (!preempted_.empty());
  in_pass_ = false;
}

void InOrder::round(const ClusterView& cluster, SchedulingActions& actions) {
  for (Lane& lane : lanes_) {
    lane.is_isolated = lane.vc >= 0 && (cluster.quota_left(lane.vc) != INT_MAX || cluster.owns_servers(lane.vc));
    find_next(cluster, lane, nullptr);
  }
  while (Lane* lane = first_lane()) {
    const OrderedQueue::Place place = lane->next;
    if (try_to_start(cluster, actions, place.job)) {
      lane->queue.erase(place.job);
    } else if (rules_.strict) {
      for (Lane& other : lanes_) {
        if (&other != lane && (other.is_isolated || lane->is_isolated)) continue;
        other.has_next = false;
        if (listens_) report_behind(actions, other, place.job);
      }
      continue;
    }
    find_next(cluster, *lane, &place);
  }
}

bool InOrder::try_to_start(const ClusterView& cluster, SchedulingActions& actions, JobId job) {
  if (!actions.start(job) && !(rules_.preemptive && make_room(cluster, actions, job) && actions.start(job))) {
    if (listens_) actions.blocked(job, why_not(cluster, cluster.job(job)));
    return false;
  }
  if (rules_.preemptive) running_.push_back(job);
  return true;
}

bool InOrder::make_room(const ClusterView& cluster, SchedulingActions& actions, JobId id) {
  if (std::count(pushed_.begin(), pushed_.end(), id) > 0) return false;
  const JobView job = cluster.job(id);
  const std::int64_t own = key(job);
  candidates_.clear();
  for (const JobId other : running_) {
    const std::int64_t its = key(cluster.job(other));
    if (its > own) candidates_.push_back({its, other});
  }
  std::sort(candidates_.begin(), candidates_.end(), std::greater<>{});
  if (!eviction_.choose(cluster, job, candidates_, victims_)) return false;
  pushed_.push_back(id);
  for (const JobId victim : victims_) actions.preempt(victim, id);
  return true;
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
