#include "policies/scheduling/walk_policy.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace contend {

void WalkPolicy::queued(const JobView& view) {
  if (view.id.index() >= by_id_.size()) by_id_.resize(view.id.index() + 1);
  const bool is_new = by_id_[view.id.index()] == nullptr;
  if (is_new) by_id_[view.id.index()] = take_unused();
  WalkJob& job = this->job(view.id);
  if (!is_new) {
    job_stopped(job);
    touch_servers_of(job);
    job.servers.clear();
    width_changes(job, view);
  }
  job.view = view;
  job.running = false;
  if (cluster_ == nullptr) {
    arrived_.push_back(view.id);
    return;
  }
  // During a pass, a job that queues was preempted, by decision of the walk, which it has left then, or for want of a
  // place.
  GreedyWalk& walk = walks_[job.walk];
  for (std::vector<MovingRank>* const places : {&started_, &fresh_})
    std::erase_if(*places, [&](const MovingRank& place) { return place.rank.job == view.id; });
  if (walk.contains(view.id)) {
    gave_way_.push_back(walk.place(view.id, now_));
    walk.remove(view.id);
    return;
  }
  const auto decided =
      std::find_if(changes_.begin(), changes_.end(), [&](const auto& c) { return c.job() == view.id; });
  gave_way_.push_back(decided->before.at.at(now_));
  changes_.erase(decided);
}

WalkJob* WalkPolicy::take_unused() {
  if (unused_.empty()) return &jobs_.emplace_back();
  WalkJob* const job = unused_.back();
  unused_.pop_back();
  return job;
}

void WalkPolicy::left(JobId id) {
  WalkJob& gone = job(id);
  job_stopped(gone);
  job_left(gone);
  touch_servers_of(gone);
  walks_[gone.walk].remove(id);
  pools_.leaves(id);
  by_id_[id.index()] = nullptr;
  gone = WalkJob{};
  unused_.push_back(&gone);
}

void WalkPolicy::resized(JobId id, const ClusterView& cluster) {
  now_ = cluster.now();
  WalkJob& job = this->job(id);
  job_stopped(job);
  touch_servers_of(job);
  const JobView view = cluster.job(id);
  width_changes(job, view);
  job.view = view;
  job.since = now_;
  note_servers(job, cluster);
  walks_[job.walk].widen(id, width_of(view));
  job_started(job);
}

void WalkPolicy::note_servers(WalkJob& job, const ClusterView& cluster) {
  job.servers.clear();
  for (const GpuId gpu : cluster.gpus_of(job.view.id)) {
    const ServerId server = cluster.server_of(gpu);
    if (job.servers.empty() || job.servers.back() != server) job.servers.push_back(server);
  }
  touch_servers_of(job);
}

/// Jobs of different walks may share servers.
void WalkPolicy::touch_servers_of(const WalkJob& job) {
  for (ServerRooms& rooms : rooms_) {
    for (const ServerId server : job.servers) rooms.touch(server);
  }
}

void WalkPolicy::rerank(WalkJob& job, const MovingRank& rank) {
  walks_[job.walk].rerank(job.view.id, rank);
  job.at = rank;
  touch_servers_of(job);
}

void WalkPolicy::admit(const ClusterView& cluster, const SchedulingActions& actions) {
  for (const JobId id : std::exchange(arrived_, {})) {
    WalkJob& job = this->job(id);
    job.is_new = true;
    job.walk = pools_.of(cluster, job.view);
    pools_.enters(cluster, job.view, job.walk);
    if (job.walk == walks_.size()) add_walk(cluster, job.view);
    job.room = actions.room_needed(id);
    walks_[job.walk].add_waiting(waiting_rank(job), shapes_.of(job.view), width_of(job.view));
    newcomers_.push_back(id);
  }
}

void WalkPolicy::add_walk(const ClusterView& cluster, const JobView& job) {
  const auto walk = static_cast<std::uint32_t>(walks_.size());
  const ServerRange servers = cluster.servers_for(job);
  walks_.emplace_back(pools_.capacity(cluster, walk));
  out_of_service_.emplace_back();
  used_types_.emplace_back(cluster.types(), false);
  rooms_.emplace_back(cluster.servers(), gpus_per_server(), [this, walk, servers](GpuId gpu, auto& places) {
    const ServerId server = cluster_->server_of(gpu);
    return servers.contains(server) && uses_server(walk, server) && holders_of(walk, gpu, places);
  });
}

/// False for a number that denotes no GPU, because its server has fewer than others.
bool WalkPolicy::exists(GpuId gpu) const {
  const ServerId server = cluster_->server_of(gpu);
  const auto at = static_cast<int>(gpu.index() % static_cast<std::size_t>(gpus_per_server()));
  for (std::int32_t t = 0; t < static_cast<std::int32_t>(cluster_->types()); ++t)
    if (cluster_->servers_of_type(t).contains(server)) return at < cluster_->gpus_per_server(t);
  return true;
}

/// False for a server of a type on which no job of the walk may run.
bool WalkPolicy::uses_server(std::uint32_t walk, ServerId server) const {
  const std::size_t types = cluster_->types();
  for (std::size_t t = 0; t < types && types > 1; ++t)
    if (cluster_->servers_of_type(static_cast<std::int32_t>(t)).contains(server)) return pools_.uses(walk, t);
  return true;
}

/// Has the rooms look again at the servers of types that jobs of the walk use now, or use no longer.
void WalkPolicy::look_at_types(std::uint32_t walk) {
  const std::size_t types = cluster_->types();
  for (std::size_t t = 0; t < types && types > 1; ++t) {
    if (used_types_[walk][t] == pools_.uses(walk, t)) continue;
    used_types_[walk][t] = pools_.uses(walk, t);
    const ServerRange servers = cluster_->servers_of_type(static_cast<std::int32_t>(t));
    for (std::uint32_t s = servers.first; s < servers.last; ++s) rooms_[walk].touch(ServerId{s});
  }
}

/// Appends the places of the jobs that hold the GPU. Returns false if one of them is not in the walk, or if no job can
/// have the GPU.
bool WalkPolicy::holders_of(std::uint32_t walk, GpuId gpu, std::vector<MovingRank>& places) {
  on_gpu_.clear();
  cluster_->jobs_on(gpu, on_gpu_);
  if (on_gpu_.empty() && cluster_->free_share(gpu) < kWholeGpu) {
    if (exists(gpu)) out_of_service_[walk].push_back(cluster_->server_of(gpu));
    return false;
  }
  for (const JobId id : on_gpu_) {
    const WalkJob& holder = job(id);
    if (holder.walk != walk) return false;
    places.push_back(holder.at);
  }
  return true;
}

/// Returns false if the placement policy certainly has no place for the job on the GPUs that are free or held by jobs
/// at `place` or behind it.
bool WalkPolicy::has_room_behind(const WalkJob& job, const Rank& place) {
  const auto [whole, rest] = job.room;
  ServerRooms& rooms = rooms_[job.walk];
  if (whole > 0 && rooms.count(gpus_per_server(), place, now_, whole) < whole) return false;
  return rest <= 1 || rooms.count(rest, place, now_, whole + 1) > whole;
}

void WalkPolicy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  now_ = cluster.now();
  cluster_ = &cluster;
  newcomers_.clear();
  no_place_.clear();
  admit(cluster, actions);
  for (std::size_t w = 0; w < walks_.size(); ++w) {
    walks_[w].set_capacity(pools_.capacity(cluster, static_cast<std::uint32_t>(w)));
    look_at_types(static_cast<std::uint32_t>(w));
    for (const ServerId server : std::exchange(out_of_service_[w], {})) rooms_[w].touch(server);
  }
  before_walks(cluster);
  for (std::size_t w = 0; w < walks_.size(); ++w) {
    if (migrates())
      place_anew(static_cast<std::uint32_t>(w), actions);
    else
      run(walks_[w], actions);
  }
  std::erase_if(newcomers_, [&](JobId id) { return job(id).running; });
  if (actions.recording()) explain(actions);
  after_walks(cluster);
  for (const JobId id : newcomers_) job(id).is_new = false;
  cluster_ = nullptr;
  ++passes_;
}

std::optional<PolicyKey> WalkPolicy::first_that_may_stop() {
  constexpr PolicyKey kAny = PolicyKey{INT64_MIN} << 64;
  std::optional<PolicyKey> first;
  for (GreedyWalk& walk : walks_) {
    if (walk.free() < 0 || migrates()) return kAny;
    if (const std::optional<Rank> waiting = walk.first_waiting(); waiting && (!first || waiting->key < *first))
      first = waiting->key;
  }
  return first;
}

void WalkPolicy::run(GreedyWalk& walk, SchedulingActions& actions) {
  fresh_.clear();
  for (;;) {
    settle(walk, actions);
    if (gave_way_.empty()) break;
    std::sort(gave_way_.begin(), gave_way_.end());
    for (const Rank& place : gave_way_) {
      WalkJob& job = this->job(place.job);
      const Rank waiting = waiting_rank(job);
      walk.add_waiting(waiting, shapes_.of(job.view), width_of(job.view));
      newcomers_.push_back(place.job);
      hold_started_behind(waiting);
    }
    forget_refusals(walk);
    if (has_lists()) {
      start_in_free(walk, actions);
      break;
    }
  }
  for (const MovingRank& place : fresh_)
    if (WalkJob& started = job(place.rank.job); started.at != place) rerank(started, place);
  walk.end_pass();
}

/// Places all jobs of the walk again. A job that is moved keeps its place in the order.
void WalkPolicy::place_anew(std::uint32_t index, SchedulingActions& actions) {
  GreedyWalk& walk = walks_[index];
  struct Standing {
    MovingRank before;
    bool ran = false;
  };
  std::vector<Standing> all;
  bool waits = false;
  for_each_job([&](const WalkJob& job) {
    if (job.walk != index) return;
    all.push_back({walk.moving_place(job.view.id), job.running});
    waits = waits || !job.running;
  });
  if (!waits) return;
  std::ranges::sort(all, {}, [this](const Standing& each) { return each.before.at(now_); });
  std::vector<Claim> order;
  for (const Standing& each : all) order.push_back({each.before.rank.job, width_of(job(each.before.rank.job).view)});
  started_.clear();
  gave_way_.clear();
  changes_.clear();
  actions.place_anew(order, walk.capacity());  // every job that leaves its GPUs leaves the walk, too
  for (const Standing& each : all) {
    WalkJob& job = this->job(each.before.rank.job);
    const bool runs = cluster_->job(job.view.id).running;
    if (each.ran && !walk.contains(job.view.id)) {
      walk.add_waiting(runs ? each.before.rank : waiting_rank(job), shapes_.of(job.view), width_of(job.view));
      if (!runs) newcomers_.push_back(job.view.id);
    }
    if (!runs || job.running) continue;
    walk.start(job.view.id);
    mark_started(each.before.rank);
    if (each.ran) started_.back() = each.before;
  }
  rank_started();
  walk.end_pass();
}

/// Makes the changes that the walk requires, until jobs give way. They are left in `gave_way_`. A policy that has lists
/// makes all changes, because a job that gave way only gets GPUs that are free at the end.
void WalkPolicy::settle(GreedyWalk& walk, SchedulingActions& actions) {
  started_.clear();
  gave_way_.clear();
  changes_.clear();
  refuse_without_room(walk);
  for (;;) {
    const std::optional<GreedyWalk::Change> change = walk.next_change(now_);
    if (!change) break;
    changes_.push_back(*change);
    const std::size_t stopped = gave_way_.size();
    carry_out(walk, actions);
    if (gave_way_.size() == stopped) continue;
    if (!has_lists()) break;  // a job that gave way may stand in front of jobs that the walk has yet to look at
    take_back(walk);
    forget_refusals(walk);
    refuse_without_room(walk);
  }
  take_back(walk);
  rank_started();
  fresh_.insert(fresh_.end(), started_.begin(), started_.end());
}

/// A job that was refused may get GPUs of a job that stood in front of it and has stopped since.
void WalkPolicy::forget_refusals(GreedyWalk& walk) {
  walk.end_pass();
  std::erase_if(no_place_, [&](JobId id) { return &walks_[job(id).walk] == &walk; });
}

void WalkPolicy::refuse_without_room(GreedyWalk& walk) {
  const auto has_place = [this](const Rank& waiting) { return has_room_behind(job(waiting.job), waiting); };
  for (const JobId id : walk.refuse_without_place(now_, has_place)) no_place_.insert(id);
}

/// Starts the jobs that the walk has started as soon as it has stopped enough others, until a running job gives way.
void WalkPolicy::carry_out(GreedyWalk& walk, SchedulingActions& actions) {
  const std::size_t stopped = gave_way_.size();
  while (gave_way_.size() == stopped) {
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
    walk.refuse(waiting.job);
    no_place_.insert(waiting.job);
    return;
  }
}

/// Takes back the changes that have not been carried out.
void WalkPolicy::take_back(GreedyWalk& walk) {
  for (; !changes_.empty(); changes_.pop_back()) walk.undo(changes_.back());
}

/// Looks at the servers that stand furthest back first, and at more of them only if those make no room.
bool WalkPolicy::start_in_place_of_any_behind(GreedyWalk& walk, const Rank& waiting, SchedulingActions& actions) {
  constexpr std::size_t kServersForEach = 8, kGrowth = 4;
  const WalkJob& starting = job(waiting.job);
  if (!has_room_behind(starting, waiting)) return false;
  const auto [whole, rest] = starting.room;
  const int gpus = rest > 0 ? rest : whole > 0 ? gpus_per_server() : 1;
  for (std::size_t limit = kServersForEach * static_cast<std::size_t>(whole + 1);; limit *= kGrowth) {
    const std::vector<ServerId> servers = rooms_[starting.walk].furthest_back(gpus, waiting, now_, limit);
    if (actions.start_preempting(waiting.job, jobs_behind(starting.walk, waiting, servers))) break;
    if (servers.size() < limit) return false;
  }
  walk.start(waiting.job);
  mark_started(waiting);
  return true;
}

/// Returns the jobs of the walk on these servers that stand behind the place, the last one first.
std::vector<JobId> WalkPolicy::jobs_behind(std::uint32_t walk, const Rank& place, std::span<const ServerId> servers) {
  std::vector<Rank> ranks;
  JobId before;  // a job often holds several GPUs in a row
  const auto per_server = static_cast<std::size_t>(gpus_per_server());
  for (const ServerId server : servers) {
    for (std::size_t g = server.index() * per_server; g < (server.index() + 1) * per_server; ++g) {
      on_gpu_.clear();
      cluster_->jobs_on(GpuId{g}, on_gpu_);
      for (const JobId id : on_gpu_) {
        if (id == before) continue;
        before = id;
        const WalkJob& holder = job(id);
        if (holder.walk != walk) continue;
        const Rank rank = holder.at.at(now_);
        if (place < rank) ranks.push_back(rank);
      }
    }
  }
  std::sort(ranks.begin(), ranks.end(), std::greater<>{});
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::vector<JobId> jobs;
  for (const Rank& rank : ranks) jobs.push_back(rank.job);
  return jobs;
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
  rank_started();
}

/// A job that gave way may stand in front of the job that took its place, because that one started on a slower server.
/// It must not stop what has just started, so that the jobs behind `place` that have started in this pass stand in
/// front of all others until the pass ends.
void WalkPolicy::hold_started_behind(const Rank& place) {
  constexpr PolicyKey kFront = -(PolicyKey{INT64_MAX} << 62);  // twice as far from 0 it would leave the range
  for (const MovingRank& each : fresh_) {
    WalkJob& started = job(each.rank.job);
    if (place < started.at.at(now_)) rerank(started, {{kFront, 0, each.rank.label, each.rank.job}, 0});
  }
}

/// Moves the jobs that have started to their places among the running jobs.
void WalkPolicy::rank_started() {
  for (const MovingRank& place : started_) rerank(job(place.rank.job), place);
}

void WalkPolicy::mark_started(const Rank& waiting) {
  WalkJob& job = this->job(waiting.job);
  started_.push_back(running_rank(job, waiting));
  job.at = {waiting, 0};
  note_servers(job, *cluster_);
  job.running = true;
  job.is_new = false;
  job.since = now_;
  job_started(job);
}

void WalkPolicy::explain(SchedulingActions& actions) {
  for (const WalkJob* const waits : by_id_) {
    if (waits == nullptr || waits->running) continue;
    const WalkJob& waiting = *waits;
    const JobId id = waiting.view.id;
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
