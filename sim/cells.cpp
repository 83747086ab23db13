#include "sim/cells.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <tuple>

namespace contend {

namespace {

/// Brings the accounts of the GPUs up to date, so that each goes its own way from here.
void flush_busy_time(EngineState& state, Cell& cell) {
  cell.formed = ++state.groups_changed;
  for (const GpuId id : cell.gpus) state.gpu[id.index()].busy += cell.busy_time;
  cell.busy_time = Time{};
}

CellId take_cell(EngineState& state) {
  if (state.unused_cells.empty()) {
    state.cells.emplace_back();
    return CellId{state.cells.size() - 1};
  }
  const CellId id = state.unused_cells.back();
  state.unused_cells.pop_back();
  return id;
}

/// Moves `part`, some but not all GPUs of the cell, into a new cell in the same state.
CellId split(EngineState& state, CellId id, const std::vector<GpuId>& part) {
  flush_busy_time(state, state.at(id));
  const CellId created = take_cell(state);
  Cell& old_cell = state.at(id);
  Cell& new_cell = state.at(created);
  new_cell = old_cell;
  new_cell.gpus = part;
  std::erase_if(old_cell.gpus, [&](GpuId gpu) { return std::find(part.begin(), part.end(), gpu) != part.end(); });
  CONTEND_DCHECK(!old_cell.gpus.empty(), "a split leaves something behind");
  for (const GpuId gpu : part) state.gpu[gpu.index()].cell = created;
  if (new_cell.busy) {
    new_cell.event =
        state.calendar.schedule(new_cell.end, Phase::completions, {CalendarEvent::Kind::task_end, created});
  }
  for (const Occupant& occupant : new_cell.occupants) state.run(occupant.job).cells.push_back(created);
  if (new_cell.touched) state.touched.push_back(created);
  return created;
}

void merge(EngineState& state, CellId into, CellId from) {
  Cell& kept = state.at(into);
  Cell& gone = state.at(from);
  flush_busy_time(state, kept);
  flush_busy_time(state, gone);
  for (const GpuId gpu : gone.gpus) state.gpu[gpu.index()].cell = into;
  kept.gpus.insert(kept.gpus.end(), gone.gpus.begin(), gone.gpus.end());
  for (const Occupant& occupant : gone.occupants) std::erase(state.run(occupant.job).cells, from);
  state.calendar.cancel(gone.event);
  gone = Cell{};
  state.unused_cells.push_back(from);
}

bool same_progress(const Occupant& a, const Occupant& b) {
  return a.job == b.job && a.remaining_compute == b.remaining_compute && a.pending == b.pending;
}

bool can_merge(EngineState& state, const Cell& a, const Cell& b) {
  return std::equal(a.occupants.begin(), a.occupants.end(), b.occupants.begin(), b.occupants.end(), same_progress) &&
         std::all_of(a.occupants.begin(), a.occupants.end(),
                     [&](const Occupant& occupant) { return state.run(occupant.job).plan->foldable; });
}

}  // namespace

void occupy(EngineState& state, JobId job, std::span<const GpuId> gpus) {
  JobRun& run = state.run(job);
  const Plan& plan = *run.plan;
  run.cells.clear();
  run.servers.clear();
  run.role_servers.assign(plan.roles.size(), {});
  run.cell_of_rank.assign(plan.foldable ? 0 : gpus.size(), CellId::none());

  std::vector<std::pair<CellId, int>> seats;  // cell as it was before any split, rank
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    GpuState& gpu = state.gpu[gpus[rank].index()];
    seats.emplace_back(gpu.cell, static_cast<int>(rank));
    gpu.free_memory -= run.spec->memory_per_gpu;
    ++gpu.jobs_started;
    run.servers.push_back(state.server_of(gpus[rank]));
  }
  // Ranks that can't be told apart and fall into one cell stay together; others get a cell each.
  std::stable_sort(seats.begin(), seats.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t begin = 0; begin < seats.size();) {
    std::size_t end = begin + 1;
    while (plan.foldable && end < seats.size() && seats[end].first == seats[begin].first) ++end;
    std::vector<GpuId> taken;
    for (std::size_t i = begin; i < end; ++i) taken.push_back(gpus[static_cast<std::size_t>(seats[i].second)]);
    CellId cell = state.gpu[taken.front().index()].cell;
    if (taken.size() < state.at(cell).gpus.size()) cell = split(state, cell, taken);

    const int rank = seats[begin].second;
    const auto role = std::upper_bound(plan.first_rank.begin(), plan.first_rank.end(), rank) - plan.first_rank.begin();
    Occupant occupant;
    occupant.job = job;
    occupant.role = RoleId{static_cast<std::size_t>(role - 1)};
    occupant.rank = rank;
    occupant.remaining_compute = plan.compute_per_rank[occupant.role.index()] * (run.spec->iterations - run.completed);
    occupant.pending.assign(2 * plan.ops.size(), 0);
    state.at(cell).occupants.push_back(std::move(occupant));
    state.at(cell).seated = ++state.groups_changed;
    run.cells.push_back(cell);
    if (!plan.foldable) run.cell_of_rank[static_cast<std::size_t>(rank)] = cell;
    begin = end;
  }

  const auto sort_unique = [](std::vector<ServerId>& servers) {
    std::sort(servers.begin(), servers.end());
    servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  };
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    const auto first = static_cast<std::size_t>(plan.first_rank[r]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(plan.roles[r].ranks); ++i) {
      run.role_servers[r].push_back(state.server_of(gpus[first + i]));
    }
    sort_unique(run.role_servers[r]);
  }
  sort_unique(run.servers);
}

void leave(EngineState& state, JobId job) {
  JobRun& run = state.run(job);
  for (const CellId id : run.cells) {
    Cell& cell = state.at(id);
    if (cell.busy && cell.running.job == job) {
      state.calendar.cancel(cell.event);
      cell.busy = false;
      cell.busy_time += state.clock - cell.started;
    }
    std::erase_if(cell.occupants, [&](const Occupant& occupant) { return occupant.job == job; });
    std::erase_if(cell.ready, [&](const ReadyTask& task) { return task.job == job; });
    for (const GpuId gpu : cell.gpus) state.gpu[gpu.index()].free_memory += run.spec->memory_per_gpu;
    state.touch(id);
  }
  run.cells.clear();
  run.cell_of_rank.clear();
  state.memory_was_freed = true;
  ++state.groups_changed;
}

void merge_equal(EngineState& state, std::vector<CellId>& just_started) {
  // Candidates run the same task; sorted by it, they stand side by side.
  const auto signature = [&](CellId id) {
    const Cell& cell = state.at(id);
    return std::tuple{cell.running.job, cell.running.op, cell.running.slot, cell.end, cell.occupants.size(), id};
  };
  std::sort(just_started.begin(), just_started.end(), [&](CellId a, CellId b) { return signature(a) < signature(b); });
  const auto same_task = [&](CellId a, CellId b) {
    const Cell& x = state.at(a);
    const Cell& y = state.at(b);
    return x.running.job == y.running.job && x.running.op == y.running.op && x.running.slot == y.running.slot &&
           x.end == y.end && x.occupants.size() == y.occupants.size();
  };
  for (std::size_t begin = 0; begin < just_started.size();) {
    std::size_t end = begin + 1;
    while (end < just_started.size() && same_task(just_started[begin], just_started[end])) ++end;
    // Within such a run a cell joins the first kept cell that equals it in every respect.
    std::size_t kept = begin;
    for (std::size_t i = begin; i < end; ++i) {
      std::size_t k = begin;
      while (k < kept && !can_merge(state, state.at(just_started[k]), state.at(just_started[i]))) ++k;
      if (k < kept) {
        merge(state, just_started[k], just_started[i]);
      } else {
        just_started[kept++] = just_started[i];
      }
    }
    begin = end;
  }
}

}  // namespace contend
