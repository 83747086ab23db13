#include "sim/result.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

namespace contend {
namespace {

/// The first submission, or never() without jobs.
Time first_submission(std::span<const JobTimes> jobs) {
  Time first = Time::never();
  for (const JobTimes& job : jobs) first = std::min(first, job.submit);
  return first;
}

/// The last end of the jobs in one of these states, or 0 if there are none.
Time last_end(std::span<const JobTimes> jobs, std::initializer_list<JobState> states) {
  Time last;
  for (const JobTimes& job : jobs)
    if (std::ranges::find(states, job.state) != states.end()) last = std::max(last, job.finish);
  return last;
}

/// The work of the whole run, from the first submission to the last end. GPUs and links also count the work of
/// unfinished jobs, so a run that was cut short is measured until its end.
BusyTimes busy_times(const RunResult& result, std::span<const JobTimes> jobs, const Summary& summary) {
  const bool all_ended = summary.unfinished + summary.not_submitted == 0;
  BusyTimes busy;
  if (summary.jobs > 0)
    busy.length_s =
        ((all_ended ? last_end(jobs, {JobState::finished, JobState::given_up}) : result.end) - first_submission(jobs))
            .to_seconds();
  // Sums over a large cluster are taken in seconds: they may not fit the nanoseconds of a Time.
  for (const GpuResult& gpu : result.gpus) busy.gpu_s += gpu.busy.to_seconds();
  for (const LinkResult& link : result.links) busy.link_s += link.busy.to_seconds();
  for (const JobResult& job : result.jobs) {
    busy.transfer_s += job.communication.to_seconds();
    busy.contended_s += job.contended.to_seconds();
  }
  return busy;
}

void add_failures(const RunResult& result, Summary& summary) {
  double held_s = 0, useful_gpu_s = 0, all_gpu_s = 0, kept_gpu_s = 0;
  summary.interruptions = summary.second_order_preemptions = 0;
  for (const JobResult& job : result.jobs) {
    const auto on_gpus = [&job](Time time) {
      return job.mean_gpus() ? time.to_seconds() * *job.mean_gpus() : GpuTime{time, job.gpus}.to_seconds();
    };
    kept_gpu_s += job.kept_gpu_s;
    if (!job.measured) continue;
    summary.interruptions += job.interruptions;
    summary.second_order_preemptions += job.second_order_preemptions;
    held_s += job.held.to_seconds();
    useful_gpu_s += job.elastic ? job.kept_gpu_s : on_gpus(job.useful());
    all_gpu_s += on_gpus(job.held + job.waited + job.away);
  }
  const double capacity_s = result.end.to_seconds() * static_cast<double>(result.gpus.size());
  if (summary.interruptions > 0) summary.interruption_mean_s = held_s / summary.interruptions;
  if (capacity_s > 0) summary.goodput = kept_gpu_s / capacity_s;
  if (all_gpu_s > 0) summary.effective_time = useful_gpu_s / all_gpu_s;
}

void add_interruptions(std::span<const JobTimes> jobs, Summary& summary) {
  double held_s = 0, useful_gpu_s = 0, all_gpu_s = 0;
  summary.interruptions = 0;
  for (const JobTimes& job : jobs) {
    const double gpus = job.mean_gpus.value_or(job.gpus);
    summary.interruptions += job.failures->interruptions;
    held_s += job.held.to_seconds();
    useful_gpu_s += job.failures->useful.to_seconds() * gpus;
    all_gpu_s += (job.held + job.waited.value_or(Time{}) + job.failures->away).to_seconds() * gpus;
  }
  if (summary.interruptions > 0) summary.interruption_mean_s = held_s / summary.interruptions;
  if (all_gpu_s > 0) summary.effective_time = useful_gpu_s / all_gpu_s;
}

/// Adds a value, if it is known, to a sum that is NaN as long as nothing is.
void add_known(double& sum, const std::optional<double>& value) {
  if (value) sum = *value + (std::isnan(sum) ? 0 : sum);
}

void add_bounds(const LowerBounds& bounds, Summary& summary) {
  const auto over = [](double figure, double bound) { return bound > 0 ? figure / bound : kNaN; };
  summary.bounds = bounds;
  summary.avg_jct_by_bound = over(summary.avg_jct_s, bounds.avg_jct_s);
  summary.makespan_by_bound = over(summary.makespan_s, bounds.makespan_s);
}

constexpr double kJoulePerKwh = 3.6e6;

void add_meters(std::span<const JobTimes> jobs, Summary& summary) {
  summary.cost = summary.job_energy_kwh = summary.job_carbon_g = summary.job_water_l = kNaN;
  summary.energy_kwh = summary.carbon_g = summary.water_l = summary.energy_cost = kNaN;
  for (const JobTimes& job : jobs) {
    add_known(summary.cost, job.cost);
    if (!job.drawn) continue;
    add_known(summary.job_energy_kwh, job.drawn->energy_j / kJoulePerKwh);
    add_known(summary.job_carbon_g, job.drawn->carbon_g);
    add_known(summary.job_water_l, job.drawn->water_l);
  }
}

}  // namespace

Summary summarise(std::span<const JobTimes> jobs) {
  constexpr double kSecondsPerHour = 3600;
  Summary summary;
  summary.jobs = jobs.size();
  std::vector<double> jct_s, queueing_s, waiting_s;
  for (const JobTimes& job : jobs) {
    const double gpu_s =
        job.mean_gpus ? job.held.to_seconds() * *job.mean_gpus : GpuTime{job.held, job.gpus}.to_seconds();
    summary.gpu_hours += gpu_s / kSecondsPerHour;
    if (job.state == JobState::failed) ++summary.failed;
    if (job.state == JobState::given_up) ++summary.given_up;
    if (job.state == JobState::submitted) ++summary.not_submitted;
    if (job.state != JobState::finished) continue;
    if (job.outcome == JobOutcome::timeout) ++summary.killed;
    if (job.outcome == JobOutcome::failed) ++summary.failed_outcome;
    jct_s.push_back((job.finish - job.submit).to_seconds());
    queueing_s.push_back((job.start - job.submit).to_seconds());
    waiting_s.push_back(job.waited ? job.waited->to_seconds() : kNaN);
  }
  summary.finished = jct_s.size();
  summary.unfinished = summary.jobs - summary.finished - summary.failed - summary.given_up - summary.not_submitted;

  // A figure over no job is NaN, not 0.
  summary.avg_jct_s = mean(jct_s);
  summary.median_jct_s = percentile(jct_s, 0.5);
  summary.p95_jct_s = percentile(jct_s, 0.95);
  summary.max_jct_s = percentile(jct_s, 1);
  summary.avg_queueing_s = mean(queueing_s);
  summary.avg_waiting_s = mean(waiting_s);
  summary.makespan_s =
      summary.finished > 0 ? (last_end(jobs, {JobState::finished}) - first_submission(jobs)).to_seconds() : kNaN;
  summary.gpu_utilisation = summary.network_utilisation = summary.contended_share = kNaN;
  summary.interruptions = summary.interruption_mean_s = summary.goodput = summary.effective_time = kNaN;
  summary.second_order_preemptions = kNaN;
  if (!jobs.empty() && std::ranges::all_of(jobs, [](const JobTimes& job) { return job.failures.has_value(); }))
    add_interruptions(jobs, summary);
  summary.avg_rho = summary.max_rho = summary.unfair_share = summary.jain_index = kNaN;
  summary.deadlines_met = kNaN;
  add_bounds({}, summary);
  add_meters(jobs, summary);
  return summary;
}

namespace {

/// True if the job met its deadline: what its limit cut off, or what failed in the end, isn't there by then. What its
/// user cancelled need not be.
bool met_deadline(const JobResult& job) {
  const bool succeeded = job.outcome != JobOutcome::timeout && job.outcome != JobOutcome::failed;
  return job.state == JobState::finished && succeeded && job.finish <= *job.deadline;
}

void add_fairness(const RunResult& result, Summary& summary) {
  double sum = 0, squares = 0;
  std::vector<double> rhos;
  std::size_t unfair = 0, with_deadline = 0, met = 0;
  for (const JobResult& job : result.jobs) {
    if (!job.measured) continue;
    summary.restarts += std::max(0, job.starts - 1);
    if (job.deadline && job.state != JobState::submitted) {
      ++with_deadline;
      if (met_deadline(job)) ++met;
    }
    if (!job.rho) continue;
    rhos.push_back(*job.rho);
    if (*job.rho > 1) ++unfair;
    sum += 1 / *job.rho;
    squares += 1 / (*job.rho * *job.rho);
  }
  const auto share = [](std::size_t part, std::size_t all) {
    return all == 0 ? kNaN : static_cast<double>(part) / static_cast<double>(all);
  };
  summary.avg_rho = mean(rhos);
  summary.max_rho = percentile(rhos, 1);
  summary.unfair_share = share(unfair, rhos.size());
  summary.jain_index = rhos.empty() ? kNaN : sum * sum / (static_cast<double>(rhos.size()) * squares);
  summary.deadlines_met = share(met, with_deadline);
}

}  // namespace

Summary summarise(const RunResult& result) {
  std::vector<JobTimes> jobs;
  jobs.reserve(result.jobs.size());
  for (const JobResult& job : result.jobs)
    if (job.measured)
      jobs.push_back({job.state, job.outcome, job.gpus, job.submit, job.start, job.finish, job.held, job.waited,
                      job.mean_gpus(), std::nullopt, job.cost, job.drawn});
  Summary summary = summarise(jobs);
  for (const JobResult& job : result.jobs) {
    if (!job.measured) continue;
    summary.preemptions += job.preemptions;
    summary.lost_gpu_s += job.lost.to_seconds();
  }
  add_fairness(result, summary);
  add_bounds(result.bounds, summary);
  std::vector<const ServiceReport*> services;
  for (const ServiceResult& each : result.services)
    if (result.jobs[each.job.index()].measured) services.push_back(&each);
  summary.answers = figures_of(services, result.end);
  if (result.drawn) {
    summary.energy_kwh = result.drawn->energy_j / kJoulePerKwh;
    summary.carbon_g = result.drawn->carbon_g.value_or(kNaN);
    summary.water_l = result.drawn->water_l.value_or(kNaN);
    summary.energy_cost = result.drawn->price.value_or(kNaN);
  }

  if (result.may_fail) add_failures(result, summary);
  const BusyTimes busy = result.window ? *result.window : busy_times(result, jobs, summary);
  const auto utilisation = [&](double busy_s, std::size_t parts) {
    return parts > 0 && busy.length_s > 0 ? busy_s / (busy.length_s * static_cast<double>(parts)) : kNaN;
  };
  summary.gpu_utilisation = utilisation(busy.gpu_s, result.gpus.size());
  summary.network_utilisation = utilisation(busy.link_s, result.links.size());
  summary.contended_share = busy.transfer_s > 0 ? busy.contended_s / busy.transfer_s : 0;
  return summary;
}

}  // namespace contend
