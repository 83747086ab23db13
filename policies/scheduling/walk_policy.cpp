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
  if (cluster_ == nullptr) {
    arrived_.push_back(view.id);
    return;
  }
  // During a pass, a job that queues was preempted, by decision of the walk, which it has left then, or for want of a
  // place.
  forget_refusals_beside(job.walk);
  GreedyWalk& walk = walks_[job.walk];
  std::erase_if(started_, [&](const MovingRank& place) { return place.rank.job == view.id; });
  if (walk.contains(view.id)) {
    gave_way_.push_back(walk.place(view.id, now_));
    walk.remove(view.id, now_);
    return;
  }
  const auto decided =
      std::find_if(changes_.begin(), changes_.end(), [&](const auto& c) { return c.job() == view.id; });
  gave_way_.push_back(GreedyWalk::place(decided->before, now_));
  changes_.erase(decided);
}

void WalkPolicy::left(JobId id) {
  const auto at = jobs_.find(id);
  job_stopped(at->second);
  job_ended(at->second);
  forget_refusals_beside(at->second.walk);
  walks_[at->second.walk].remove(id, now_);
  jobs_.erase(at);
}

/// Jobs of different walks may share servers, so what one gives up may serve another.
void WalkPolicy::forget_refusals_beside(std::uint32_t walk) {
  for (std::uint32_t other = 0; other < walks_.size(); ++other) {
    if (other != walk) walks_[other].forget_refusals();
  }
}

void WalkPolicy::admit(const ClusterView& cluster) {
  for (const JobId id : std::exchange(arrived_, {})) {
    WalkJob& job = jobs_.at(id);
    job.is_new = true;
    job.walk = pools_.of(cluster, job.view);
    if (job.walk == walks_.size()) walks_.emplace_back(Pools::capacity(cluster, job.view));
    walks_[job.walk].add_waiting(waiting_rank(job), shapes_.of(job.view), width_of(job.view));
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
  was_tight_ = std::any_of(walks_.begin(), walks_.end(), [](const GreedyWalk& walk) { return walk.is_tight(); });
  if (was_tight_ || sees_every_event()) before_walks(cluster);
  for (GreedyWalk& walk : walks_) run(walk, actions);
  std::erase_if(newcomers_, [&](JobId id) { return jobs_.at(id).running; });
  if (actions.recording()) explain(actions);
  after_walks(cluster);
  for (const JobId id : newcomers_) jobs_.at(id).is_new = false;
  cluster_ = nullptr;
  ++passes_;
}

void WalkPolicy::run(GreedyWalk& walk, SchedulingActions& actions) {
  for (;;) {
    settle(walk, actions);
    if (gave_way_.empty()) break;
    std::sort(gave_way_.begin(), gave_way_.end());
    for (const Rank& place : gave_way_) {
      WalkJob& job = jobs_.at(place.job);
      walk.add_waiting(waiting_rank(job), shapes_.of(job.view), width_of(job.view));
      newcomers_.push_back(place.job);
    }
    if (has_lists()) {
      start_in_free(walk, actions);
      break;
    }
    walk.end_pass();  // those that gave way may take the place of jobs behind them
  }
  walk.end_pass();
}

/// Makes the changes that the walk requires. The jobs that give way are left in `gave_way_`.
void WalkPolicy::settle(GreedyWalk& walk, SchedulingActions& actions) {
  started_.clear();
  gave_way_.clear();
  changes_.clear();
  for (;;) {
    walk.review([&](ServerId server, const Rank& place) { return room_behind(walk, server, place); });
    const std::optional<GreedyWalk::Change> change = walk.next_change(now_);
    if (!change) break;
    changes_.push_back(*change);
    carry_out(walk, actions);
  }
  take_back(walk);
  rank_started(walk);
}

/// Starts the jobs that the walk has started as soon as it has stopped enough others.
void WalkPolicy::carry_out(GreedyWalk& walk, SchedulingActions& actions) {
  for (;;) {
    const auto first = std::ranges::find_if(changes_, [](const auto& change) { return change.starts; });
    if (first == changes_.end()) return;
    std::int64_t room = walk.free();  // beside the first
    std::vector<JobId> stopping;
    // The last of the walk gives way first.
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      if (!change->starts) stopping.push_back(change->job());
      if (change->starts && change->job() != first->job()) room += change->before.width;
    }
    if (room < 0) return;
    const Rank waiting = first->before.at.rank;
    // Where preemption costs something, all jobs behind are candidates.
    const bool may_replace = !stopping.empty() && !actions.preemption_costs();
    if (actions.start(waiting.job) || (may_replace && actions.start_preempting(waiting.job, stopping))) {
      std::erase_if(changes_, [&](const auto& change) { return change.job() == waiting.job; });
      mark_started(waiting);
      continue;
    }
    take_back(walk);
    if (is_preemptive() && start_in_place_of_any_behind(walk, waiting, actions)) return;
    refuse(walk, waiting.job, actions);
    no_place_.insert(waiting.job);
    return;
  }
}

void WalkPolicy::refuse(GreedyWalk& walk, JobId waiting, SchedulingActions& actions) {
  if (!actions.refused_alike()) return walk.refuse(waiting);
  const RoomNeeded needed = actions.room_needed(waiting);
  const int per_server = static_cast<int>(cluster_->gpus() / cluster_->servers());
  walk.refuse_for_want_of_place(waiting, needed.rest > 0 ? needed.rest : needed.whole_servers > 0 ? per_server : 1);
}

/// Returns the GPUs of the server that are free or held by jobs behind the place.
int WalkPolicy::room_behind(const GreedyWalk& walk, ServerId server, const Rank& place) {
  int room = cluster_->free_gpus(server);
  const std::size_t per_server = cluster_->gpus() / cluster_->servers();
  for (std::size_t g = server.index() * per_server; g < (server.index() + 1) * per_server; ++g) {
    on_gpu_.clear();
    cluster_->jobs_on(GpuId{g}, on_gpu_);
    const auto gives_way = [&](JobId id) {
      const auto at = jobs_.find(id);
      if (at == jobs_.end() || &walks_[at->second.walk] != &walk) return false;
      return !walk.is_running(id) || place < walk.place(id, now_);  // the walk has stopped it, or may stop it
    };
    if (!on_gpu_.empty() && std::all_of(on_gpu_.begin(), on_gpu_.end(), gives_way)) ++room;
  }
  return room;
}

/// Takes back the changes that have not been carried out.
void WalkPolicy::take_back(GreedyWalk& walk) {
  for (; !changes_.empty(); changes_.pop_back()) walk.undo(changes_.back());
}

/// Looks at the last jobs of the order first, and at more of them only if those make no room.
bool WalkPolicy::start_in_place_of_any_behind(GreedyWalk& walk, const Rank& waiting, SchedulingActions& actions) {
  constexpr std::size_t kFirst = 64, kGrowth = 4;
  for (std::size_t limit = kFirst;; limit *= kGrowth) {
    const std::vector<JobId> behind = walk.last_running_behind(waiting, now_, limit);
    if (actions.start_preempting(waiting.job, behind)) break;
    if (behind.size() < limit) return false;
  }
  walk.start(waiting.job);
  mark_started(waiting);
  return true;
}

/// A server may have been emptied for a job that needs only a part of it. The rest goes to waiting jobs.
void WalkPolicy::start_in_free(GreedyWalk& walk, SchedulingActions& actions) {
  started_.clear();
  while (const std::optional<Rank> next = walk.first_in_free(now_)) {
    if (actions.start(next->job)) {
      walk.start(next->job);
      mark_started(*next);
    } else {
      walk.refuse(next->job);
      no_place_.insert(next->job);
    }
  }
  rank_started(walk);
}

/// Moves the jobs that have started to their places among the running jobs.
void WalkPolicy::rank_started(GreedyWalk& walk) {
  for (const MovingRank& place : started_) walk.rerank(place.rank.job, place, now_);
}

void WalkPolicy::mark_started(const Rank& waiting) {
  WalkJob& job = jobs_.at(waiting.job);
  started_.push_back(running_rank(job, waiting));
  std::vector<ServerId> servers;
  for (const GpuId gpu : cluster_->gpus_of(waiting.job)) {
    const ServerId server = cluster_->server_of(gpu);
    if (servers.empty() || servers.back() != server) servers.push_back(server);
  }
  walks_[job.walk].set_servers(waiting.job, std::move(servers));
  job.running = true;
  job.is_new = false;
  job.since = now_;
  job_started(job);
}

void WalkPolicy::explain(SchedulingActions& actions) {
  for (const auto& [id, waiting] : jobs_) {
    if (waiting.running) continue;
    const GreedyWalk& walk = walks_[waiting.walk];
    if (no_place_.contains(id) || width_of(waiting.view) <= walk.free()) {  // a job of its shape was refused
      actions.blocked(id, Why::no_place);
      continue;
    }
    const Rank place = walk.place(id, now_);
    const std::optional<Rank> before = is_preemptive() ? walk.last_running_before(place, now_) : std::nullopt;
    actions.blocked(id, before ? Why::outranked : Why::no_gpus, before ? before->job : JobId::none());
  }
}

}  // namespace contend
