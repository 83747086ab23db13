// The part of the leaper that puts jobs into groups and finds the dominant and the stuck ones (see leaper.hpp).

#include "sim/leaper.hpp"

#include <algorithm>
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
  return run.plan->communicates &&
         (run.live->servers.size() > 1 || run.plan->leaves_server || state_.network->carries_inside_servers());
}

bool Leaper::meets_on_servers(JobId id) const {
  if (state_.options.hosts != nullptr && state_.run(id).plan->uses_hosts) return true;
  const bool meets_inside =
      state_.network->carries_inside_servers() && (network_ == nullptr || network_->meet_on_interfaces());
  const JobRun& run = state_.run(id);
  return communicates(id) && (meets_inside || run.live->servers.size() > 1 || run.plan->leaves_server);
}

bool Leaper::is_dominated(const Cell& cell) const {
  return cell.busy && dominant_since_[cell.running.job.index()] != 0;
}

bool Leaper::dominates(JobId id) const {
  if (!state_.options.interference.none()) return false;  // transfers of other jobs slow its tasks down
  const JobRun& run = state_.run(id);
  if (!run.plan->foldable || run.plan->roles.size() > 1 || run.plan->has_timers || communicates(id)) return false;
  if (run.key_reach < 0 || run.live->stops || run.plan->leaves_behind) return false;
  if (!run.plan->lanes.empty() || !run.plan->counters.empty()) return false;
  const Cell& first = state_.at(run.live->cells.front());
  const Occupant& rank = state_.occupant(run.live->cells.front(), id);
  return std::all_of(run.live->cells.begin(), run.live->cells.end(), [&](CellId cell_id) {
    const Cell& cell = state_.at(cell_id);
    const Occupant& other_rank = state_.occupant(cell_id, id);
    if (!cell.busy || cell.running != first.running || cell.running.job != id || cell.end != first.end ||
        cell.slowness != first.slowness || other_rank.pending != rank.pending ||
        other_rank.remaining_compute != rank.remaining_compute) {
      return false;
    }
    return std::all_of(cell.who.begin(), cell.who.end(),
                       [&](JobId other) { return other == id || state_.stays_behind(other, id); });
  });
}

void Leaper::find_dominant() {
  for (const JobId job : region_) {
    const JobRun& run = state_.run(job);
    std::uint64_t& since = dominant_since_[job.index()];
    if (!run.live) {
      since = 0;
      continue;
    }
    // A dominant job stays dominant until it ends, unless another job is placed on one of its GPUs.
    const bool has_new_neighbour = std::any_of(run.live->cells.begin(), run.live->cells.end(),
                                               [&](CellId cell) { return state_.at(cell).seated > since; });
    if (has_new_neighbour) since = dominates(job) ? state_.groups_changed : 0;
  }
}

bool Leaper::is_stuck(JobId id) const {
  const JobRun& run = state_.run(id);
  if (!run.plan->counters.empty()) return false;
  if (dominant_since_[id.index()] != 0 || run.live->waiting > 0 || !run.live->transfers.empty() ||
      !run.live->timers.empty() || run.live->step != SavingStep::none)
    return false;
  return std::all_of(run.live->cells.begin(), run.live->cells.end(), [&](CellId cell_id) {
    const Cell& cell = state_.at(cell_id);
    if (cell.busy && cell.running.job == id) return false;
    if (!run.plan->lanes.empty() && state_.occupant(cell_id, id).lanes.any_busy()) return false;
    return is_dominated(cell) ||
           std::none_of(cell.ready.begin(), cell.ready.end(), [&](const ReadyTask& task) { return task.job == id; });
  });
}

void Leaper::consider_regrouping() {
  if (state_.events < next_regroup_) return;
  const bool changed = seen_changes_ != state_.groups_changed;
  const bool all_are_due = state_.events >= next_regroup_of_all_;
  if (!changed && !all_are_due) return;
  has_changed_ = has_changed_ || changed;
  if (all_are_due) {
    patience_ = has_changed_ ? kFirstPatience : std::min(2 * patience_, kLongestPatience);
    regroup_all();
  } else {
    find_region();
    regroup();
  }
  seen_changes_ = state_.groups_changed;
  state_.changed_jobs.clear();
  state_.changed_servers.clear();
  // Grouping costs a few steps for each seat; it must take only a small share of the run time.
  std::uint64_t seats = region_.size();
  for (const CellId cell : cells_) seats += state_.at(cell).occupants.size() + 1;
  next_regroup_ = state_.events + seats / 2;
  if (!all_are_due) return;
  has_changed_ = false;
  next_regroup_of_all_ = next_regroup_ + (state_.jobs.size() + state_.cells.size()) / 2 + patience_;
}

void Leaper::find_region() {
  region_.clear();
  const auto add = [this](JobId job) {
    if (std::exchange(is_in_region_[job.index()], std::uint8_t{1}) == 0) region_.push_back(job);
  };
  const auto add_all_on = [&](ServerId server) {
    if (std::exchange(is_seen_[server.index()], std::uint8_t{1}) != 0) return;
    servers_.push_back(server);
    const auto per_server = static_cast<std::size_t>(state_.spec.gpus_per_server);
    for (std::size_t g = server.index() * per_server; g < (server.index() + 1) * per_server; ++g)
      for (const JobId job : state_.at(state_.gpu[g].cell).who) add(job);
  };
  servers_.clear();
  for (const JobId job : state_.changed_jobs) add(job);
  for (const ServerId server : state_.changed_servers) add_all_on(server);
  for (std::size_t i = 0; i < region_.size(); ++i) {  // which grows
    const JobId job = region_[i];
    if (group_of_[job.index()] != kNoGroup)
      for (const JobId other : groups_[group_of_[job.index()]].jobs) add(other);
    const JobRun& run = state_.run(job);
    if (!run.live) continue;
    for (const CellId cell : run.live->cells)
      for (const JobId other : state_.at(cell).who) add(other);
    if (!meets_on_servers(job)) continue;
    for (const ServerId server : run.live->servers) add_all_on(server);
  }
  for (const JobId job : region_) is_in_region_[job.index()] = 0;
  for (const ServerId server : servers_) is_seen_[server.index()] = 0;
  std::sort(region_.begin(), region_.end());
}

void Leaper::regroup_all() {
  const std::size_t jobs = state_.jobs.size();
  dominant_since_.resize(jobs, 0);
  group_of_.resize(jobs, kNoGroup);
  stuck_.resize(jobs);
  parent_.resize(jobs);
  is_in_region_.resize(jobs);
  is_seen_.resize(state_.servers());
  group_of_server_.resize(state_.servers(), kNoGroup);
  region_.clear();
  for (std::size_t j = 0; j < jobs; ++j)
    if (state_.jobs[j].live || group_of_[j] != kNoGroup || dominant_since_[j] != 0) region_.emplace_back(j);
  regroup();
}

std::uint32_t Leaper::new_group() {
  if (unused_groups_.empty()) {
    groups_.emplace_back();
    return static_cast<std::uint32_t>(groups_.size() - 1);
  }
  const std::uint32_t group = unused_groups_.back();
  unused_groups_.pop_back();
  return group;
}

/// The groups that the jobs of the region had before.
struct Leaper::OldGroups {
  std::vector<std::pair<std::uint32_t, Group>> groups;  // by index
  std::vector<std::uint32_t> of;                        // by index in the region

  /// The group of the job with this index in the region; nullptr if it had none.
  [[nodiscard]] Group* find(std::size_t job) {
    if (of[job] == kNoGroup) return nullptr;
    const auto at = std::ranges::lower_bound(groups, of[job], {}, &std::pair<std::uint32_t, Group>::first);
    return &at->second;
  }
};

bool Leaper::is_member(JobId job) const {
  return state_.run(job).live && stuck_[job.index()] == 0;
}

void Leaper::regroup() {
  find_dominant();
  join_jobs();
  OldGroups old = take_groups();
  const std::vector<std::uint32_t> formed = form_groups(old);
  find_dominators();
  for (const CellId id : cells_) group_of_cell_[id.index()] = kNoGroup;
  for (const ServerId server : servers_) group_of_server_[server.index()] = kNoGroup;

  for (const std::uint32_t index : formed) {
    Group& group = groups_[index];
    group.earthbound = is_earthbound(group);
    group.closed = is_closed(group);
    // A group of equal members as before keeps its saved state.
    const auto first = std::lower_bound(region_.begin(), region_.end(), group.jobs.front());
    Group* const before = old.find(static_cast<std::size_t>(first - region_.begin()));
    if (before == nullptr || before->jobs != group.jobs || before->cells != group.cells ||
        before->servers != group.servers || before->seats != group.seats)
      continue;
    before->dominators = std::move(group.dominators);
    before->closed = group.closed;
    group = std::move(*before);
  }
}

void Leaper::join_jobs() {
  for (const JobId job : region_) {
    stuck_[job.index()] = state_.run(job).live && is_stuck(job) ? 1 : 0;
    parent_[job.index()] = job.value();
  }
  const auto join = [&](std::uint32_t a, std::uint32_t b) { parent_[find_root(parent_, a)] = find_root(parent_, b); };
  cells_.clear();
  servers_.clear();
  for (const JobId job : region_) {
    const JobRun& run = state_.run(job);
    if (!run.live) continue;
    cells_.insert(cells_.end(), run.live->cells.begin(), run.live->cells.end());
    if (!is_member(job) || !meets_on_servers(job)) continue;
    for (const ServerId server : run.live->servers) {
      std::uint32_t& first = group_of_server_[server.index()];  // at first a job
      if (first == kNoGroup) {
        first = job.value();
        servers_.push_back(server);
      }
      join(job.value(), first);
    }
  }
  std::sort(cells_.begin(), cells_.end());
  cells_.erase(std::unique(cells_.begin(), cells_.end()), cells_.end());
  std::sort(servers_.begin(), servers_.end());
  for (const CellId id : cells_) {
    const Cell& cell = state_.at(id);
    if (is_dominated(cell)) continue;
    std::uint32_t first = kNoGroup;
    for (const JobId job : cell.who) {
      if (!is_member(job)) continue;
      if (first == kNoGroup) first = job.value();
      join(job.value(), first);
    }
  }
}

Leaper::OldGroups Leaper::take_groups() {
  OldGroups old;
  for (const JobId job : region_) {
    const std::uint32_t group = std::exchange(group_of_[job.index()], kNoGroup);
    old.of.push_back(group);
    if (group == kNoGroup || groups_[group].jobs.empty()) continue;
    old.groups.emplace_back(group, std::exchange(groups_[group], {}));
    unused_groups_.push_back(group);
  }
  std::ranges::sort(old.groups, {}, &std::pair<std::uint32_t, Group>::first);
  return old;
}

std::vector<std::uint32_t> Leaper::form_groups(OldGroups& old) {
  std::vector<std::uint32_t> formed;
  for (std::size_t i = 0; i < region_.size(); ++i) {
    const JobId job = region_[i];
    if (!is_member(job)) continue;
    std::uint32_t& group = group_of_[find_root(parent_, job.value())];  // the group of its root, a member as well
    if (group == kNoGroup) {
      group = new_group();
      formed.push_back(group);
    }
    group_of_[job.index()] = group;
    Group& of = groups_[group];
    of.jobs.push_back(job);
    for (const CellId cell : state_.run(job).live->cells) {
      of.seats.push_back(cell.value());
      of.seats.push_back(state_.at(cell).formed);
    }
    if (const Group* const before = old.find(i)) of.ahead_until = std::max(of.ahead_until, before->ahead_until);
  }
  group_of_cell_.resize(state_.cells.size(), kNoGroup);
  for (const CellId id : cells_) {
    const Cell& cell = state_.at(id);
    std::uint32_t& group = group_of_cell_[id.index()];
    if (is_dominated(cell)) {
      group = group_of_[cell.running.job.index()];
    } else {
      for (const JobId job : cell.who)
        if (is_member(job)) group = group_of_[job.index()];
    }
    if (group != kNoGroup) groups_[group].cells.push_back(id);
  }
  for (const ServerId server : servers_) {
    std::uint32_t& group = group_of_server_[server.index()];
    group = group_of_[group];
    groups_[group].servers.push_back(server);
  }
  return formed;
}

void Leaper::find_dominators() {
  for (const JobId dominator : region_) {
    if (dominant_since_[dominator.index()] == 0) continue;
    const auto add = [&](std::uint32_t group) {
      if (group == kNoGroup || group == group_of_[dominator.index()]) return;
      auto& dominators = groups_[group].dominators;
      if (dominators.empty() || dominators.back() != dominator) dominators.push_back(dominator);
    };
    for (const CellId cell : state_.run(dominator).live->cells) {
      for (const JobId job : state_.at(cell).who) {
        const JobRun& run = state_.run(job);
        for (const CellId seat : run.live->cells) add(group_of_cell_[seat.index()]);
        if (!meets_on_servers(job)) continue;
        for (const ServerId server : run.live->servers) add(group_of_server_[server.index()]);
      }
    }
  }
}

bool Leaper::holds_server(const Group& group, ServerId server) const {
  const std::int32_t type = state_.server_types.empty() ? -1 : state_.server_types[server.index()];
  const std::size_t first = server.index() * static_cast<std::size_t>(state_.spec.gpus_per_server);
  for (std::size_t g = first; g < first + static_cast<std::size_t>(state_.gpus_per_server(type)); ++g) {
    const Cell& cell = state_.at(state_.gpu[g].cell);
    if (cell.who.empty() || !state_.gpu[g].timed.empty()) return false;
    if (!std::binary_search(group.jobs.begin(), group.jobs.end(), cell.who.front())) return false;
  }
  return true;
}

bool Leaper::is_earthbound(const Group& group) const {
  return std::any_of(group.jobs.begin(), group.jobs.end(), [this](JobId job) {
    return (network_ == nullptr && communicates(job)) || !state_.run(job).plan->counters_recur;
  });
}

bool Leaper::is_closed(const Group& group) const {
  // A step that another job takes may isolate a component that has a part on servers of this group.
  if (state_.options.failures.mitigation.restart) return false;
  if (!ignores_progress_ || !group.dominators.empty()) return false;
  const bool takes_free_gpus = state_.policies.placement->takes_free_gpus();
  const auto is_of_group = [&](JobId job) { return std::binary_search(group.jobs.begin(), group.jobs.end(), job); };
  for (const JobId job : group.jobs) {
    const std::int32_t share = RankDemand{*state_.run(job).spec}.share;
    if (share != kWholeGpu && !(share == 0 && takes_free_gpus)) return false;
    for (const CellId cell : state_.run(job).live->cells) {
      const auto& who = state_.at(cell).who;
      if (!std::all_of(who.begin(), who.end(), is_of_group)) return false;
    }
  }
  if (network_ != nullptr && !network_->meet_on_interfaces()) {
    // Jobs that begin elsewhere may send over the same links, except inside a server.
    for (const JobId job : group.jobs) {
      if (!communicates(job)) continue;
      if (meets_on_servers(job) || !holds_server(group, state_.run(job).live->servers.front())) return false;
    }
  }
  const auto is_held = [&](ServerId server) { return holds_server(group, server); };
  if (!std::all_of(group.servers.begin(), group.servers.end(), is_held)) return false;
  return !sees_servers_with_room_ || std::all_of(group.jobs.begin(), group.jobs.end(), [&](JobId job) {
    return std::ranges::all_of(state_.run(job).live->servers, is_held);
  });
}

}  // namespace contend
