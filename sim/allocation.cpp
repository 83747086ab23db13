#include "sim/allocation.hpp"

#include "sim/cells.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace contend {

std::int32_t Allocation::type_of(GpuId gpu) const {
  return state_.server_types.empty() ? -1 : state_.server_types[state_.server_of(gpu).index()];
}

bool Allocation::has_room(const JobSpec& job, std::int32_t type) {
  const RankDemand rank{job};
  if (job.gpus > state_.capacity.quota_left(job.vc)) return false;
  if (rank.share == kWholeGpu) return job.gpus <= state_.capacity.free_gpus_on(job.vc, type);
  // Until GPUs are freed, room only shrinks: if a job did not fit, no job with at least its demand does.
  const bool is_hopeless = std::any_of(too_large_.begin(), too_large_.end(), [&](const TooLarge& too_large) {
    const JobSpec* other = too_large.job;
    return type == too_large.type && job.gpus >= other->gpus && job.memory_per_gpu >= other->memory_per_gpu &&
           job.vc == other->vc && job.gpu_share >= other->gpu_share && (job.gpu_share == 0) == (other->gpu_share == 0);
  });
  if (is_hopeless) return false;
  const ServerRange servers = state_.capacity.servers_of(job.vc, type);
  int room = 0;
  for (GpuId gpu{0U}; (gpu = state_.capacity.next_gpu(rank, gpu, servers)).valid(); gpu = GpuId{gpu.index() + 1}) {
    if (++room == job.gpus) return true;
  }
  too_large_.push_back({&job, type});
  return false;
}

void Allocation::check(JobId job, std::span<const GpuId> gpus) const {
  const JobRun& run = state_.run(job);
  const auto illegal = [&](const std::string& what) {
    throw InputError{
        fmt::format("placement policy `{}`: job `{}` {}", state_.policies.placement_name, run.spec->name, what)};
  };
  if (gpus.size() != static_cast<std::size_t>(run.spec->gpus)) {
    illegal(fmt::format("asked for {} GPUs and was given {}", run.spec->gpus, gpus.size()));
  }
  std::vector<GpuId> sorted{gpus.begin(), gpus.end()};
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) illegal("was given a GPU twice");
  const RankDemand rank{*run.spec};
  for (const GpuId gpu : sorted)
    if (gpu.index() >= state_.gpu.size()) illegal("was given a GPU that does not exist");
  const std::int32_t type = sorted.empty() ? -1 : type_of(sorted.front());
  const JobView view = state_.view_on(job, type);
  if (const auto types = state_.types_for(*run.spec); std::find(types.begin(), types.end(), type) == types.end())
    illegal("was given servers of a type that can't run it");
  const ServerRange servers = state_.servers_for(view);
  ServerId server;
  std::int64_t ranks = 0;  // on the current server
  for (const GpuId gpu : sorted) {
    if (state_.capacity.free_memory(gpu) >= Bytes{} && state_.capacity.free_memory(gpu) < rank.memory) {
      illegal(fmt::format("does not fit into the memory of GPU {}", gpu.value()));
    }
    if (!state_.capacity.fits(gpu, rank)) illegal(fmt::format("was given GPU {}, which other jobs hold", gpu.value()));
    ranks = state_.server_of(gpu) == server ? ranks + 1 : 1;
    server = state_.server_of(gpu);
    if (type_of(gpu) != type) illegal("was given servers of two types");
    if (!servers.contains(server)) illegal("was given a server of another virtual cluster");
    if (ranks > state_.ranks_by_host(server, view)) {
      illegal(fmt::format("asks server {} for more CPUs or memory than it has left", server.value()));
    }
  }
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
  use_graph(run, state_.pace_on(*run.spec, run.type).graph);
  JobView view = state_.view(job, true);
  const PolicyKey key = state_.policies.scheduling->key(view);
  view.remaining_service -= run.plan->most_compute();
  run.key_fall = key - state_.policies.scheduling->key(view);
  occupy(state_, job);
  executor_.begin(job);
}

void Allocation::use_graph(JobRun& run, std::int32_t graph) {
  const Plan* const plan = &state_.plans[graph < 0 ? run.spec->graph : static_cast<std::size_t>(graph)];
  if (plan == run.plan) return;
  run.plan = plan;
  run.remaining_service = plan->compute_left(run.completed, run.spec->iterations);
  run.total_service = run.compute + run.remaining_service;
  run.key_is_stale = true;
}

void Allocation::start_timed(JobRun& run, JobId job) {
  const PreemptionCosts& costs = state_.options.rules.preemption;
  const auto& penalty = state_.options.rules.scatter_penalty;
  const int per_server = gpus_per_server(state_.spec, run.type);
  const int beyond = run.servers_spanned - (run.spec->gpus + per_server - 1) / per_server;
  const bool is_scattered = beyond > 0 && !penalty.empty();
  const JobPace pace = state_.pace_on(*run.spec, run.type);
  run.type_pace = beyond > 0 && pace.spread > 0 ? pace.spread : pace.together;
  run.pace =
      is_scattered && pace.spread == 0 ? penalty[std::min(static_cast<std::size_t>(beyond), penalty.size()) - 1] : 1000;
  const Time length = length_of(run.segment(costs), costs);
  run.is_cut = state_.options.rules.kill_at_limit && run.spec->limit && length > *run.spec->limit;
  run.ends = state_.clock + (run.is_cut ? *run.spec->limit : length);
  run.end = state_.calendar.schedule(run.ends, Phase::completions, {CalendarEvent::Kind::job_end, CellId{}, job});
}

void Allocation::hold(JobId job, std::span<const GpuId> gpus) {
  JobRun& run = state_.run(job);
  const RankDemand rank{*run.spec};
  run.gpus.assign(gpus.begin(), gpus.end());
  run.type = type_of(gpus.front());
  ++run.starts;
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
    use_graph(run, -1);  // while it waits, it is as long as it was when it came
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
  if (run.type >= 0) run.cost += state_.cost_of(run, held);
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
