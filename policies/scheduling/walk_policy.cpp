#include "policies/scheduling/walk_policy.hpp"

#include <algorithm>
#include <utility>

namespace contend {

void WalkPolicy::queued(const JobView& view) {
  const auto [at, is_new] = jobs_.try_emplace(view.id);
  WalkJob& job = at->second;
  if (!is_new) job_stopped(job);
  job.view = view;
  job.running = false;
  if (cluster_ == nullptr) {  // during a pass, a job that queues was preempted and already has a walk
    arrived_.push_back(view.id);
    return;
  }
  walks_[job.walk].jobs.add_waiting(waiting_rank(job), shapes_.of(view), width_of(view));
  newcomers_.push_back(view.id);
}

void WalkPolicy::left(JobId id) {
  const auto at = jobs_.find(id);
  job_stopped(at->second);
  job_ended(at->second);
  walks_[at->second.walk].jobs.remove(id);
  jobs_.erase(at);
}

void WalkPolicy::admit(const ClusterView& cluster) {
  for (const JobId id : std::exchange(arrived_, {})) {
    WalkJob& job = jobs_.at(id);
    job.is_new = true;
    job.walk = pools_.of(cluster, job.view);
    if (job.walk == walks_.size()) walks_.push_back({GreedyWalk{Pools::capacity(cluster, job.view)}, {}});
    walks_[job.walk].jobs.add_waiting(waiting_rank(job), shapes_.of(job.view), width_of(job.view));
    newcomers_.push_back(id);
  }
}

void WalkPolicy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  now_ = cluster.now();
  cluster_ = &cluster;
  newcomers_.clear();
  no_place_.clear();
  admit(cluster);
  // If all waiting jobs fit, no job is preempted and the order of the running jobs has no effect yet.
  was_tight_ = std::any_of(walks_.begin(), walks_.end(), [](const Walk& walk) { return walk.jobs.is_tight(); });
  if (was_tight_ || sees_every_event()) before_walks(cluster);
  for (Walk& walk : walks_) run(walk, actions);
  std::erase_if(newcomers_, [&](JobId id) { return jobs_.at(id).running; });
  if (actions.recording()) explain(actions);
  after_walks(cluster);
  for (const JobId id : newcomers_) jobs_.at(id).is_new = false;
  cluster_ = nullptr;
  ++passes_;
}

void WalkPolicy::run(Walk& walk, SchedulingActions& actions) {
  do {
    changes_.clear();
    walk.jobs.settle(now_, *this, changes_);
  } while (!carry_out(walk, actions));
  try_stranded(walk, actions);
  walk.jobs.end_pass();
}

bool WalkPolicy::carry_out(Walk& walk, SchedulingActions& actions) {
  bool has_preempted = false;
  JobId starting;  // the last job that starts before the preempted one in the walk
  for (const GreedyWalk::Change& change : changes_) {
    if (change.starts) {
      starting = change.job;
      continue;
    }
    has_preempted = true;
    actions.preempt(change.job, starting);
  }
  bool all_started = true;
  for (const GreedyWalk::Change& change : changes_) {
    if (!change.starts) continue;
    if (actions.start(change.job)) {
      mark_started(change.job);
      continue;
    }
    all_started = false;
    walk.jobs.refuse(change);
    no_place_.insert(change.job);
    if (!has_preempted) continue;
    walk.jobs.hold(change.job);
    walk.stranded.insert(change.waiting);
  }
  return all_started;
}

void WalkPolicy::try_stranded(Walk& walk, SchedulingActions& actions) {
  std::set<std::int32_t> refused;
  for (auto at = walk.stranded.begin(); at != walk.stranded.end();) {
    const JobId id = at->job;
    const JobView& view = jobs_.at(id).view;
    const bool may_fit = width_of(view) <= walk.jobs.free() && !refused.contains(shapes_.of(view));
    if (!may_fit || !actions.start(id)) {
      if (may_fit) {
        refused.insert(shapes_.of(view));
        no_place_.insert(id);
      }
      ++at;
      continue;
    }
    at = walk.stranded.erase(at);
    walk.jobs.run_held(id, *this);
    mark_started(id);
  }
}

MovingRank WalkPolicy::when_started(const Rank& waiting) {
  return running_rank(jobs_.at(waiting.job), waiting);
}

void WalkPolicy::mark_started(JobId id) {
  WalkJob& job = jobs_.at(id);
  job.running = true;
  job.is_new = false;
  job.since = now_;
  job_started(job);
}

void WalkPolicy::explain(SchedulingActions& actions) {
  for (const auto& [id, waiting] : jobs_) {
    if (waiting.running) continue;
    const GreedyWalk& walk = walks_[waiting.walk].jobs;
    if (no_place_.contains(id) || width_of(waiting.view) <= walk.free()) {  // a job of its shape was refused
      actions.blocked(id, Why::no_place);
      continue;
    }
    const Rank place = walk.place(id, now_);
    const std::optional<Rank> before = is_preemptive() ? walk.last_running_before(&place, now_) : std::nullopt;
    actions.blocked(id, before ? Why::outranked : Why::no_gpus, before ? before->job : JobId::none());
  }
}

}  // namespace contend
