#include "policies/scheduling/backfill.hpp"

#include <algorithm>
#include <climits>
#include <utility>

namespace contend {

Time DurationEstimate::of(const JobView& job) const {
  if (use_limit && job.limit) return *job.limit;
  const Time left = job.remaining_service.on_each_of(job.preferred_gpus);
  return Time::ceil_nanoseconds(factor * static_cast<double>(left.ns()));
}

namespace {

/// The speed of a job on servers of that type; -1: the slowest of the types that it may use.
double speed_of(const JobView& job, const ClusterView& cluster, std::int32_t type) {
  const auto types = static_cast<std::int32_t>(cluster.types());
  if (0 <= type && type < types) return cluster.speed_with(job, job.gpus, type);
  const ServerRange usable = cluster.servers_for(job);
  double slowest = 0;
  for (std::int32_t t = 0; t < types; ++t) {
    const ServerRange of_type = cluster.servers_of_type(t);
    if (of_type.first >= usable.last || usable.first >= of_type.last) continue;
    if (const double speed = cluster.speed_with(job, job.gpus, t); speed > 0 && (slowest == 0 || speed < slowest))
      slowest = speed;
  }
  return slowest > 0 ? slowest : 1;
}

}  // namespace

PlanLimits plan_limits(const Parameters& parameters) {
  return {parameters.get<std::int64_t>("depth"), parameters.get<std::int64_t>("per_user"),
          Time::ceil_nanoseconds(parameters.get<double>("window_s") * 1e9),
          Time::ceil_nanoseconds(parameters.get<double>("resolution_s") * 1e9), parameters.get<bool>("whole_servers")};
}

BackfillPolicy::BackfillPolicy(const Parameters& parameters, Time quantum, const PlanLimits& limits)
    : estimate_{parameters.get<bool>("use_limit"), parameters.get<double>("estimate_factor")},
      limits_{limits},
      passes_{Time{}, quantum} {
  plan_.hold_more(limits_.resolution, limits_.whole_servers);
}

Time BackfillPolicy::length_on(const JobView& job, const ClusterView& cluster, std::int32_t type) const {
  Time length = std::max(estimate_.of(job), Time::nanoseconds(1));
  const bool is_wall_clock = estimate_.use_limit && job.limit;
  if (const double speed = is_wall_clock ? 1 : speed_of(job, cluster, type); speed != 1) {
    const double ns = static_cast<double>(length.ns()) / speed;
    const bool ends = ns < static_cast<double>(kEndOfClock.ns()) / 2;
    // A pace is not the reciprocal of a speed to the last digit.
    length = ends ? Time::ceil_nanoseconds(ns) + Time::nanoseconds(1) : kEndOfClock;
  }
  return pass_from(length);
}

void BackfillPolicy::queued(const JobView& view) {
  BackfillJob& job = jobs_[view.id];
  job.view = view;
  arrived_.push_back(view.id);
}

void BackfillPolicy::left(JobId id) {
  const auto at = jobs_.find(id);
  running_.erase({at->second.end, id});
  ended_.push_back(std::move(at->second));
  jobs_.erase(at);
}

void BackfillPolicy::resized(JobId id, const ClusterView& cluster) {
  plan_.look_at(cluster);
  BackfillJob& job = jobs_.at(id);
  const BackfillJob before = job;
  running_.erase({before.end, id});
  const PlacePlan::Place freed = plan_.release(id);
  job.view = cluster.job(id);
  leaves(before, cluster.now(), &job.view);
  note_start(job, cluster);
  if (job.view.gpus < before.view.gpus) {
    news_.has_freed = true;
    note_freed(freed, before.end, cluster, news_);
  }
  if (job.view.gpus > before.view.gpus || job.end > before.end) news_.has_taken = true;
}

BackfillPolicy::News BackfillPolicy::begin_pass(const ClusterView& cluster) {
  const bool is_first = !plan_.is_ready();
  plan_.look_at(cluster);
  const Time now = cluster.now();
  News news = std::exchange(news_, {});
  for (const BackfillJob& job : std::exchange(ended_, {})) {
    const PlacePlan::Place freed = plan_.release(job.view.id);
    ++changes_;
    const GpuTime held = cluster.job(job.view.id).attained_service - job.view.attained_service;
    leaves(job, job.start + held.on_each_of(job.view.gpus), nullptr);
    if (job.end <= now) continue;
    news.has_freed = true;
    note_freed(freed, job.end, cluster, news);
  }
  while (next_end() <= now) {
    BackfillJob& late = jobs_.at(running_.begin()->second);
    running_.erase(running_.begin());
    late.end = prolonged(late, now);
    plan_.prolong(late.view.id, late.end);
    running_.emplace(late.end, late.view.id);
    news.has_taken = true;
    ++changes_;
  }
  const auto service_changes = static_cast<std::int64_t>(cluster.service_changes(vc_) - service_changes_);
  if (!is_first && service_changes > 0) {
    // Some GPUs may have gone out of service as others came back.
    const std::int64_t more = cluster.gpus_in_service(vc_, -1) - in_service_;
    ++changes_;
    plan_.service_changed();
    if (service_changes + more > 0) {
      news.has_freed = true;
      news.freed_on.clear();
      news.freed_until = Time::never();
    }
    news.has_taken = news.has_taken || service_changes - more > 0;
  }
  for (const JobId id : std::exchange(arrived_, {})) {
    BackfillJob& arrived = jobs_.at(id);
    arrived.estimate = length_on(arrived.view, cluster, arrived.view.server_type);
    arrived.queue = queues_.of(cluster, arrived.view);
    vc_ = arrived.view.vc;
    arrived.shape = shapes_.of(arrived.view);
    joins(arrived);
  }
  return news;
}

void BackfillPolicy::note_freed(ServerId server, Time end, News& news) {
  const auto at = std::ranges::lower_bound(news.freed_on, server);
  if (at == news.freed_on.end() || *at != server) news.freed_on.insert(at, server);
  news.freed_until = std::max(news.freed_until, end);
}

std::span<const ServerId> BackfillPolicy::where_freed(const BackfillJob& job, const News& news,
                                                      const ClusterView& cluster) {
  const bool has_quota = cluster.quota_left(job.view.vc) != INT_MAX;  // which may be what has been freed
  return has_quota ? std::span<const ServerId>{} : news.freed_on;
}

void BackfillPolicy::note_start(BackfillJob& job, const ClusterView& cluster) {
  ++changes_;
  job.start = cluster.now();
  job.end = later(job.start, length_on(job.view, cluster, cluster.job(job.view.id).server_type));
  job.due = job.end;
  plan_.run(job.view, job.end, cluster.gpus_of(job.view.id));
  running_.emplace(job.end, job.view.id);
}

bool BackfillPolicy::start(BackfillJob& job, const ClusterView& cluster, SchedulingActions& actions) {
  const JobId id = job.view.id;
  if (!plan_.has_quota(job.view, job.estimate)) return false;
  if (job.view.gpu_share > 0 && !plan_.last_kept_before(job.estimate)) {
    if (!actions.start(id)) return false;
  } else if (!actions.start_in(id, plan_.from_now(job.view, job.estimate))) {
    return false;
  }
  note_start(job, cluster);
  return true;
}

bool BackfillPolicy::start_there(BackfillJob& job, const PlacePlan::Place& place, const ClusterView& cluster,
                                 SchedulingActions& actions) {
  // Places that are held for longer than they are needed are no reason to refuse one that was kept.
  const ClusterView& view =
      limits_.resolution > Time{} ? plan_.place_now(job.view, place) : plan_.from_now(job.view, job.estimate, place);
  if (!actions.start_in(job.view.id, view)) return false;
  note_start(job, cluster);
  return true;
}

bool BackfillPolicy::start_within(BackfillJob& job, const ServerSet& servers, const ClusterView& cluster,
                                  SchedulingActions& actions) {
  if (!actions.start_in(job.view.id, plan_.at(job.view, cluster.now(), servers))) return false;
  note_start(job, cluster);
  return true;
}

bool BackfillPolicy::keep_earliest(BackfillJob& job, Time from, Time until, SchedulingActions& actions,
                                   std::span<const ServerId> servers) {
  const PlacePlan::Search search{from, until, actions.room_needed(job.view.id), servers};
  const auto place = plan_.earliest(
      job.view, job.estimate, search,
      [&](const ClusterView& then, std::vector<GpuId>& gpus) { return actions.plan_in(job.view.id, then, gpus); });
  if (place) keep(job, *place);
  return place.has_value();
}

bool BackfillPolicy::may_move(const BackfillJob& job, Time from, Time until, const SchedulingActions& actions,
                              std::span<const ServerId> servers) const {
  return plan_.may_move(job.view.id, job.estimate, {from, until, actions.room_needed(job.view.id), servers});
}

bool BackfillPolicy::has_gpus(const ClusterView& cluster, const JobView& job) {
  if (job.gpus > cluster.quota_left(job.vc)) return false;
  return PlacePlan::share_of(job) != kWholeGpu || job.gpus <= cluster.free_gpus_on(job.vc, job.server_type);
}

void BackfillPolicy::say_why(const BackfillJob& job, Why why, JobId by, SchedulingActions& actions) const {
  actions.blocked(job.view.id, why, by);
  if (job.planned) actions.reserved(job.view.id, *job.planned, plan_.place_of(job.view.id));
}

void BackfillPolicy::keep(BackfillJob& job, const PlacePlan::Place& place) {
  job.planned = place.start;
  plan_.keep(job.view, place, later(place.start, job.estimate));
}

PlacePlan::Place BackfillPolicy::withdraw(BackfillJob& job) {
  job.planned.reset();
  return plan_.release(job.view.id);
}

}  // namespace contend
