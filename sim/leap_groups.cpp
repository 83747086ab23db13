// The part of the leaper that puts jobs into groups and finds the dominant and the stuck ones (see leaper.hpp).

#include "sim/leaper.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace contend {

namespace {

constexpr std::uint32_t kNoGroup = UINT32_MAX;
constexpr std::uint64_t kFirstPatience = 512;
constexpr std::uint64_t kLongestPatience = 65536;

std::uint32_t find_root(std::vector<std::uint32_t>& parent, std::uint32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

}  // namespace

bool Leaper::communicates(JobId id) const {
  const JobRun& run = state_.run(id);
  return run.plan->communicates && (run.live->servers.size() > 1 || state_.network->carries_inside_servers());
}

bool Leaper::is_dominated(const Cell& cell) const {
  return cell.busy && dominant_since_[cell.running.job.index()] != 0;
}

bool Leaper::dominates(JobId id) const {
  if (!state_.options.interference.none()) return false;  // transfers of other jobs slow its tasks down
  const JobRun& run = state_.run(id);
  if (!run.plan->foldable || run.plan->roles.size() > 1 || communicates(id)) return false;
  if (run.key_fall < 0) return false;
  const Cell& first = state_.at(run.live->cells.front());
  const Occupant& rank = state_.occupant(run.live->cells.front(), id);
  return std::all_of(run.live->cells.begin(), run.live->cells.end(), [&](CellId cell_id) {
    const Cell& cell = state_.at(cell_id);
    const Occupant& other_rank = state_.occupant(cell_id, id);
    if (!cell.busy || cell.running != first.running || cell.running.job != id || cell.end != first.end ||
        other_rank.pending != rank.pending || other_rank.remaining_compute != rank.remaining_compute) {
      return false;
    }
    return std::all_of(cell.who.begin(), cell.who.end(),
                       [&](JobId other) { return other == id || state_.stays_behind(other, id); });
  });
}

void Leaper::find_dominant() {
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) {
    const JobRun& run = state_.jobs[j];
    if (!run.live) {
      dominant_since_[j] = 0;
      continue;
    }
    // A dominant job stays dominant until it ends, unless another job is placed on one of its GPUs.
    const bool has_new_neighbour = std::any_of(run.live->cells.begin(), run.live->cells.end(), [&](CellId cell) {
      return state_.at(cell).seated > dominant_since_[j];
    });
    if (has_new_neighbour) dominant_since_[j] = dominates(JobId{j}) ? state_.groups_changed : 0;
  }
}

bool Leaper::is_stuck(JobId id) const {
  const JobRun& run = state_.run(id);
  if (dominant_since_[id.index()] != 0 || run.live->waiting > 0 || !run.live->transfers.empty()) return false;
  return std::all_of(run.live->cells.begin(), run.live->cells.end(), [&](CellId cell_id) {
    const Cell& cell = state_.at(cell_id);
    if (cell.busy && cell.running.job == id) return false;
    return is_dominated(cell) ||
           std::none_of(cell.ready.begin(), cell.ready.end(), [&](const ReadyTask& task) { return task.job == id; });
  });
}

void Leaper::consider_regrouping() {
  if (state_.events < next_regroup_) return;
  const bool changed = seen_changes_ != state_.groups_changed;
  if (!changed && state_.events < next_regroup_ + patience_) return;
  patience_ = changed ? kFirstPatience : std::min(2 * patience_, kLongestPatience);
  regroup();
  seen_changes_ = state_.groups_changed;
  // Grouping costs a few steps for each seat; it must take only a small share of the run time.
  std::uint64_t seats = state_.jobs.size();
  for (const Cell& cell : state_.cells) seats += cell.occupants.size() + 1;
  next_regroup_ = state_.events + seats / 2;
}

void Leaper::regroup() {
  const std::size_t job_count = state_.jobs.size();
  dominant_since_.resize(job_count, 0);
  group_of_.resize(job_count, kNoGroup);
  stuck_.assign(job_count, 0);
  find_dominant();
  std::vector<std::uint32_t> parent(job_count);
  std::iota(parent.begin(), parent.end(), 0U);
  std::vector<std::uint32_t> on_server(state_.servers(), kNoGroup);
  const auto is_member = [&](std::size_t j) { return state_.jobs[j].live && stuck_[j] == 0; };
  for (std::size_t j = 0; j < job_count; ++j) {
    if (state_.jobs[j].live) stuck_[j] = is_stuck(JobId{j}) ? 1 : 0;
    if (!is_member(j)) continue;
    if (!communicates(JobId{j})) continue;
    for (const ServerId server : state_.jobs[j].live->servers) {
      std::uint32_t& first = on_server[server.index()];
      if (first == kNoGroup) first = static_cast<std::uint32_t>(j);
      parent[find_root(parent, static_cast<std::uint32_t>(j))] = find_root(parent, first);
    }
  }
  for (const Cell& cell : state_.cells) {
    if (is_dominated(cell)) continue;
    std::uint32_t first = kNoGroup;
    for (const Occupant& occupant : cell.occupants) {
      const std::uint32_t j = occupant.job.value();
      if (!is_member(j)) continue;
      if (first == kNoGroup) first = j;
      parent[find_root(parent, j)] = find_root(parent, first);
    }
  }

  std::vector<Group> old_groups = std::exchange(groups_, {});
  const std::vector<std::uint32_t> old_group_of = group_of_;
  std::vector<std::uint32_t> group_at_root(job_count, kNoGroup);
  for (std::size_t j = 0; j < job_count; ++j) {
    group_of_[j] = kNoGroup;
    if (!is_member(j)) continue;
    std::uint32_t& group = group_at_root[find_root(parent, static_cast<std::uint32_t>(j))];
    if (group == kNoGroup) {
      group = static_cast<std::uint32_t>(groups_.size());
      groups_.emplace_back();
    }
    group_of_[j] = group;
    groups_[group].jobs.emplace_back(j);
    for (const CellId cell : state_.jobs[j].live->cells) {
      groups_[group].seats.push_back(cell.value());
      groups_[group].seats.push_back(state_.at(cell).formed);
    }
    if (old_group_of[j] < old_groups.size()) {
      groups_[group].ahead_until = std::max(groups_[group].ahead_until, old_groups[old_group_of[j]].ahead_until);
    }
  }
  std::vector<std::uint32_t> group_of_cell(state_.cells.size(), kNoGroup);
  for (std::size_t c = 0; c < state_.cells.size(); ++c) {
    const Cell& cell = state_.cells[c];
    if (is_dominated(cell)) {
      group_of_cell[c] = group_of_[cell.running.job.index()];
    } else {
      for (const Occupant& occupant : cell.occupants) {
        if (is_member(occupant.job.index())) group_of_cell[c] = group_of_[occupant.job.index()];
      }
    }
    if (group_of_cell[c] != kNoGroup) groups_[group_of_cell[c]].cells.emplace_back(c);
  }
  for (std::size_t s = 0; s < on_server.size(); ++s) {
    if (on_server[s] == kNoGroup) continue;
    on_server[s] = group_of_[on_server[s]];
    groups_[on_server[s]].servers.emplace_back(s);
  }
  find_dominators(group_of_cell, on_server);
  for (Group& group : groups_) {
    group.earthbound = network_ == nullptr && std::any_of(group.jobs.begin(), group.jobs.end(),
                                                          [this](JobId job) { return communicates(job); });
  }

  // A group that is the same as before keeps its saved state.
  for (Group& group : groups_) {
    const std::uint32_t old_index = old_group_of[group.jobs.front().index()];
    if (old_index >= old_groups.size()) continue;
    Group& old = old_groups[old_index];
    if (old.jobs != group.jobs || old.cells != group.cells || old.servers != group.servers ||
        old.seats != group.seats) {
      continue;
    }
    old.dominators = std::move(group.dominators);
    group = std::move(old);
  }
}

void Leaper::find_dominators(const std::vector<std::uint32_t>& group_of_cell,
                             const std::vector<std::uint32_t>& group_of_server) {
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) {
    if (dominant_since_[j] == 0) continue;
    const JobId dominator{j};
    const auto add = [&](std::uint32_t group) {
      if (group == kNoGroup || group == group_of_[j]) return;
      auto& dominators = groups_[group].dominators;
      if (dominators.empty() || dominators.back() != dominator) dominators.push_back(dominator);
    };
    for (const CellId cell : state_.jobs[j].live->cells) {
      for (const Occupant& occupant : state_.at(cell).occupants) {
        const JobRun& run = state_.run(occupant.job);
        for (const CellId seat : run.live->cells) add(group_of_cell[seat.index()]);
        if (!communicates(occupant.job)) continue;
        for (const ServerId server : run.live->servers) add(group_of_server[server.index()]);
      }
    }
  }
}

}  // namespace contend
