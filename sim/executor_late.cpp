// The part of the executor that leaves late ranks behind (Role::late): what begins without them, when patience with
// them ends, and what is dropped of what they have left to do.

#include "sim/check.hpp"
#include "sim/executor.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace contend {

void Executor::leave_behind() {
  for (std::size_t i = 0; i < begun_.size(); ++i) {  // which may grow
    const Begun each = begun_[i];
    if (all_have_begun(each.job, each.slot)) drop_late(each.job, each.slot);
    announce(each.job, each.op, each.slot, CellId::none());
    drain();
  }
  begun_.clear();
  for (const Expired& each : expired_) end_patience(each);
  expired_.clear();
}

bool Executor::has_done_awaited(const Completion& done) const {
  const JobRun& run = state_.run(done.job);
  const Occupant& occupant = state_.occupant(done.cell, done.job);
  for (std::size_t i = 0; i < run.plan->ops.size(); ++i) {
    const OpId op{i};
    if (run.plan->ops[i].is_last_awaited && run.has(done.slot, op) && occupant.pending[run.at(done.slot, op)] != kDone)
      return false;
  }
  return true;
}

void Executor::start_patience(JobId job, Slot slot) {
  JobRun& run = state_.run(job);
  constexpr Int128 kThousand = 1000;
  const Int128 took = (state_.clock - run.live->ready_since[slot]).ns();
  const Int128 more = (took * run.plan->patience->tolerance + kThousand - 1) / kThousand;
  const Time end = state_.clock + GpuTime::nanoseconds(more).on_each_of(1);
  const CalendarEvent event{CalendarEvent::Kind::timer_end, CellId{}, job};
  run.live->patience_runs[slot] = true;
  run.live->timers.push_back({OpId::none(), slot, end, state_.calendar.schedule(end, Phase::completions, event)});
}

/// Of the oldest iteration in flight, which has ended.
void Executor::forget_patience(JobRun& run) {
  std::vector<RunningTimer>& timers = run.live->timers;
  const auto found = std::find_if(timers.begin(), timers.end(), [&](const RunningTimer& timer) {
    return !timer.op.valid() && timer.slot == run.live->current;
  });
  if (found == timers.end()) return;
  state_.calendar.cancel(found->event);
  timers.erase(found);
}

void Executor::end_patience(const Expired& expired) {
  JobRun& run = state_.run(expired.job);
  // The iteration may have ended at this instant, and the job with it.
  if (!run.live || run.iteration_of(expired.slot) != expired.iteration) return;
  std::vector<std::uint32_t> late;
  for (SeatedCell& id : run.live->cells) {
    const Occupant& occupant = state_.occupant(id, expired.job);
    const auto is_left = [&](std::size_t i) {
      const OpId op{i};
      return run.plan->ops[i].is_last_awaited && run.plan->ops[i].op.role == occupant.role &&
             run.has(expired.slot, op) && occupant.pending[run.at(expired.slot, op)] != kDone;
    };
    bool is_late = false;
    for (std::size_t i = 0; i < run.plan->ops.size() && !is_late; ++i) is_late = is_left(i);
    if (!is_late) continue;
    for (const GpuId gpu : state_.at(id).gpus) late.push_back(gpu.value());
  }
  std::sort(late.begin(), late.end());
  if (late.empty() || !run.live->late.leave_behind(run.plan->pattern, expired.iteration, std::move(late))) return;
  drop_late(expired.job, expired.slot);
  drain();
}

/// True if nothing of the iteration waits for its ranks that may leave some of them behind.
bool Executor::all_have_begun(JobId job, Slot slot) const {
  const JobRun& run = state_.run(job);
  for (std::size_t i = 0; i < run.plan->ops.size(); ++i) {
    const OpId op{i};
    if (run.plan->ops[i].late > 0 && run.has(slot, op) && run.live->pending[run.at(slot, op)] > 0) return false;
  }
  return true;
}

/// Drops what late ranks have left to do in the iteration. What they ran of a task counts as busy.
void Executor::drop_late(JobId job, Slot slot) {
  JobRun& run = state_.run(job);
  const auto& ops = run.plan->ops;
  std::vector<Completion> dropped;
  for (SeatedCell& id : run.live->cells) {
    Occupant& occupant = state_.occupant(id, job);
    bool is_late = false;
    const std::size_t before = dropped.size();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const OpId op{i};
      const bool is_left = ops[i].may_be_dropped && ops[i].op.role == occupant.role && run.has(slot, op) &&
                           occupant.pending[run.at(slot, op)] != kDone;
      if (!is_left) continue;
      dropped.push_back({job, op, slot, id});
      is_late = is_late || ops[i].is_awaited;
    }
    if (!is_late) {
      dropped.resize(before, Completion{});
      continue;
    }
    Cell& cell = state_.at(id);
    const int ranks = state_.ranks_of(id);
    const auto is_dropped = [&](const ReadyTask& task) {
      return task.job == job && task.slot == slot && ops[task.op.index()].may_be_dropped;
    };
    if (cell.busy && is_dropped(cell.running)) cut_off(id);
    cell.ready.erase(std::remove_if(cell.ready.begin(), cell.ready.end(), is_dropped), cell.ready.end());
    if (!occupant.lanes.empty()) drop_on_lanes(id, job, slot);
    Time planned;
    for (std::size_t i = before; i < dropped.size(); ++i) {
      occupant.pending[run.at(slot, dropped[i].op)] = kDone;
      if (const Op& op = ops[dropped[i].op.index()].op; op.kind == OpKind::compute) planned += op.duration;
    }
    const auto tasks = static_cast<std::int32_t>(dropped.size() - before);
    run.live->left[slot] -= tasks * ranks;
    occupant.remaining_compute -= planned;
    state_.change_load(id, GpuTime{} - GpuTime{planned, 1});
    const GpuTime service{planned, ranks};
    run.remaining_service -= service;
    run.totals.compute += service;
    run.totals.skipped += service;
    run.totals.left_behind += ranks;
    run.key_is_stale = true;
    state_.events += static_cast<std::uint64_t>(tasks);
    state_.leapt_events += static_cast<std::uint64_t>(tasks) * static_cast<std::uint64_t>(ranks - 1);
    state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
    state_.fingerprint.add((std::uint64_t{state_.first_of(id).value()} << 32) ^ job.value());
  }
  for (const Completion& each : dropped) {
    for (const OpId after : ops[each.op.index()].successors[0]) contribute(each, after, slot, true);
    if (!run.is_open(run.place_of(slot) + 1)) continue;
    for (const OpId after : ops[each.op.index()].successors[1]) contribute(each, after, run.next(slot), true);
  }
}

/// Ends the task of a cell before its time.
void Executor::cut_off(CellId id) {
  Cell& cell = state_.at(id);
  JobRun& run = state_.run(cell.running.job);
  state_.calendar.cancel(cell.event);
  cell.busy = false;
  const Time ran = state_.clock - cell.started;
  cell.totals.busy += ran;
  run.totals.dropped += GpuTime{ran, state_.ranks_of(id)};
  run.totals.skipped -= GpuTime{ran, state_.ranks_of(id)};
  if (state_.options.observer != nullptr) {
    const Op& op = run.plan->ops[cell.running.op.index()].op;
    for (const GpuId gpu : cell.gpus)
      state_.options.observer->compute(gpu, cell.running.job, op, run.iteration_of(cell.running.slot), cell.started,
                                       state_.clock);
  }
  state_.touch(id);
  state_.mark_pace(id);
}

}  // namespace contend
