#include "sim/executor.hpp"

#include "sim/cells.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace contend {

Executor::Executor(EngineState& state, Courier& courier, std::function<void(JobId)> on_finished,
                   std::function<void(JobId)> on_checkpoint)
    : state_{state},
      courier_{courier},
      on_finished_{std::move(on_finished)},
      on_checkpoint_{std::move(on_checkpoint)} {}

void Executor::begin(JobId job) {
  JobRun& run = state_.run(job);
  const Plan& plan = *run.plan;
  run.live->pending = PendingCounts{static_cast<std::size_t>(plan.in_flight) * plan.ops.size()};
  run.live->channels.assign(plan.channels.size(), {});
  has_lanes_ = has_lanes_ || !plan.lanes.empty();
  if (state_.network->plans_ahead()) announce_traffic(job);
  LeapableNetwork* const leaping = state_.network->leaping();
  const bool asks_for_all = leaping != nullptr && !leaping->meet_on_interfaces();
  GpuTime communication;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i].op;
    if (!op.is_traffic()) continue;
    const Traffic traffic = traffic_of(job, OpId{i}, 0, plan.first_rank[op.role.index()]);
    if (!is_carried(traffic)) continue;
    const Time solo = courier_.solo_time(traffic);
    for (int rank = 1; asks_for_all && plan.ops[i].per_rank && rank < plan.ops[i].ranks; ++rank) {
      const Traffic other = traffic_of(job, OpId{i}, 0, traffic.rank + rank);
      if (is_carried(other)) static_cast<void>(courier_.solo_time(other));
    }
    for (std::size_t phase = 0; phase < plan.phases.count(); ++phase) {
      if (op.is_in(phase))
        communication += GpuTime{solo, plan.phases.left(phase, run.completed, run.iterations)} * plan.ops[i].often;
    }
  }
  if (communication > GpuTime{kLongestJobTime, 1}) {
    throw InputError{fmt::format("job `{}`: the messages of its {} iterations take longer than 100 years",
                                 run.spec->name, run.iterations)};
  }
  run.live->remaining_communication = communication.on_each_of(1);
  for (const CellId cell : run.live->cells) state_.change_load(cell, GpuTime{run.live->remaining_communication, 1});
  run.live->paced = state_.network->shifts_iterations();
  go_on(job);
}

/// Tells the network what the job sends in an iteration, averaged over those that it has left.
void Executor::announce_traffic(JobId job) {
  const JobRun& run = state_.run(job);
  const Plan& plan = *run.plan;
  const auto left = static_cast<double>(std::max<std::int64_t>(1, run.iterations - run.completed));
  std::vector<Traffic> traffic;
  std::vector<double> times;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i].op;
    if (!op.is_traffic()) continue;
    double iterations = 0;
    for (std::size_t phase = 0; phase < plan.phases.count(); ++phase)
      if (op.is_in(phase))
        iterations += static_cast<double>(plan.phases.left(phase, run.completed, run.iterations) * plan.ops[i].often);
    const int first = plan.first_rank[op.role.index()];
    for (int rank = first; rank < first + (plan.ops[i].per_rank ? plan.ops[i].ranks : 1); ++rank) {
      const Traffic each = traffic_of(job, OpId{i}, 0, rank);
      if (!is_carried(each)) continue;
      traffic.push_back(each);
      times.push_back(iterations / left);
    }
  }
  courier_.enter(job, traffic, times);
}

void Executor::go_on(JobId job) {
  JobRun& run = state_.run(job);
  const Time wait = run.live->paced ? state_.network->wait(job, state_.clock) : Time{};
  if (wait == Time{}) return open_next(job);
  run.live->step = SavingStep::shifted;
  run.ends = state_.clock + wait;
  run.end = state_.calendar.schedule(run.ends, Phase::completions, {CalendarEvent::Kind::shifted, CellId{}, job});
}

void Executor::on_shifted(JobId job) {
  JobRun& run = state_.run(job);
  ++state_.events;
  run.live->step = SavingStep::none;
  run.ends = Time::never();
  open_next(job);
}

void Executor::open_next(JobId job) {
  JobRun& run = state_.run(job);
  Slot slot = run.live->current;
  open(job, slot, true);
  for (int after = 1; run.is_open(after); ++after) open(job, slot = run.next(slot), false);
  drain();
}

namespace {

void open_rounds(const Plan& plan, Slot slot, JobExecution& live) {
  if (!plan.rounds) return;
  const std::vector<std::int32_t>& instances = plan.rounds->instances;
  live.round_left.resize(static_cast<std::size_t>(plan.in_flight) * instances.size());
  std::ranges::copy(instances, live.round_left.begin() + static_cast<std::ptrdiff_t>(slot * instances.size()));
  live.lap[slot] = 0;
}

}  // namespace

void Executor::open(JobId job, Slot slot, bool first) {
  JobRun& run = state_.run(job);
  const Plan& plan = *run.plan;
  const Slot other = run.before(slot);
  const std::size_t phase = plan.phases.count() == 1 ? 0 : plan.phases.at(run.iteration_of(slot), run.iterations);
  run.live->phase[slot] = static_cast<std::uint32_t>(phase);
  run.live->left[slot] = plan.instances[phase];
  run.live->unsent[slot] = plan.sent[phase];
  run.live->admitted[slot] = false;
  open_rounds(plan, slot, *run.live);
  if (plan.patience) {
    run.live->ready_since[slot] = Time::never();
    run.live->patience_runs[slot] = false;
    if (first) run.live->late.forget_from(run.iteration_of(slot));
  }
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Plan::PlannedOp& op = plan.ops[i];
    std::int32_t waits_for = op.predecessor_instances[0][phase];
    if (!first) waits_for += op.predecessor_instances[1][run.live->phase[other]];
    if (!op.op.is_in(phase)) waits_for = kDone;
    if (!op.per_rank) {
      run.live->pending[run.at(slot, OpId{i})] = waits_for;
      continue;
    }
    for (SeatedCell& cell : run.live->cells) {
      Occupant& occupant = state_.occupant(cell, job);
      if (occupant.role == op.op.role) occupant.pending[run.at(slot, OpId{i})] = waits_for;
    }
  }
  for (std::size_t i = 0; !first && i < plan.ops.size(); ++i) {
    // Operations of the iteration before that have already ended count towards this one.
    const OpId op{i};
    if (!run.has(other, op)) continue;
    for (const OpId after : plan.ops[i].successors[1]) {
      if (!plan.ops[i].per_rank) {
        if (run.live->pending[run.at(other, op)] == kDone)
          contribute({job, op, other, CellId::none()}, after, slot, false);
        continue;
      }
      for (SeatedCell& cell : run.live->cells) {
        const Occupant& occupant = state_.occupant(cell, job);
        if (occupant.role == plan.ops[i].op.role && occupant.pending[run.at(other, op)] == kDone) {
          contribute({job, op, other, cell}, after, slot, false);
        }
      }
    }
  }
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const OpId op{i};
    if (!plan.ops[i].per_rank) {
      if (run.live->pending[run.at(slot, op)] == 0) announce(job, op, slot, CellId::none());
      continue;
    }
    for (SeatedCell& cell : run.live->cells) {
      const Occupant& occupant = state_.occupant(cell, job);
      if (occupant.role == plan.ops[i].op.role && occupant.pending[run.at(slot, op)] == 0)
        announce(job, op, slot, cell, cell.seat);
    }
  }
}

CellId Executor::peer_cell(const Completion& done, OpId after) {
  const JobRun& run = state_.run(done.job);
  const Plan& plan = *run.plan;
  const RoleId from = plan.ops[done.op.index()].op.role;
  const RoleId to = plan.ops[after.index()].op.role;
  if (from == to) return done.cell;
  const int index = state_.occupant(done.cell, done.job).rank - plan.first_rank[from.index()];
  return run.live->cell_of_rank[static_cast<std::size_t>(plan.first_rank[to.index()] + index)];
}

void Executor::contribute(const Completion& done, OpId after, Slot slot, bool announce_ready) {
  JobRun& run = state_.run(done.job);
  if (!run.has(slot, after)) return;
  const Plan& plan = *run.plan;
  const bool from_rank = plan.ops[done.op.index()].per_rank;
  const std::size_t at = run.at(slot, after);
  const auto lower = [&](std::int32_t& pending, std::int32_t by, CellId cell, std::uint16_t seat = 0) {
    if (plan.leaves_behind && pending == kDone) return;  // it has been dropped
    pending -= by;
    CONTEND_DCHECK(pending >= 0, "an operation ends once");
    if (pending == 0 && announce_ready) announce(done.job, after, slot, cell, seat);
  };
  if (plan.ops[after.index()].late > 0) {
    std::int32_t& pending = run.live->pending[at];
    if (pending <= 0) return;  // it has begun without this rank
    pending = std::max(0, pending - state_.ranks_of(done.cell));
    if (pending == 0) begun_.push_back({done.job, after, slot});
  } else if (!plan.ops[after.index()].per_rank) {
    lower(run.live->pending[at], from_rank ? state_.ranks_of(done.cell) : 1, CellId::none());
  } else if (from_rank) {
    const CellId cell = peer_cell(done, after);
    Occupant& occupant = state_.occupant(cell, done.job);
    lower(occupant.pending[at], 1, cell, static_cast<std::uint16_t>(&occupant - state_.at(cell).occupants.data()));
  } else {
    for (SeatedCell& cell : run.live->cells) {
      Occupant& occupant = state_.occupant(cell, done.job);
      if (occupant.role == plan.ops[after.index()].op.role) lower(occupant.pending[at], 1, cell, cell.seat);
    }
  }
}

void Executor::announce(JobId job, OpId op, Slot slot, CellId cell, std::uint16_t seat) {
  const Plan& plan = *state_.run(job).plan;
  const Plan::PlannedOp& planned = plan.ops[op.index()];
  const OpKind kind = planned.op.kind;
  if (planned.op.runs_on_lane()) {
    if (plan.patience && planned.may_be_dropped) {
      Time& since = state_.run(job).live->ready_since[slot];
      since = std::min(since, state_.clock);
    }
    if (kind == OpKind::compute)
      state_.at(cell).ready.push_back({job, op, slot, seat});
    else
      state_.at(cell).occupants[seat].lanes[planned.lane].ready.push_back({op, slot});
    state_.touch(cell);
  } else if (kind == OpKind::timer) {
    start_timer(job, op, slot);
  } else if (planned.op.counts()) {
    count(job, op, slot);
  } else {
    transfer_ready(job, op, slot, cell);
  }
}

void Executor::start_timer(JobId job, OpId op, Slot slot) {
  JobRun& run = state_.run(job);
  const Plan::PlannedOp& planned = run.plan->ops[op.index()];
  if (state_.is_carried_by_hosts(planned.op)) {
    run.live->timers.push_back({op, slot, Time::never(), {}, {}});
    to_start_.push_back({job, op, slot});
    return;
  }
  const Time end = state_.clock + planned.op.duration;
  const CalendarEvent event{CalendarEvent::Kind::timer_end, CellId{}, job};
  run.live->timers.push_back({op, slot, end, state_.calendar.schedule(end, Phase::completions, event)});
}

void Executor::on_timer_end(JobId job) {
  std::vector<RunningTimer>& timers = state_.run(job).live->timers;
  const auto ended = std::find_if(timers.begin(), timers.end(), [&](const RunningTimer& each) {
    return each.end == state_.clock && !state_.calendar.pending(each.event);
  });
  CONTEND_CHECK(ended != timers.end(), "a timer that ends has run");
  const RunningTimer timer = *ended;
  timers.erase(ended);
  end_timer(job, timer);
}

void Executor::end_timer(JobId job, const RunningTimer& timer) {
  if (!timer.op.valid()) {
    expired_.push_back({job, timer.slot, state_.run(job).iteration_of(timer.slot)});
    return;
  }
  ++state_.events;
  state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
  state_.fingerprint.add((std::uint64_t{UINT32_MAX} << 32) ^ (std::uint64_t{job.value()} << 8) ^ timer.op.value());
  complete({job, timer.op, timer.slot, CellId::none()});
  drain();
}

Traffic Executor::traffic_of(JobId job, OpId op, Slot slot, int rank) {
  const JobRun& run = state_.run(job);
  const Plan::PlannedOp& planned = run.plan->ops[op.index()];
  Traffic traffic;
  traffic.job = job;
  traffic.op = op;
  traffic.slot = slot;
  traffic.since = state_.clock;
  if (!planned.per_rank) {
    traffic.among = run.live->joined_by[op.index()];
    return traffic;
  }
  traffic.rank = rank;
  const auto& first_rank = run.plan->first_rank;
  const int peer = rank - first_rank[planned.op.role.index()] + first_rank[planned.op.peer.index()];
  traffic.ends = {run.gpus[static_cast<std::size_t>(rank)], run.gpus[static_cast<std::size_t>(peer)]};
  const auto [low, high] = std::minmax({state_.server_of(traffic.ends[0]), state_.server_of(traffic.ends[1])});
  if (low != high) traffic.between = {low, high};
  return traffic;
}

// Communication inside one server is free unless the network carries it. A GPU never communicates with itself.
bool Executor::is_carried(const Traffic& traffic) const {
  if (!traffic.servers().empty()) return true;
  if (!state_.network->carries_inside_servers()) return false;
  if (traffic.rank >= 0) return traffic.ends[0] != traffic.ends[1];
  const Plan::PlannedOp& planned = state_.run(traffic.job).plan->ops[traffic.op.index()];
  if (planned.op.kind == OpKind::message) return planned.op.role != planned.op.peer;
  return planned.op.scope == CollectiveScope::groups ? planned.op.groups.most() > 1 : planned.ranks > 1;
}

void Executor::transfer_ready(JobId job, OpId op, Slot slot, CellId cell) {
  const int rank = cell.valid() ? state_.occupant(cell, job).rank : -1;
  const Traffic traffic = traffic_of(job, op, slot, rank);
  if (!is_carried(traffic)) {
    if (const Op& sent = state_.run(job).plan->ops[op.index()].op; sent.sends())
      state_.run(job).live->unsent[slot] -= sent.all_bytes();
    done_now_.push_back({job, op, slot, cell});
    return;
  }
  courier_.hold(traffic);
}

void Executor::complete(const Completion& done) {
  JobRun& run = state_.run(done.job);
  const Plan::PlannedOp& op = run.plan->ops[done.op.index()];
  const std::size_t at = run.at(done.slot, done.op);
  if (op.per_rank) {
    state_.occupant(done.cell, done.job).pending[at] = kDone;
    run.live->left[done.slot] -= state_.ranks_of(done.cell);
    if (op.is_last_awaited && !run.live->patience_runs[done.slot] && has_done_awaited(done))
      start_patience(done.job, done.slot);
  } else {
    run.live->pending[at] = kDone;
    run.live->left[done.slot] -= 1;
  }
  for (const OpId after : op.successors[0]) contribute(done, after, done.slot, true);
  if (!op.successors[1].empty() && run.is_open(run.place_of(done.slot) + 1)) {
    for (const OpId after : op.successors[1]) contribute(done, after, run.next(done.slot), true);
  }
  if (run.plan->rounds && op.op.round != kNoRound) end_in_round(done);
  if (run.live->left[run.live->current] == 0) end_iteration(done.job);
}

void Executor::end_in_round(const Completion& done) {
  JobRun& run = state_.run(done.job);
  const Plan::PlannedOp& op = run.plan->ops[done.op.index()];
  const std::size_t rounds = run.plan->rounds->ops.size(), first = done.slot * rounds;
  std::vector<std::int32_t>& left = run.live->round_left;
  left[first + static_cast<std::size_t>(op.op.round)] -= op.per_rank ? state_.ranks_of(done.cell) : 1;
  std::int32_t& lap = run.live->lap[done.slot];
  const std::int32_t before = lap;
  while (static_cast<std::size_t>(lap) < rounds && left[first + static_cast<std::size_t>(lap)] == 0) ++lap;
  if (lap > before && done.slot == run.live->current) state_.lapped.push_back(done.job);
}

void Executor::end_iteration(JobId job) {
  JobRun& run = state_.run(job);
  while (run.live->left[run.live->current] == 0) {
    if (run.live->patience_runs[run.live->current]) forget_patience(run);
    if (run.plan->rounds && !std::exchange(run.live->has_leapt, false)) throw UnleaptRounds{};
    ++run.completed;
    state_.iterated.push_back(job);
    run.live->iterated = state_.clock;
    if (state_.options.leap)
      run.live->ends[static_cast<std::size_t>(run.completed % JobExecution::kEndsKept)] = state_.clock;
    if (run.completed == run.live->iterations) return on_finished_(job);
    if (run.completed == run.live->next_save) {
      if (!state_.plan_checkpoint(run)) return go_on(job);  // there is time for further iterations
      run.live->interval = {run.completed, state_.clock, run.totals.overhead};
      if (run.live->stops) return on_checkpoint_(job);
      run.live->saved_before = std::exchange(run.live->saved, run.live->interval);
    } else if (run.live->next_save < 0) {
      state_.plan_checkpoint(run);
    }
    if (run.live->paced) return go_on(job);
    const Slot freed = run.live->current;
    run.live->current = run.next(freed);
    if (run.is_open(run.plan->in_flight - 1)) open(job, freed, false);
  }
}

void Executor::drain() {
  while (!done_now_.empty()) {
    const Completion done = done_now_.back();
    done_now_.pop_back();
    complete(done);
  }
}

void Executor::on_task_end(CellId id) {
  Cell& cell = state_.at(id);
  JobRun& run = state_.run(cell.running.job);
  if (cell.chained) {
    EngineState::settle(run, state_.clock);
    Occupant& occupant = state_.occupant(id, cell.running.job);
    while (run.plan->ops[cell.running.op.index()].then.valid()) end_of_link(state_, id, run, occupant);
    cell.chained = false;
  }
  const ReadyTask task = cell.running;
  const Time duration = run.plan->ops[task.op.index()].op.duration;
  const Time held = state_.clock - cell.started;  // longer than the duration if something slowed the task
  cell.busy = false;
  cell.totals.busy += held;
  state_.change_load(id, GpuTime{} - GpuTime{duration, 1});
  state_.occupant(id, task.job).remaining_compute -= duration;
  const int ranks = state_.ranks_of(id);
  const GpuTime service{duration, ranks};
  run.remaining_service -= service;
  run.totals.compute += service;
  if (held != duration) run.totals.slowed += GpuTime{held - duration, ranks};
  run.key_is_stale = true;
  ++state_.events;
  state_.leapt_events += static_cast<std::uint64_t>(ranks - 1);
  state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
  state_.fingerprint.add((std::uint64_t{state_.first_of(id).value()} << 32) ^ (std::uint64_t{task.job.value()} << 8) ^
                         task.op.value());
  if (state_.options.observer != nullptr) {
    const Op& op = run.plan->ops[task.op.index()].op;
    for (const GpuId gpu : cell.gpus) {
      state_.options.observer->compute(gpu, task.job, op, run.iteration_of(task.slot), cell.started, state_.clock);
    }
  }
  state_.touch(id);
  state_.mark_pace(id);
  complete({task.job, task.op, task.slot, id});
  drain();
}

void Executor::end_transfers() {
  ended_.clear();
  courier_.end_due(ended_);
  for (const Traffic& traffic : ended_) state_.fetch_occupants_of(traffic.job);
  courier_.fetch_refused();
  for (const Traffic& traffic : ended_) {
    JobRun& run = state_.run(traffic.job);
    const Plan::PlannedOp& planned = run.plan->ops[traffic.op.index()];
    if (!planned.per_rank || traffic.rank == run.plan->first_rank[planned.op.role.index()]) {
      const Time solo = courier_.solo_time(traffic);
      run.live->remaining_communication -= solo;  // messages count once
      for (const CellId seat : run.live->cells) state_.change_load(seat, GpuTime{} - GpuTime{solo, 1});
    }
    const CellId cell =
        traffic.rank < 0 ? CellId::none() : run.live->cell_of_rank[static_cast<std::size_t>(traffic.rank)];
    complete({traffic.job, traffic.op, traffic.slot, cell});
    drain();
  }
}

void Executor::dispatch() {
  just_started_.clear();
  for (const CellId id : state_.touched) state_.fetch_keys(state_.at(id));
  for (const CellId id : state_.touched) {
    Cell& cell = state_.at(id);
    cell.touched = false;
    if (!cell.busy && !cell.ready.empty()) start_task(id);
    if (has_lanes_) start_on_lanes(id);
  }
  state_.touched.clear();
  if (state_.fold && just_started_.size() > 1) merge_equal(state_, just_started_);
}

bool Executor::keeps_its_gpus(const Cell& cell) {
  const JobId job = cell.running.job;
  return std::all_of(cell.who.begin(), cell.who.end(),
                     [&](JobId other) { return other == job || state_.stays_behind(other, job); });
}

void Executor::start_task(CellId id) {
  Cell& cell = state_.at(id);
  std::size_t best = 0;
  if (cell.ready.size() > 1) {
    // Most keys differ, and what breaks ties lies elsewhere in memory.
    const auto tie = [&](const ReadyTask& task) {
      const JobRun& run = state_.run(task.job);
      const int later = run.place_of(task.slot);
      return std::tuple{run.start, task.job, later, run.plan->ops[task.op.index()].op.priority, task.op};
    };
    PolicyKey best_key = state_.key(cell.ready[0].job);
    for (std::size_t i = 1; i < cell.ready.size(); ++i) {
      const PolicyKey key = state_.key(cell.ready[i].job);
      if (key > best_key || (key == best_key && tie(cell.ready[best]) < tie(cell.ready[i]))) continue;
      best = i;
      best_key = key;
    }
  }
  cell.running = cell.ready[best];
  cell.ready[best] = cell.ready.back();
  cell.ready.pop_back();
  cell.busy = true;
  cell.started = state_.clock;
  JobRun& run = state_.run(cell.running.job);
  const auto& ops = run.plan->ops;
  OpId op = cell.running.op;
  cell.end = state_.clock + state_.length_on(cell, ops[op.index()].op.duration);
  // Interference changes the rate of single tasks.
  cell.chained = state_.options.leap && state_.options.interference.none() && cell.slowness == Slowdown::kFullPace &&
                 ops[op.index()].then.valid() && keeps_its_gpus(cell);
  if (cell.chained) state_.note_load(id);
  for (; cell.chained && ops[op.index()].then.valid(); op = ops[op.index()].then) {
    run.promise(cell.end, GpuTime{ops[op.index()].op.duration, cell.ranks()});
    cell.end += ops[ops[op.index()].then.index()].op.duration;
  }
  cell.event = state_.calendar.schedule(cell.end, Phase::completions,
                                        {CalendarEvent::Kind::task_end, id, cell.running.job, cell.running.seat});
  if (!state_.options.interference.none()) {
    cell.pace = PacedTask{ops[op.index()].op.duration, state_.clock, state_.options.interference};
    state_.mark_pace(id);
  }
  just_started_.push_back(id);
}

}  // namespace contend
