#include "sim/allocation.hpp"

#include "sim/cells.hpp"
#include "sim/error.hpp"
#include "sim/placement_check.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace contend {

bool Allocation::has_room(const JobSpec& job) {
  const RankDemand rank{job};
  if (job.gpus > state_.capacity.quota_left(job.vc)) return false;
  if (rank.share == kWholeGpu) return job.gpus <= state_.capacity.free_gpus_of_vc(job.vc);
  // Until GPUs are freed, room only shrinks: if a job did not fit, no job with at least its demand does.
  const bool is_hopeless = std::any_of(too_large_.begin(), too_large_.end(), [&](const JobSpec* other) {
    return job.gpus >= other->gpus && job.memory_per_gpu >= other->memory_per_gpu && job.vc == other->vc &&
           job.gpu_share >= other->gpu_share && (job.gpu_share == 0) == (other->gpu_share == 0);
  });
  if (is_hopeless) return false;
  const ServerRange servers = state_.capacity.servers_of_vc(job.vc);
  int room = 0;
  for (GpuId gpu{0U}; (gpu = state_.capacity.next_gpu(rank, gpu, servers)).valid(); gpu = GpuId{gpu.index() + 1}) {
    if (++room == job.gpus) return true;
  }
  too_large_.push_back(&job);
  return false;
}

void Allocation::check(JobId job, std::span<const GpuId> gpus) const {
  const std::string reason = why_illegal(state_, state_.job(job), gpus);
  if (reason.empty()) return;
  throw InputError{fmt::format("placement policy `{}`: job `{}` {}", state_.policies.placement_name,
                               state_.run(job).spec->name, reason)};
}

void Allocation::reserve(JobId job, std::span<const GpuId> gpus, bool take) {
  const JobSpec& spec = *state_.run(job).spec;
  for (const GpuId gpu : gpus)
    take ? state_.capacity.take(gpu, RankDemand{spec}) : state_.capacity.give_back(gpu, RankDemand{spec});
  state_.capacity.use_quota(spec.vc, take ? spec.gpus : -spec.gpus);
}

void Allocation::start(JobId job, std::span<const GpuId> gpus) {
  check(job, gpus);
  JobRun& run = state_.run(job);
  if (run.start == Time::never()) run.start = state_.clock;
  run.waits = false;
  --state_.waiting;
  state_.set_state(job, JobState::running);
  hold(job, gpus);
  run.waited += state_.clock - run.since;
  run.since = state_.clock;
  if (state_.options.decisions != nullptr) state_.options.decisions->started(state_.clock, job, run.gpus);
  if (run.timed()) return start_timed(run, job);
  JobView view = state_.view(job, true);
  const PolicyKey key = state_.policies.scheduling->key(view);
  view.remaining_service -= run.plan->most_compute();
  run.key_fall = key - state_.policies.scheduling->key(view);
  occupy(state_, job);
  executor_.begin(job);
}

void Allocation::start_timed(JobRun& run, JobId job) {
  const PreemptionCosts& costs = state_.options.rules.preemption;
  const auto& penalty = state_.options.rules.scatter_penalty;
  const int per_server = state_.spec.gpus_per_server;
  const int beyond = run.servers_spanned - (run.spec->gpus + per_server - 1) / per_server;
  const bool is_scattered = beyond > 0 && !penalty.empty();
  run.pace = is_scattered ? penalty[std::min(static_cast<std::size_t>(beyond), penalty.size()) - 1] : 1000;
  const Time length = length_of(run.segment(costs), costs);
  run.is_cut = state_.options.rules.kill_at_limit && run.spec->limit && length > *run.spec->limit;
  run.ends = state_.clock + (run.is_cut ? *run.spec->limit : length);
  run.end = state_.calendar.schedule(run.ends, Phase::completions, {CalendarEvent::Kind::job_end, CellId{}, job});
}

void Allocation::hold(JobId job, std::span<const GpuId> gpus) {
  JobRun& run = state_.run(job);
  const RankDemand rank{*run.spec};
  run.gpus.assign(gpus.begin(), gpus.end());
  std::vector<ServerId> servers;
  for (const GpuId gpu : run.gpus) {
    state_.capacity.take(gpu, rank);
    ++state_.gpu[gpu.index()].jobs_started;
    if (run.timed()) state_.gpu[gpu.index()].timed.push_back(job);
    servers.push_back(state_.server_of(gpu));
  }
  state_.capacity.use_quota(run.spec->vc, run.spec->gpus);
  std::sort(servers.begin(), servers.end());
  run.servers_spanned = static_cast<int>(std::unique(servers.begin(), servers.end()) - servers.begin());
}

bool Allocation::stop(JobId job) {
  JobRun& run = state_.run(job);
  if (run.timed()) {
    state_.calendar.cancel(run.end);
  } else {
    run.lost += state_.undone(run);
    courier_.abandon(job);
    leave(state_, job);
    run.remaining_service = run.plan->compute_left(run.completed, run.spec->iterations);
    run.key_is_stale = true;
    run.compute = run.total_service - run.remaining_service;
  }
  ++run.preemptions;
  state_.set_state(job, JobState::preempted);
  const bool has_saved = release(job);
  run.resumes = run.timed();
  too_large_.clear();
  return has_saved;
}

void Allocation::show(JobId job) const {
  static const Op kRun = [] {
    Op op;
    op.name = "run";
    return op;
  }();
  const JobRun& run = state_.run(job);
  if (state_.options.observer == nullptr || !run.timed() || RankDemand{*run.spec}.share < kWholeGpu) return;
  if (run.since == state_.clock) return;
  for (const GpuId gpu : run.gpus) {
    state_.options.observer->compute(gpu, job, kRun, run.retries(), run.since, state_.clock);
  }
}

bool Allocation::release(JobId job) {
  JobRun& run = state_.run(job);
  show(job);
  const RankDemand rank{*run.spec};
  const Time held = state_.clock - run.since;
  bool has_saved = false;
  for (const GpuId gpu : run.gpus) {
    state_.capacity.give_back(gpu, rank);
    if (!run.timed()) continue;
    std::erase(state_.gpu[gpu.index()].timed, job);
    state_.gpu[gpu.index()].busy += reserved_part(held, rank.share);
  }
  state_.capacity.use_quota(run.spec->vc, -run.spec->gpus);
  run.attained += GpuTime{held, run.spec->gpus};
  if (run.timed()) {
    const WorkDone work = state_.work_done(run);
    run.remaining_service -= GpuTime{work.saved, run.spec->gpus};
    run.compute += GpuTime{work.saved, run.spec->gpus};
    run.overhead += work.overhead;
    run.lost += GpuTime{work.done - work.saved, run.spec->gpus};
    has_saved = work.saved > Time{};
    run.resumes = false;
    run.ends = Time::never();
  }
  std::vector<GpuId>{}.swap(run.gpus);
  return has_saved;
}

}  // namespace contend
