#include "policies/scheduling/queue_policy.hpp"

#include <algorithm>

namespace contend {

QueuePolicy::QueuePolicy(AccountTree tree, Time requeue, int at_once)
    : accounts_{std::move(tree)},
      tree_{accounts_},
      requeue_{requeue},
      at_once_{at_once},
      waiting_(tree_.size()),
      admitted_(tree_.size()) {}

void QueuePolicy::queued(const JobView& view) {
  if (!in_pass_) return arrived_.push_back(view);
  QueuedJob& one = job(view.id);  // it was preempted
  one.view = view;
  release(one, now_);
  waits_again(one);
}

std::vector<std::size_t> QueuePolicy::path_to(std::size_t n) const {
  std::vector<std::size_t> nodes;
  for (; n != QueueTree::kNone; n = tree_.parent(n)) nodes.push_back(n);
  std::ranges::reverse(nodes);
  return nodes;
}

void QueuePolicy::insert(const JobView& view) {
  if (view.id.index() >= jobs_.size()) jobs_.resize(view.id.index() + 1);
  QueuedJob& one = job(view.id);
  one = {.view = view, .queue = tree_.node_of(view.vc), .evicted = one.evicted, .evictions = one.evictions};
  Lane& lane = waiting_[one.queue][{-std::int64_t{view.priority}, shapes_.of(view)}];
  lane.shape = shapes_.of(view);
  lane.jobs.insert(place_of(view));
}

void QueuePolicy::release(QueuedJob& gone, Time now) {
  admitted_[gone.queue].erase(gone.admitted);
  uses(gone, -gone.view.gpus, now);
  gone.admitted = 0;
  gone.runs = false;
  frees(gone.queue);
}

void QueuePolicy::settle(const ClusterView& cluster) {
  now_ = cluster.now();
  for (const JobId id : std::exchange(left_, {}))
    if (job(id).admitted > 0) release(job(id), now_);
  for (const JobView& view : std::exchange(arrived_, {})) insert(view);
  requeue(now_);
}

void QueuePolicy::resized(JobId id, const ClusterView& cluster) {
  QueuedJob& one = job(id);
  uses(one, -one.view.gpus, cluster.now());
  one.view = cluster.job(id);
  uses(one, one.view.gpus, cluster.now());
}

void QueuePolicy::admit(JobId id, Time now) {
  QueuedJob& one = job(id);
  Lanes& lanes = waiting_[one.queue];
  const auto lane = lanes.find({-std::int64_t{one.view.priority}, shapes_.of(one.view)});
  lane->second.jobs.erase(place_of(one.view));
  if (lane->second.jobs.empty()) lanes.erase(lane);
  one.admitted = ++admissions_;
  one.runs = false;
  admitted_[one.queue].emplace(one.admitted, id);
  uses(one, one.view.gpus, now);
}

void QueuePolicy::started(JobId id, Time now) {
  job(id).runs = true;
  job(id).since = now;
}

bool QueuePolicy::place(JobId id, SchedulingActions& actions, Time now) {
  if (!actions.start(id)) return false;
  started(id, now);
  return true;
}

void QueuePolicy::waits_again(QueuedJob& one) {
  one.evictions = one.evictions > 0 && one.evicted == now_ ? one.evictions + 1 : 1;
  one.evicted = now_;
  const bool waits_longer = one.evictions > at_once_ && requeue_ == Time{};
  evicted_.insert({waits_longer ? now_ + Time::nanoseconds(1) : now_ + requeue_, one.view.id});
}

void QueuePolicy::evict(JobId id, JobId by, SchedulingActions& actions, Time now) {
  QueuedJob& one = job(id);
  if (one.runs) return actions.preempt(id, by);  // queued() counts it
  release(one, now);
  waits_again(one);
}

bool QueuePolicy::start_taking(JobId id, std::span<const JobId> victims, SchedulingActions& actions, Time now) {
  if (!actions.start_preempting(id, victims)) return false;
  admit(id, now);
  started(id, now);
  return true;
}

void QueuePolicy::runs_again(JobId id, Time now) {
  std::erase_if(evicted_, [&](const auto& each) { return each.second == id; });
  insert(JobView{job(id).view});
  admit(id, now);
  started(id, now);
}

bool QueuePolicy::requeue(Time now) {
  bool any = false;
  while (!evicted_.empty() && evicted_.begin()->first <= now) {
    const JobView view = job(evicted_.begin()->second).view;
    evicted_.erase(evicted_.begin());
    insert(view);
    any = true;
  }
  return any;
}

void QueuePolicy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  settle(cluster);
  in_pass_ = true;
  decide(cluster, actions);
  if (actions.recording()) explain(cluster, actions);
  in_pass_ = false;
}

void QueuePolicy::explain(const ClusterView& cluster, SchedulingActions& actions) {
  for (const Lanes& lanes : waiting_)
    for (const auto& [key, lane] : lanes)
      for (const Place& waits : lane.jobs) {
        const auto [reason, by] = why(job(std::get<JobId>(waits)), cluster);
        actions.blocked(std::get<JobId>(waits), reason, by);
      }
  for (const auto& each : admitted_)
    for (const auto& [order, id] : each)
      if (!job(id).runs)
        actions.blocked(
            id, cluster.free_gpus_of_vc(job(id).view.vc) < demand_of(job(id).view) ? Why::no_gpus : Why::no_place);
  for (const auto& [time, id] : evicted_) actions.blocked(id, Why::between_decisions);
}

Time QueuePolicy::next_decision(const ClusterView& cluster) {
  Time next = next_of_policy(cluster);
  if (!evicted_.empty()) next = std::min(next, evicted_.begin()->first);
  return next == Time::never() ? next : std::max(next, cluster.now() + Time::nanoseconds(1));
}

}  // namespace contend
