// The part of the leaper that writes down the state of a group, relative to its time, so that two states can be
// compared word by word, and that moves the parts of it which have times and counts of their own.

#include "sim/leaper.hpp"

#include <cstdint>

namespace contend {

namespace {

/// The slot of the iteration that is so many behind the one in front.
Slot slot_at(const JobRun& run, int place) {
  const int slot = run.live->current + place;
  return static_cast<Slot>(slot < run.plan->in_flight ? slot : slot - run.plan->in_flight);
}

}  // namespace

/// An operation in flight, as a word: which, and of which iteration.
std::uint64_t Leaper::in_flight(const JobRun& run, OpId op, Slot slot) const {
  return (number_of(run, op, slot) << 2) ^ static_cast<unsigned>(run.place_of(slot));
}

void Leaper::write_task(const Cell& cell, Time now) {
  if (!cell.busy) return words_.push_back(UINT64_MAX);
  const JobRun& run = state_.run(cell.running.job);
  words_.push_back((std::uint64_t{cell.running.job.value()} << 32) ^
                   (number_of(run, cell.running.op, cell.running.slot) << 3) ^ (cell.chained ? 4U : 0U) ^
                   static_cast<unsigned>(run.place_of(cell.running.slot)));
  words_.push_back(static_cast<std::uint64_t>((cell.end - now).ns()));
  if (!state_.server_slowness.empty())  // as with interference, also if the GPU is at its full pace again
    words_.push_back(static_cast<std::uint64_t>((now - cell.started).ns()));
  if (state_.options.interference.none()) return;
  // What is left of a slowed task doesn't tell for how long it has run, and GPUs are busy for all of that.
  words_.push_back(static_cast<std::uint64_t>((now - cell.started).ns()));
  const Int128 left = cell.pace.left(now);
  words_.push_back(static_cast<std::uint64_t>(left));
  words_.push_back((static_cast<std::uint64_t>(left >> 64) << 1) ^ (cell.pace.is_slowed() ? 1U : 0U));
}

/// A lane's time of the task that runs isn't counted before the task ends, and only the time of the host is counted,
/// which nothing slows.
void Leaper::write_lanes(const Occupant& occupant, const JobRun& run, Time now) {
  for (std::size_t lane = 0; lane < occupant.lanes.size(); ++lane) {
    const LaneState& of = occupant.lanes[lane];
    if (lap_ > 0 && run.plan->lanes[lane] == Lane::host && is_ahead_[occupant.role.index()]) continue;
    words_.push_back(!of.busy ? UINT64_MAX : in_flight(run, of.running.op, of.running.slot));
    if (of.busy) words_.push_back(static_cast<std::uint64_t>((of.end - now).ns()));
  }
}

void Leaper::shift_lanes(Occupant& occupant, Time by, std::int64_t rounds) {
  const Plan& plan = *state_.run(occupant.job).plan;
  for (std::size_t lane = 0; lane < occupant.lanes.size(); ++lane) {
    LaneState& of = occupant.lanes[lane];
    if (!of.busy) continue;
    const bool is_ahead = rounds > 0 && plan.lanes[lane] == Lane::host && is_ahead_[occupant.role.index()];
    const Time moved = is_ahead ? hosts_->roles[occupant.role.index()].each * rounds : by;
    of.started += moved;
    of.end += moved;
    state_.calendar.reschedule(of.event, of.end);
  }
}

void Leaper::write_patience(const JobRun& run, Time now) {
  for (int place = 0; place < run.plan->in_flight; ++place) {
    const Slot slot = slot_at(run, place);
    const Time since = run.live->ready_since[slot];
    words_.push_back(since == Time::never() ? UINT64_MAX
                                            : (static_cast<std::uint64_t>((now - since).ns()) << 1) ^
                                                  (run.live->patience_runs[slot] ? 1U : 0U));
  }
  run.live->late.for_each_since(run.plan->pattern, run.completed, [&](const LateHistory::Iteration& past) {
    words_.push_back(static_cast<std::uint64_t>(run.completed - past.number));
    words_.insert(words_.end(), past.ranks.begin(), past.ranks.end());
    words_.push_back(UINT64_MAX);
  });
}

/// Its counters are its own (Plan::counters_recur), so all posts to them are in step with its iterations.
void Leaper::write_counters(JobId id) {
  const JobRun& run = state_.run(id);
  for (const Plan::PlannedOp& op : run.plan->ops) {
    if (op.op.kind != OpKind::post) continue;
    const CounterState& counter = state_.counter(id, op.op.counter);
    words_.push_back(static_cast<std::uint64_t>(counter.value - op.op.amount * run.completed));
    for (const CounterState::Waiting& each : counter.waiting)
      words_.push_back((in_flight(run, each.op, each.slot) << 1) ^ (each.end == Time::never() ? 0U : 1U));
    words_.push_back(UINT64_MAX);
  }
}

void Leaper::shift_counters(JobId id, std::int64_t iterations, Time by) {
  const JobRun& run = state_.run(id);
  for (const Plan::PlannedOp& op : run.plan->ops) {
    if (op.op.kind != OpKind::post) continue;
    CounterState& counter = state_.counter(id, op.op.counter);
    counter.value += op.op.amount * iterations;
    counter.posted[id] += iterations;
    for (CounterState::Waiting& each : counter.waiting) {
      each.until += op.op.amount * iterations;
      if (each.end == Time::never()) continue;
      each.end += by;
      state_.calendar.reschedule(each.event, each.end);
    }
  }
}

void Leaper::write_state(const Group& group) {
  words_.clear();
  const Time grid = network_ != nullptr ? network_->grid() : Time{};
  words_.push_back(grid > Time{} ? static_cast<std::uint64_t>(now_of(group).ns() % grid.ns()) : 0);
  for (const CellId id : group.cells) write_task(state_.at(id), now_of(group));
  for (const JobId id : group.jobs) {
    const JobRun& run = state_.run(id);
    write_pending(id, nullptr);
    if (run.plan->phases.count() > 1) {
      words_.push_back(static_cast<std::uint64_t>(run.completed % run.plan->phases.cycle_length()));
      for (int place = 0; place < run.plan->in_flight; ++place) words_.push_back(run.live->phase[slot_at(run, place)]);
    }
    for (const CellId cell : run.live->cells) {
      const Occupant& occupant = state_.occupant(cell, id);
      write_pending(id, &occupant);
      write_lanes(occupant, run, now_of(group));
    }
    if (communicates(id)) network_->save_state(id, now_of(group), words_);
    for (const TransferId transfer : run.live->transfers) {
      const Traffic& traffic = *state_.in_network[transfer.index()];
      words_.push_back(in_flight(run, traffic.op, traffic.slot));
      words_.push_back(static_cast<std::uint32_t>(traffic.rank));
      network_->save_state(transfer, now_of(group), words_);
    }
    for (const RunningTimer& timer : run.live->timers) {
      words_.push_back(in_flight(run, timer.op, timer.slot));
      // The rest of one that servers carry depends on who else uses them: such a state doesn't recur.
      const Time rest = timer.use.valid() ? now_of(group) : timer.end - now_of(group);
      words_.push_back(static_cast<std::uint64_t>(rest.ns()));
    }
    if (run.plan->patience) write_patience(run, now_of(group));
    if (!run.plan->counters.empty()) write_counters(id);
    // The order of the committed messages is not recoverable from the rest of the state.
    for (const ChannelQueue& channel : run.live->channels) {
      for (const ChannelQueue::Entry& entry : channel.committed) {
        words_.push_back(in_flight(run, entry.op, entry.slot));
      }
      words_.push_back(UINT64_MAX);
    }
    words_.push_back(UINT64_MAX);
  }
}

}  // namespace contend
