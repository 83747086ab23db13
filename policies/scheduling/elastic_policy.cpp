#include "policies/scheduling/elastic_policy.hpp"

#include <algorithm>
#include <limits>

namespace contend {

double ElasticJob::speed_on(int gpus) const {
  const auto found = std::ranges::lower_bound(sizes, gpus);
  return found != sizes.end() && *found == gpus ? speeds[static_cast<std::size_t>(found - sizes.begin())] : 0;
}

int ElasticJob::size_above(int gpus) const {
  const auto found = std::ranges::upper_bound(sizes, gpus);
  return found == sizes.end() ? 0 : *found;
}

int ElasticJob::size_within(int gpus) const {
  const auto found = std::ranges::upper_bound(sizes, gpus);
  return found == sizes.begin() ? 0 : *std::prev(found);
}

void give_by_steps(std::span<const ElasticJob> jobs, int left, std::vector<int>& gpus,
                   const std::function<bool(const GpuStep&)>& may,
                   const std::function<bool(const GpuStep& best, const GpuStep& other)>& wins) {
  while (left > 0) {
    std::size_t best = jobs.size();
    const auto step = [&](std::size_t i) { return GpuStep{jobs[i], gpus[i], jobs[i].size_above(gpus[i])}; };
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const GpuStep next = step(i);
      if (next.to == 0 || next.to - next.from > left || !may(next)) continue;
      if (best == jobs.size() || wins(step(best), next)) best = i;
    }
    if (best == jobs.size()) return;
    const GpuStep taken = step(best);
    left -= taken.to - taken.from;
    gpus[best] = taken.to;
  }
}

Time elastic_period(const Parameters& parameters) {
  return Time::ceil_nanoseconds(parameters.get<double>("period_s") * 1e9);
}

void ElasticPolicy::queued(const JobView& job) {
  if (const auto known = ties_.find(job.id); known != ties_.end()) jobs_.erase(known->second);
  ties_[job.id] = job.tie;
  jobs_[job.tie] = job.id;
}

void ElasticPolicy::left(JobId job) {
  const auto known = ties_.find(job);
  if (known == ties_.end()) return;
  jobs_.erase(known->second);
  ties_.erase(known);
  starts_.erase(job);
}

std::vector<ElasticJob> ElasticPolicy::jobs_now(const ClusterView& cluster, int& gpus) const {
  std::vector<ElasticJob> jobs;
  gpus = cluster.free_gpus();
  for (const auto& [tie, id] : jobs_) {
    const JobView view = cluster.job(id);
    if (view.running) gpus += view.gpus;
  }
  for (const auto& [tie, id] : jobs_) {
    ElasticJob job;
    job.view = cluster.job(id);
    job.held = job.view.running ? job.view.gpus : 0;
    job.left_s = job.view.remaining_service.to_seconds() / job.view.preferred_gpus;
    if (const auto starts = starts_.find(id); starts != starts_.end()) job.starts = starts->second;
    const auto add = [&](int size) {
      const double speed = cluster.speed_with(job.view, size, std::max(0, job.view.server_type));
      if (speed <= 0 || (size > gpus && size != job.held)) return;
      job.sizes.push_back(size);
      job.speeds.push_back(speed);
    };
    for (const int size : cluster.sizes_of(id)) add(size);
    if (cluster.sizes_of(id).empty()) add(job.view.preferred_gpus);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void ElasticPolicy::give_way(const ElasticJob& job, int gpus, SchedulingActions& actions) {
  if (gpus >= job.held) return;
  if (gpus == 0) return actions.preempt(job.view.id);
  if (actions.resize(job.view.id, gpus)) ++starts_[job.view.id];
}

void ElasticPolicy::carry_out(const std::vector<ElasticJob>& jobs, const Division& division, const ClusterView& cluster,
                              SchedulingActions& actions) {
  for (const auto& [index, reason] : division.refused) {
    const JobId job = jobs[index].view.id;
    actions.refuse(job, reason);
    left(job);
  }
  const auto is_refused = [&](std::size_t i) {
    return std::ranges::any_of(division.refused, [i](const auto& each) { return each.first == i; });
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) give_way(jobs[i], division.gpus[i], actions);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].held > 0 || is_refused(i)) continue;
    bool runs = false;
    for (int gpus = division.gpus[i]; gpus > 0 && !runs; gpus = jobs[i].size_within(gpus - 1))
      runs = actions.start_with(jobs[i].view.id, gpus);
    if (runs) ++starts_[jobs[i].view.id];
    if (!runs && actions.recording())
      actions.blocked(jobs[i].view.id, division.gpus[i] > 0 ? Why::no_place : Why::passed_over);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const ElasticJob& job = jobs[i];
    if (job.held == 0 || !cluster.job(job.view.id).running) continue;
    bool has_grown = false;
    for (int gpus = division.gpus[i]; gpus > job.held && !has_grown; gpus = job.size_within(gpus - 1))
      has_grown = actions.resize(job.view.id, gpus);
    if (has_grown) ++starts_[job.view.id];
  }
}

void ElasticPolicy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  if (jobs_.empty()) {
    next_ = Time::never();
    return;
  }
  if (period_ > Time{} && cluster.now().ns() % period_.ns() != 0) {
    for (const auto& [tie, id] : jobs_)
      if (actions.recording() && !cluster.job(id).running) actions.blocked(id, Why::throttled);
    return;
  }
  int gpus = 0;
  const std::vector<ElasticJob> jobs = jobs_now(cluster, gpus);
  const Division division = divide(jobs, gpus, cluster.now());
  carry_out(jobs, division, cluster, actions);
  next_ = division.next;
}

Time ElasticPolicy::next_decision(const ClusterView& cluster) {
  if (jobs_.empty()) return Time::never();
  if (period_ == Time{}) return next_ > cluster.now() ? next_ : Time::never();
  return period_ * (cluster.now().ns() / period_.ns() + 1);
}

}  // namespace contend
