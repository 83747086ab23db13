#include "sim/cells.hpp"

#include "sim/check.hpp"
#include "sim/server_folding.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

/// Brings the totals of each GPU up to date, so that the GPUs no longer depend on their common cell.
void flush_totals(EngineState& state, Cell& cell) {
  cell.formed = ++state.groups_changed;
  for (const JobId job : cell.who) state.note_change(job);
  for (const GpuId id : cell.gpus) state.gpu[id.index()].totals += cell.totals;
  cell.totals = {};
}

CellId take_cell(EngineState& state) {
  if (state.unused_cells.empty()) {
    state.cells.emplace_back(&state.arena.pool);
    state.loads.emplace_back();
    state.load_is_noted.push_back(0);
    return CellId{state.cells.size() - 1};
  }
  const CellId id = state.unused_cells.back();
  state.unused_cells.pop_back();
  return id;
}

void cancel_lanes(EngineState& state, Occupant& occupant) {
  for (std::size_t lane = 0; lane < occupant.lanes.size(); ++lane)
    if (occupant.lanes[lane].busy) state.calendar.cancel(occupant.lanes[lane].event);
}

/// Moves `part`, some but not all GPUs of the cell, into a new cell in the same state.
CellId split(EngineState& state, CellId id, const std::vector<GpuId>& part) {
  flush_totals(state, state.at(id));
  const CellId created = take_cell(state);
  Cell& old_cell = state.at(id);
  Cell& new_cell = state.at(created);
  new_cell = old_cell;
  state.loads[created.index()] = state.loads[id.index()];
  state.note_load(created);
  new_cell.gpus.assign(part.begin(), part.end());
  for (const GpuId gpu : part) state.gpu[gpu.index()].cell = created;
  const auto is_part = [&](GpuId gpu) { return state.gpu[gpu.index()].cell == created; };
  old_cell.gpus.erase(std::remove_if(old_cell.gpus.begin(), old_cell.gpus.end(), is_part), old_cell.gpus.end());
  CONTEND_DCHECK(!old_cell.gpus.empty(), "a split leaves something behind");
  if (new_cell.busy) {
    new_cell.event =
        state.calendar.schedule(new_cell.end, Phase::completions,
                                {CalendarEvent::Kind::task_end, created, new_cell.running.job, new_cell.running.seat});
  }
  for (Occupant& occupant : new_cell.occupants) {
    for (std::size_t lane = 0; lane < occupant.lanes.size(); ++lane)
      if (LaneState& of = occupant.lanes[lane]; of.busy) of.event = schedule_on_lane(state, created, occupant, lane);
    const auto& cells = state.run(occupant.job).live->cells;
    state.run(occupant.job).live->cells.push_back(created);
    int& most = state.folding[occupant.job.index()].simulated_gpus;
    most = std::max(most, static_cast<int>(cells.size()));
  }
  if (new_cell.touched) state.touched.push_back(created);
  if (new_cell.is_unpaced) state.unpaced.push_back(created);
  return created;
}

/// Moves the GPUs of `from` into a cell that is equal and whose totals have been brought up to date.
void absorb(EngineState& state, CellId into, CellId from) {
  Cell& kept = state.at(into);
  Cell& gone = state.at(from);
  flush_totals(state, gone);
  for (const GpuId gpu : gone.gpus) state.gpu[gpu.index()].cell = into;
  kept.gpus.insert(kept.gpus.end(), gone.gpus.begin(), gone.gpus.end());
  for (Occupant& occupant : gone.occupants) {
    std::erase(state.run(occupant.job).live->cells, from);
    cancel_lanes(state, occupant);
  }
  if (gone.busy) state.calendar.cancel(gone.event);
  state.note_load(into);
  gone = Cell{&state.arena.pool};
  state.loads[from.index()] = GpuTime{};
  state.unused_cells.push_back(from);
}

void merge(EngineState& state, CellId into, CellId from) {
  flush_totals(state, state.at(into));
  absorb(state, into, from);
}

/// Joins the cells of a job's GPUs on which no job runs, the cells of each role apart, so that a job of many ranks need
/// not begin with a cell for each of them.
void join_idle(EngineState& state, const Plan& plan, const std::vector<GpuId>& gpus) {
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    CellId joined;
    for (int i = 0; i < plan.roles[r].ranks; ++i) {
      const CellId cell = state.gpu[gpus[static_cast<std::size_t>(plan.first_rank[r] + i)].index()].cell;
      if (cell == joined || !state.at(cell).occupants.empty()) continue;
      if (joined.valid() && state.at(joined).slowness == state.at(cell).slowness) {
        absorb(state, joined, cell);
      } else if (!joined.valid()) {
        joined = cell;
        flush_totals(state, state.at(joined));
      }
    }
  }
}

/// Makes the tasks of a chain go on one by one, so that the tasks of a new neighbour can come between them.
void break_chain(EngineState& state, CellId id) {
  Cell& cell = state.at(id);
  if (!cell.busy || !std::exchange(cell.chained, false)) return;
  JobRun& run = state.run(cell.running.job);
  EngineState::settle(run, state.clock);
  const auto duration_of = [&](OpId op) { return run.plan->ops[op.index()].op.duration; };
  const auto next_of = [&](OpId op) { return run.plan->ops[op.index()].then; };
  Occupant& occupant = state.occupant(id, cell.running.job);
  bool between = false;  // a task ended at this very instant
  while (!between && cell.started + duration_of(cell.running.op) <= state.clock) {
    end_of_link(state, id, run, occupant);
    between = cell.started == state.clock;
  }
  // The tasks that have not ended will credit their service themselves, so their promises are dropped.
  Time at = cell.started;
  for (OpId op = cell.running.op; next_of(op).valid(); op = next_of(op)) {
    at += duration_of(op);
    const auto promise = std::find_if(run.live->promises.begin(), run.live->promises.end(),
                                      [&](const Promise& p) { return p.at == at; });
    CONTEND_CHECK(promise != run.live->promises.end(), "a chain has promised the service of its tasks");
    promise->service -= GpuTime{duration_of(op), cell.ranks()};
  }
  std::erase_if(run.live->promises, [](const Promise& promise) { return promise.service == GpuTime{}; });
  run.next_promise = Time::never();
  for (const Promise& promise : run.live->promises) run.next_promise = std::min(run.next_promise, promise.at);
  if (between) {  // the next task has to compete
    state.calendar.cancel(cell.event);
    cell.busy = false;
    cell.ready.push_back(cell.running);
    state.touch(id);
  } else {
    cell.end = cell.started + duration_of(cell.running.op);
    state.calendar.reschedule(cell.event, cell.end);
  }
}

bool same_progress(const Occupant& a, const Occupant& b) {
  return a.job == b.job && a.role == b.role && a.remaining_compute == b.remaining_compute && a.pending == b.pending &&
         a.lanes.runs_as(b.lanes);
}

bool can_merge(EngineState& state, const Cell& a, const Cell& b) {
  return a.running == b.running && a.end == b.end && a.chained == b.chained && a.slowness == b.slowness &&
         a.who == b.who &&
         std::equal(a.occupants.begin(), a.occupants.end(), b.occupants.begin(), b.occupants.end(), same_progress) &&
         std::all_of(a.who.begin(), a.who.end(), [&](JobId job) { return state.run(job).plan->foldable; });
}

Occupant new_occupant(const JobRun& run, JobId job, RoleId role, int rank) {
  Occupant occupant;
  occupant.job = job;
  occupant.role = role;
  occupant.rank = rank;
  occupant.remaining_compute = run.plan->compute_left(role, run.completed, run.iterations);
  occupant.pending = PendingCounts{static_cast<std::size_t>(run.plan->in_flight) * run.plan->ops.size()};
  occupant.lanes = LaneTable{run.plan->lanes.size()};
  return occupant;
}

/// A hash that is equal for cells that can be merged.
std::uint64_t hash_of(const Cell& cell) {
  Fingerprint hash;
  hash.add((std::uint64_t{cell.running.job.value()} << 32) ^ (std::uint64_t{cell.running.op.value()} << 1) ^
           cell.running.slot);
  hash.add(static_cast<std::uint64_t>(cell.end.ns()));
  for (const JobId job : cell.who) hash.add(job.value());
  return hash.value();
}

}  // namespace

void end_of_link(EngineState& state, CellId id, JobRun& run, Occupant& occupant) {
  Cell& cell = state.at(id);
  const Plan::PlannedOp& op = run.plan->ops[cell.running.op.index()];
  occupant.pending[run.at(cell.running.slot, cell.running.op)] = kDone;
  occupant.pending[run.at(cell.running.slot, op.then)] -= 1;
  occupant.remaining_compute -= op.op.duration;
  state.loads[id.index()] -= GpuTime{op.op.duration, 1};
  run.live->left[cell.running.slot] -= cell.ranks();
  cell.totals.busy += op.op.duration;
  cell.started += op.op.duration;
  cell.running.op = op.then;
  state.leapt_events += static_cast<std::uint64_t>(cell.ranks());
}

void occupy(EngineState& state, JobId job) {
  JobRun& run = state.run(job);
  const Plan& plan = *run.plan;
  const std::vector<GpuId>& gpus = run.gpus;
  run.live = state.arena.make<JobExecution>();
  run.live->for_key = state.view(job, true);
  run.live->iterations = run.iterations;
  if (state.options.leap) run.live->ends.resize(JobExecution::kEndsKept);
  run.live->cell_of_rank.assign(plan.foldable ? 0 : gpus.size(), CellId::none());
  if (state.folding.empty()) state.folding.resize(state.jobs.size());
  FoldingCounts& counts = state.folding[job.index()] = {};
  counts.gpus = static_cast<int>(gpus.size());
  counts.roles = static_cast<int>(plan.roles.size());
  counts.unfolded.run_does_not_fold = !state.fold;
  counts.unfolded.single_ranks_wait = !plan.foldable;

  if (state.fold && plan.foldable) join_idle(state, plan, gpus);
  std::vector<std::pair<CellId, int>> seats;  // cell as it was before any split, rank
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    seats.emplace_back(state.gpu[gpus[rank].index()].cell, static_cast<int>(rank));
    run.live->servers.push_back(state.server_of(gpus[rank]));
  }
  // Interchangeable ranks in one cell stay together, in one cell for each role; other ranks get a cell each.
  std::stable_sort(seats.begin(), seats.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t begin = 0; begin < seats.size();) {
    std::size_t end = begin + 1;
    const RoleId role = plan.role_of(seats[begin].second);
    while (plan.foldable && end < seats.size() && seats[end].first == seats[begin].first &&
           plan.role_of(seats[end].second) == role)
      ++end;
    std::vector<GpuId> taken;
    for (std::size_t i = begin; i < end; ++i) taken.push_back(gpus[static_cast<std::size_t>(seats[i].second)]);
    CellId cell = state.gpu[taken.front().index()].cell;
    break_chain(state, cell);
    if (taken.size() < state.at(cell).gpus.size()) cell = split(state, cell, taken);

    const int rank = seats[begin].second;
    Occupant occupant = new_occupant(run, job, role, rank);
    state.change_load(cell, GpuTime{occupant.remaining_compute, 1});
    state.at(cell).occupants.push_back(std::move(occupant));
    state.at(cell).who.push_back(job);
    state.at(cell).seated = ++state.groups_changed;
    for (const JobId other : state.at(cell).who) {
      state.note_change(other);
      if (state.at(cell).who.size() > 1) state.folding[other.index()].unfolded.jobs_beside = true;
    }
    if (state.at(cell).slowness != Slowdown::kFullPace) counts.unfolded.slow_gpus = true;
    run.live->cells.emplace_back(cell, state.at(cell).occupants.size() - 1);
    if (!plan.foldable) run.live->cell_of_rank[static_cast<std::size_t>(rank)] = cell;
    begin = end;
  }

  counts.simulated_gpus = static_cast<int>(run.live->cells.size());

  std::vector<ServerId>& servers = run.live->servers;
  std::sort(servers.begin(), servers.end());
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  join_servers(state, job);
  fold_servers(state, job);
}

void leave(EngineState& state, JobId job) {
  JobRun& run = state.run(job);
  for (const CellId id : run.live->cells) {
    Cell& cell = state.at(id);
    if (cell.busy && cell.running.job == job) {
      const int cut_off = state.done_in_chain(cell).tasks * cell.ranks();
      state.leapt_events += static_cast<std::uint64_t>(cut_off);
      state.calendar.cancel(cell.event);
      cell.busy = cell.chained = false;
      cell.totals.busy += state.clock - cell.started;
    }
    for (const JobId other : cell.who) state.note_change(other);
    Occupant& occupant = state.occupant(id, job);
    cancel_lanes(state, occupant);
    state.change_load(id, GpuTime{} - state.load_of(occupant));
    std::erase_if(cell.occupants, [&](const Occupant& each) { return each.job == job; });
    cell.who.erase(std::remove(cell.who.begin(), cell.who.end(), job), cell.who.end());
    const auto is_its = [job](const ReadyTask& task) { return task.job == job; };
    cell.ready.erase(std::remove_if(cell.ready.begin(), cell.ready.end(), is_its), cell.ready.end());
    state.touch(id);
    state.mark_pace(id);
  }
  if (state.options.leap)
    state.changed_servers.insert(state.changed_servers.end(), run.live->servers.begin(), run.live->servers.end());
  unfold_servers(state, job);
  if (!run.plan->counters.empty()) state.stop_awaiting(job);
  run.live.reset();
  run.next_promise = Time::never();
  ++state.groups_changed;
}

EventHandle schedule_on_lane(EngineState& state, CellId cell, const Occupant& occupant, std::size_t lane) {
  return state.calendar.schedule(occupant.lanes[lane].end, Phase::completions,
                                 {CalendarEvent::Kind::lane_end, cell, occupant.job, static_cast<std::uint16_t>(lane)});
}

namespace {

/// The GPU runs its further streams, and so their tasks take longer, too.
void slow_streams(EngineState& state, Occupant& occupant, std::int32_t slowness, std::int32_t before) {
  for (std::size_t lane = 0; lane < occupant.lanes.size(); ++lane) {
    LaneState& of = occupant.lanes[lane];
    if (!of.busy || !is_stream(state.run(occupant.job).plan->lanes[lane])) continue;
    of.end = state.clock + stretched(of.end - state.clock, slowness, before);
    state.calendar.reschedule(of.event, of.end);
  }
}

}  // namespace

void set_slowness(EngineState& state, GpuId gpu, std::int32_t slowness) {
  CellId id = state.gpu[gpu.index()].cell;
  if (state.at(id).slowness == slowness) return;
  break_chain(state, id);
  for (const JobId job : state.at(id).who) state.folding[job.index()].unfolded.slow_gpus = true;
  if (state.at(id).ranks() > 1) id = split(state, id, {gpu});
  Cell& cell = state.at(id);
  const std::int32_t before = std::exchange(cell.slowness, slowness);
  cell.formed = cell.seated = ++state.groups_changed;
  for (const JobId job : cell.who) state.note_change(job);
  for (Occupant& occupant : cell.occupants) slow_streams(state, occupant, slowness, before);
  if (!cell.busy) return;
  cell.end = state.clock + stretched(cell.end - state.clock, slowness, before);
  state.calendar.reschedule(cell.event, cell.end);
}

void update_slowness(EngineState& state, GpuId gpu) {
  std::int64_t slowness = state.gpu_slowness.empty() ? Slowdown::kFullPace : state.gpu_slowness[gpu.index()];
  if (!state.job_work.empty()) {
    constexpr std::int64_t kFull = Slowdown::kFullPace;
    slowness = (slowness * state.job_work[gpu.index()] + kFull - 1) / kFull;
  }
  set_slowness(state, gpu, static_cast<std::int32_t>(std::min<std::int64_t>(slowness, INT32_MAX)));
}

void forget_saved_state(EngineState& state, ServerId server) {
  const auto per_server = static_cast<std::size_t>(state.spec.gpus_per_server);
  for (std::size_t g = server.index() * per_server; g < (server.index() + 1) * per_server; ++g) {
    Cell& cell = state.at(state.gpu[g].cell);
    if (cell.who.empty()) continue;
    cell.formed = ++state.groups_changed;
    for (const JobId job : cell.who) state.note_change(job);
  }
}

void merge_equal(EngineState& state, const std::vector<CellId>& just_started) {
  // Cells with different hashes differ; cells with equal hashes are neighbours after sorting and are compared in full.
  struct Candidate {
    std::uint64_t hash;
    CellId cell;
    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(just_started.size());
  for (const CellId id : just_started) candidates.push_back({hash_of(state.at(id)), id});
  std::sort(candidates.begin(), candidates.end());
  for (std::size_t begin = 0; begin < candidates.size();) {
    std::size_t end = begin + 1;
    while (end < candidates.size() && candidates[end].hash == candidates[begin].hash) ++end;
    // A cell joins the first kept one that equals it in every respect.
    std::size_t kept = begin;
    for (std::size_t i = begin; i < end; ++i) {
      std::size_t k = begin;
      while (k < kept && !can_merge(state, state.at(candidates[k].cell), state.at(candidates[i].cell))) ++k;
      if (k < kept) {
        merge(state, candidates[k].cell, candidates[i].cell);
      } else {
        candidates[kept++] = candidates[i];
      }
    }
    begin = end;
  }
}

void check_seats(const EngineState& state) {
  std::size_t seated = 0;
  for (std::size_t c = 0; c < state.cells.size(); ++c) {
    const Cell& cell = state.cells[c];
    seated += cell.gpus.size();
    for (const GpuId gpu : cell.gpus) {
      CONTEND_CHECK(state.gpu[gpu.index()].cell == CellId{c}, "a GPU knows its cell");
    }
    CONTEND_CHECK(cell.who.size() == cell.occupants.size(), "a cell knows the jobs on it");
    GpuTime load;
    for (const Occupant& occupant : cell.occupants) load += state.load_of(occupant);
    CONTEND_CHECK(state.loads[c] == load, "a cell knows its load");
    for (const JobId job : cell.who) {
      const auto& cells = state.jobs[job.index()].live->cells;
      CONTEND_CHECK(std::find(cells.begin(), cells.end(), CellId{c}) != cells.end(), "a job knows its cells");
    }
  }
  CONTEND_CHECK(seated == state.gpu.size(), "every GPU is in one cell");
}

}  // namespace contend
