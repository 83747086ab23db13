#include "sim/allocation.hpp"

#include "sim/cells.hpp"
#include "sim/error.hpp"
#include "sim/job_body.hpp"
#include "sim/placement_check.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace contend {

std::int32_t Allocation::type_of(GpuId gpu) const {
  return state_.server_types.empty() ? -1 : state_.server_types[state_.server_of(gpu).index()];
}

std::int32_t Allocation::type_of(const JobSpec& job, std::span<const GpuId> gpus) const {
  const std::int32_t mix = mix_of(state_.spec, job), first = type_of(gpus.front());
  if (mix < 0) return first;
  const bool is_mixed = std::ranges::any_of(gpus, [&](GpuId gpu) { return type_of(gpu) != first; });
  return is_mixed ? mix : first;
}

std::int32_t Allocation::slowest_type(JobId job) {
  const JobRun& run = state_.run(job);
  const std::int32_t type = type_of(*run.spec, run.gpus);
  state_.mixed.erase(job);
  if (type < std::ssize(state_.spec.types)) return type;
  std::int32_t slowest = -1;
  EngineState::MixedGpus& mixed = state_.mixed[job];
  for (const std::int32_t each : state_.types_for(*run.spec)) {
    const auto gpus = std::ranges::count_if(run.gpus, [&](GpuId gpu) { return type_of(gpu) == each; });
    if (gpus == 0) continue;
    slowest = each;
    mixed.types += (mixed.types.empty() ? "" : "+") + state_.spec.types[static_cast<std::size_t>(each)].name;
    mixed.price += state_.price_of(each) * static_cast<double>(gpus) / static_cast<double>(run.gpus.size());
  }
  return slowest;
}

bool Allocation::has_room(const JobSpec& job, int gpus, std::int32_t type) {
  const RankDemand rank{job};
  if (gpus > state_.capacity.quota_left(job.vc)) return false;
  if (rank.share == kWholeGpu) return gpus <= state_.capacity.free_gpus_on(job.vc, type);
  // Until GPUs are freed, room only shrinks: if a job did not fit, no job with at least its demand does.
  const bool is_hopeless = std::any_of(too_large_.begin(), too_large_.end(), [&](const TooLarge& too_large) {
    const JobSpec* other = too_large.job;
    return type == too_large.type && gpus >= too_large.gpus && job.memory_per_gpu >= other->memory_per_gpu &&
           job.vc == other->vc && job.gpu_share >= other->gpu_share && (job.gpu_share == 0) == (other->gpu_share == 0);
  });
  if (is_hopeless) return false;
  const ServerRange servers = state_.capacity.servers_of(job.vc, type);
  int room = 0;
  for (GpuId gpu{0U}; (gpu = state_.capacity.next_gpu(rank, gpu, servers)).valid(); gpu = GpuId{gpu.index() + 1}) {
    if (++room == gpus) return true;
  }
  too_large_.push_back({&job, gpus, type});
  return false;
}

std::string Allocation::why_not(JobId job, std::span<const GpuId> gpus) const {
  const JobSpec& spec = *state_.run(job).spec;
  const bool exist = !gpus.empty() && std::ranges::max(gpus).index() < state_.gpu.size();
  const std::int32_t type = exist ? type_of(spec, gpus) : -1;
  std::string reason = why_illegal(state_, state_.view_on(job, type), gpus);
  if (const auto types = state_.types_for(spec);
      reason.empty() && std::find(types.begin(), types.end(), type) == types.end())
    reason = "was given servers of a type that can't run it";
  if (reason.empty() && !lies_right(spec, gpus))
    reason = "was given GPUs that don't lie in the levels that it requires";
  return reason;
}

bool Allocation::lies_right(const JobSpec& job, std::span<const GpuId> gpus) const {
  if (job.level < 0) return true;
  std::vector<ServerId> servers;
  for (const GpuId gpu : gpus) servers.push_back(state_.server_of(gpu));
  return contend::lies_right(state_.spec.levels, state_.spec.levels.demand(job.level), servers);
}

void Allocation::check(JobId job, std::span<const GpuId> gpus) const {
  const std::string reason = why_not(job, gpus);
  if (reason.empty()) return;
  throw PolicyError{fmt::format("placement policy `{}`: job `{}` {}", state_.policies.placement_name,
                                state_.run(job).spec->name, reason)};
}

void Allocation::reserve(JobId job, std::span<const GpuId> gpus, bool take) {
  const JobSpec& spec = *state_.run(job).spec;
  for (const GpuId gpu : gpus) {
    if (state_.is_covered(gpu)) continue;  // nobody else can have it
    take ? state_.take(gpu, RankDemand{spec}) : state_.give_back(gpu, RankDemand{spec});
  }
  const auto width = static_cast<int>(gpus.size());
  state_.capacity.use_quota(spec.vc, take ? width : -width);
}

bool Allocation::may_share(JobId job, std::span<const GpuId> gpus) const {
  const JobRun& run = state_.run(job);
  const JobSpec& spec = *run.spec;
  std::vector<GpuId> sorted{gpus.begin(), gpus.end()};
  std::sort(sorted.begin(), sorted.end());
  if (std::ssize(gpus) != run.width || sorted.back().index() >= state_.gpu.size() ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    throw PolicyError{fmt::format("scheduling policy `{}`: job `{}` needs {} different GPUs of the cluster to start on",
                                  state_.policies.scheduling_name, spec.name, run.width)};
  const std::int32_t type = type_of(sorted.front());
  const auto types = state_.types_for(spec);
  if (std::find(types.begin(), types.end(), type) == types.end()) return false;
  if (run.width > state_.capacity.quota_left(spec.vc) || !lies_right(spec, gpus)) return false;
  if (spec.place >= 0 &&
      !std::ranges::is_permutation(gpus, state_.workload.places[static_cast<std::size_t>(spec.place)]))
    return false;
  const JobView view = state_.view_on(job, type);
  const ServerRange servers = state_.servers_for(view);
  const int most = state_.most_on_gpu();
  ServerId server;
  std::int64_t ranks = 0;  // on the current server
  std::vector<JobId> together;
  for (const GpuId gpu : sorted) {
    const ServerId its = state_.server_of(gpu);
    ranks = its == server ? ranks + 1 : 1;
    server = its;
    if (!servers.contains(its) || ranks > state_.ranks_by_host(its, view)) return false;
    if (state_.fits(gpu, view)) continue;
    const GpuState& held = state_.gpu[gpu.index()];
    const auto holders = static_cast<int>(held.timed.size());
    const bool may_be_shared = run.body->shares_by_law() && RankDemand{spec}.share == kWholeGpu && holders > 0 &&
                               holders < most && held.whole_jobs == holders &&
                               state_.capacity.jobs_on(gpu) == holders &&
                               state_.capacity.memory_left(gpu) >= spec.memory_per_gpu;
    if (!may_be_shared) return false;
    together.assign(held.timed.begin(), held.timed.end());
    together.push_back(job);
    for (const JobId each : together) {
      std::vector<JobId> others = together;
      std::erase(others, each);
      std::sort(others.begin(), others.end());
      if (state_.speed_of(each, others, type) <= 0) return false;
    }
  }
  return true;
}

void Allocation::start(JobId job, std::span<const GpuId> gpus) {
  check(job, gpus);
  start_sharing(job, gpus);
}

void Allocation::start_sharing(JobId job, std::span<const GpuId> gpus) {
  JobRun& run = state_.run(job);
  if (run.start == Time::never()) run.start = state_.clock;
  run.waits = false;
  --state_.waiting;
  state_.set_state(job, JobState::running);
  hold(job, gpus);
  run.totals.waited += state_.clock - run.since;
  run.since = state_.clock;
  if (state_.options.decisions != nullptr)
    state_.options.decisions->started(state_.clock, job, run.gpus, run.pause(state_.costs_of(run)));
  run.body->start(job);
}

void Allocation::start_clock(JobId job) {
  if (state_.own_failures.empty()) return;
  OwnFailures& own = state_.own_failures[job.index()];
  if (own.left >= kEndOfClock - state_.clock) return;
  own.at = state_.clock + own.left;
  own.event = state_.calendar.schedule(own.at, Phase::failures, {CalendarEvent::Kind::job_failure, CellId{}, job});
}

void Allocation::stop_clock(JobId job) {
  if (state_.own_failures.empty()) return;
  OwnFailures& own = state_.own_failures[job.index()];
  if (own.at == Time::never()) return;
  own.left = own.at - state_.clock;
  own.at = Time::never();
  if (state_.calendar.pending(own.event)) state_.calendar.cancel(own.event);
}

void Allocation::hold(JobId job, std::span<const GpuId> gpus) {
  JobRun& run = state_.run(job);
  const RankDemand rank{*run.spec};
  run.gpus.assign(gpus.begin(), gpus.end());
  run.width = static_cast<int>(gpus.size());
  run.type = slowest_type(job);
  ++run.totals.starts;
  servers_.clear();
  for (const GpuId gpu : run.gpus) {
    state_.take(gpu, rank);
    ++state_.gpu[gpu.index()].jobs_started;
    servers_.push_back(state_.server_of(gpu));
  }
  state_.kept_time.begin(job, run.gpus, rank.share, run.totals.overhead + run.totals.redone, state_.clock);
  if (state_.uses.keeps()) state_.uses.begin(run.gpus, rank.share, state_.clock);
  state_.capacity.use_quota(run.spec->vc, run.width);
  std::sort(servers_.begin(), servers_.end());
  run.servers_spanned = static_cast<int>(std::unique(servers_.begin(), servers_.end()) - servers_.begin());
  start_clock(job);
}

bool Allocation::stop(JobId job) {
  ++state_.run(job).totals.preemptions;
  return vacate(job);
}

bool Allocation::resize(JobId job, std::span<const GpuId> gpus) {
  JobRun& run = state_.run(job);
  ++run.totals.resizes;
  const bool goes_on = run.body->move(job);
  const bool has_saved = vacate(job);
  if (goes_on) run.resumes = false;
  run.since = state_.clock;
  run.waits = true;
  ++state_.waiting;
  run.width = static_cast<int>(gpus.size());
  start(job, gpus);
  return has_saved;
}

bool Allocation::vacate(JobId job) {
  JobRun& run = state_.run(job);
  const bool has_saved = run.body->go_back(job);
  state_.set_state(job, JobState::preempted);
  const bool saved_itself = run.saved_itself;
  const bool has_saved_now = release(job);
  run.resumes = true;
  run.saved_itself = saved_itself;
  too_large_.clear();
  return has_saved || has_saved_now;
}

bool Allocation::interrupt(JobId job, JobState next, bool keeps_gpus, bool is_planned) {
  JobRun& run = state_.run(job);
  const GpuTime lost_before = run.totals.lost;
  const bool saved_itself = run.saved_itself;
  bool has_saved = run.body->go_back(job);
  state_.set_state(job, next);
  has_saved = release(job, keeps_gpus) || has_saved;
  run.saved_itself = saved_itself;
  ++run.totals.interruptions;
  if (!is_planned) {
    run.totals.lost_to_failures += run.totals.lost - lost_before;
    ++run.struck;
  }
  run.resumes = run.was_struck = true;
  run.was_planned = is_planned;
  too_large_.clear();
  return has_saved;
}

void Allocation::let_go(JobId job) {
  const auto kept = std::ranges::find(kept_, job, &Kept::job);
  if (kept == kept_.end()) return;
  const JobSpec& spec = *state_.run(job).spec;
  for (const GpuId gpu : kept->gpus) stop_keeping(gpu, RankDemand{spec});
  state_.capacity.use_quota(spec.vc, -kept->width);
  kept_.erase(kept);
}

void Allocation::let_go(GpuId gpu) {
  for (Kept& kept : kept_) {
    const auto found = std::ranges::lower_bound(kept.gpus, gpu);
    if (found == kept.gpus.end() || *found != gpu) continue;
    stop_keeping(gpu, RankDemand{*state_.run(kept.job).spec});
    kept.gpus.erase(found);
  }
}

void Allocation::stop_keeping(GpuId gpu, const RankDemand& rank) {
  if (rank.share == kWholeGpu) state_.capacity.count_in_service(gpu, 1);
  state_.give_back(gpu, rank);
}

bool Allocation::release(JobId job, bool keeps_gpus) {
  JobRun& run = state_.run(job);
  run.body->leave(job);
  stop_clock(job);
  const RankDemand rank{*run.spec};
  const Time held = state_.clock - run.since;
  for (const GpuId gpu : run.gpus) {
    if (!state_.job_work.empty()) {
      state_.job_work[gpu.index()] = Slowdown::kFullPace;
      update_slowness(state_, gpu);
    }
    if (!keeps_gpus) {
      state_.give_back(gpu, rank);
      if (state_.is_covered(gpu)) {
        state_.uncover(gpu);
        state_.take_out_of_service(gpu);
      }
    } else if (rank.share == kWholeGpu) {
      state_.capacity.count_in_service(gpu, -1);
    }
  }
  if (keeps_gpus) {
    std::ranges::sort(run.gpus);
    kept_.push_back({job, static_cast<int>(run.gpus.size()), run.gpus});
  } else {
    state_.capacity.use_quota(run.spec->vc, -static_cast<int>(run.gpus.size()));
  }
  const auto width = static_cast<int>(run.gpus.size());
  run.totals.gpu_time += GpuTime{held, width};
  run.totals.held += held;
  if (run.type >= 0) run.cost += state_.cost_of(run);
  const bool has_saved = run.body->settle(job, held);
  state_.kept_time.end(job, run.gpus, rank.share, run.totals.overhead + run.totals.redone, held, state_.clock);
  if (state_.uses.keeps()) log_use(state_, job, state_.uses);
  run.resumes = run.saved_itself = false;
  run.balances = run.reroutes = false;
  run.width = run.spec->gpus;
  std::vector<GpuId>{}.swap(run.gpus);
  return has_saved;
}

}  // namespace contend
