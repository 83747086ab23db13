#include "sim/timed_body.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

void TimedBody::start(JobId job) {
  JobRun& run = state_.run(job);
  take_gpus(job);
  set_pace(run);
  const PreemptionCosts& costs = state_.costs_of(run);
  if (costs.written > Bytes{}) return saver_.start_timed(job);
  const Time length = length_of(run.segment(costs), costs);
  run.is_cut = state_.options.rules.kill_at_limit && run.spec->limit && length > *run.spec->limit;
  run.ends = state_.clock + (run.is_cut ? *run.spec->limit : length);
  run.end = state_.calendar.schedule(run.ends, Phase::completions, {CalendarEvent::Kind::job_end, CellId{}, job});
  if (state_.options.failures.redundancy.any()) state_.go_on_covered(job, Time{});
}

void TimedBody::set_pace(JobRun& run) const {
  const auto& penalty = state_.options.rules.scatter_penalty;
  const int per_server = gpus_per_server(state_.spec, run.type);
  const int beyond = run.servers_spanned - (run.width + per_server - 1) / per_server;
  const bool is_scattered = beyond > 0 && !penalty.empty();
  const JobPace pace = state_.pace_on(*run.spec, run.width, run.type);
  run.type_pace = beyond > 0 && pace.spread > 0 ? pace.spread : pace.together;
  if (run.spec->regimes >= 0) {
    auto parts = std::make_unique<std::vector<PacedWork>>();
    for (const BatchRegime& regime : state_.workload.regimes[static_cast<std::size_t>(run.spec->regimes)]) {
      const JobPace own = state_.pace_on(*run.spec, run.width, run.type, &regime);
      parts->push_back({regime.until, beyond > 0 && own.spread > 0 ? own.spread : own.together});
    }
    run.parts = std::move(parts);
  }
  run.pace =
      is_scattered && pace.spread == 0 ? penalty[std::min(static_cast<std::size_t>(beyond), penalty.size()) - 1] : 1000;
}

void TimedBody::take_gpus(JobId job) {
  const JobRun& run = state_.run(job);
  const RankDemand rank{*run.spec};
  for (const GpuId gpu : run.gpus) {
    GpuState& held = state_.gpu[gpu.index()];
    if (rank.share == kWholeGpu && held.whole_jobs++ == 0) held.whole_since = state_.clock;
    held.timed.push_back(job);
    if (held.timed.size() > 1) state_.mark_sharing(gpu);
  }
}

void TimedBody::give_back_gpus(JobId job, Time held) {
  const JobRun& run = state_.run(job);
  const RankDemand rank{*run.spec};
  for (const GpuId gpu : run.gpus) {
    GpuState& on = state_.gpu[gpu.index()];
    on.timed.erase(std::remove(on.timed.begin(), on.timed.end(), job), on.timed.end());
    state_.mark_sharing(gpu);
    if (rank.share < kWholeGpu) on.totals.busy += reserved_part(held, rank.share);
    if (rank.share == kWholeGpu && --on.whole_jobs == 0) on.totals.busy += state_.clock - on.whole_since;
  }
}

bool TimedBody::go_back(JobId job) {
  JobRun& run = state_.run(job);
  if (state_.calendar.pending(run.end)) state_.calendar.cancel(run.end);
  return false;
}

void TimedBody::go_on(JobId job, Time stands, bool /*is_struck*/) {
  state_.go_on_covered(job, stands);
}

void TimedBody::leave(JobId job) {
  state_.run(job).shared ? state_.count_sharing(job) : state_.show_run(job);
  saver_.abandon(job);
}

bool TimedBody::settle(JobId job, Time held) {
  JobRun& run = state_.run(job);
  give_back_gpus(job, held);
  const WorkDone work = state_.work_done(run);
  const Time useful = at_pace(work.saved, run.segment({}));  // from where it was at its start, as its pace may change
  run.remaining_service -= GpuTime{work.saved, run.spec->gpus};
  run.totals.compute += GpuTime{work.saved, run.spec->gpus};
  run.totals.overhead += work.overhead + state_.lost_to_covered(run);
  run.totals.restarting += work.restart;
  if (work.done > work.saved) {  // or all but nanoseconds of rounding was useful
    const Time redone = state_.alone(run) - work.overhead - useful;
    run.totals.redone += redone;
    run.totals.lost += GpuTime{redone, run.width};
  }
  run.ends = Time::never();
  run.was_struck = false;  // the run has paid for it, or for a part of it
  run.saving.reset();
  run.shared.reset();
  return work.saved > Time{};
}

GpuTime TimedBody::undone(const JobRun& run) const {
  const WorkDone work = state_.work_done(run);
  return {work.done - work.saved, run.spec->gpus};
}

GpuTime TimedBody::uncounted(const JobRun& run) const {
  return {state_.work_done(run).done, run.spec->gpus};
}

/// Of a GPU that others share with it: the part that it reserves.
Time TimedBody::busy_now(const JobRun& run, GpuId /*gpu*/, Time now) const {
  const std::int32_t share = RankDemand{*run.spec}.share;
  return share < kWholeGpu ? reserved_part(now - run.since, share) : Time{};
}

void TimedBody::add_present(const JobRun& run, JobTotals& totals) const {
  const WorkDone work = state_.work_done(run);
  totals.compute += GpuTime{work.done, run.spec->gpus};
  totals.overhead += work.overhead + state_.lost_to_covered(run);
  totals.restarting += work.restart;
}

/// If its iterations are known: the iterations of the work that was kept, or is in progress, of its last attempt.
std::int64_t TimedBody::iterations_done(const JobRun& run, std::int64_t completed, std::int64_t all) const {
  if (!run.spec->knows_iterations()) return completed;
  if (run.state == JobState::finished && !run.is_cut) return all;
  if (!run.is_last_attempt()) return 0;
  Time left = run.attempt_left();
  if (run.state == JobState::running) left -= state_.work_done(run).done;
  const Int128 done = (run.attempt_length() - left).ns();
  const Int128 length = std::max<std::int64_t>(run.attempt_length().ns(), 1);
  return static_cast<std::int64_t>(done * all / length);
}

std::string TimedBody::work_to_save(const PreemptionCosts& costs) const {
  if (costs.checkpoint_interval == kNeverSaved) return "";
  return fmt::format("{:g} s", costs.checkpoint_interval.to_seconds());
}

}  // namespace contend
