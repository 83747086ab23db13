// The part of the executor that runs tasks on lanes beside the GPUs (Lane in sim/graph.hpp). A lane starts its next
// task when everything of an instant has ended, as a GPU does, so that the order of ends within an instant decides
// nothing.

#include "sim/cells.hpp"
#include "sim/executor.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace contend {

void Executor::start_on_lanes(CellId id) {
  Cell& cell = state_.at(id);
  for (Occupant& occupant : cell.occupants) {
    if (occupant.lanes.empty()) continue;
    const JobRun& run = state_.run(occupant.job);
    const auto place = [&run](const LaneTask& task) {
      return std::tuple{run.place_of(task.slot), run.plan->ops[task.op.index()].op.priority, task.op};
    };
    for (std::size_t lane = 0; lane < occupant.lanes.size(); ++lane) {
      LaneState& of = occupant.lanes[lane];
      if (of.busy || of.ready.empty()) continue;
      const auto first = std::min_element(of.ready.begin(), of.ready.end(),
                                          [&](const LaneTask& a, const LaneTask& b) { return place(a) < place(b); });
      of.running = *first;
      *first = of.ready.back();
      of.ready.pop_back();
      of.busy = true;
      of.started = state_.clock;
      const Time duration = run.plan->ops[of.running.op.index()].op.duration;
      of.end = state_.clock + (is_stream(run.plan->lanes[lane]) ? state_.length_on(cell, duration) : duration);
      of.event = schedule_on_lane(state_, id, occupant, lane);
    }
  }
}

/// The task of a lane ends now: adds its time to the totals and shows it to the observer.
void Executor::report_on_lane(CellId id, JobId job, const LaneState& lane) {
  JobRun& run = state_.run(job);
  const Op& op = run.plan->ops[lane.running.op.index()].op;
  if (op.lane == Lane::host) run.totals.host += GpuTime{state_.clock - lane.started, state_.ranks_of(id)};
  if (state_.options.observer == nullptr) return;
  for (const GpuId gpu : state_.at(id).gpus)
    state_.options.observer->task(gpu, job, op, run.iteration_of(lane.running.slot), lane.started, state_.clock);
}

void Executor::on_lane_end(CellId id, JobId job, std::size_t lane) {
  LaneState& of = state_.occupant(id, job).lanes[lane];
  const LaneTask task = of.running;
  of.busy = false;
  ++state_.events;
  state_.leapt_events += static_cast<std::uint64_t>(state_.ranks_of(id) - 1);
  state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
  state_.fingerprint.add((std::uint64_t{state_.first_of(id).value()} << 32) ^ (std::uint64_t{job.value()} << 8) ^
                         task.op.value());
  report_on_lane(id, job, of);
  state_.touch(id);
  complete({job, task.op, task.slot, id});
  drain();
}

/// Drops what late ranks have left to do on their lanes.
void Executor::drop_on_lanes(CellId id, JobId job, Slot slot) {
  const Plan& plan = *state_.run(job).plan;
  const auto is_dropped = [&](const LaneTask& task) {
    return task.slot == slot && plan.ops[task.op.index()].may_be_dropped;
  };
  LaneTable& lanes = state_.occupant(id, job).lanes;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    LaneState& of = lanes[lane];
    std::erase_if(of.ready, is_dropped);
    if (!of.busy || !is_dropped(of.running)) continue;
    state_.calendar.cancel(of.event);
    of.busy = false;
    report_on_lane(id, job, of);
    state_.touch(id);
  }
}

}  // namespace contend
