// The part of the leaper that looks at rounds inside an iteration: the state of a job relative to the rounds that have
// ended, without hosts that are ahead of it, and the leap over the rounds that its graph leaves out.

#include "sim/leaper.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace contend {

namespace {

/// True if the count of an operation is among the counts of the occupant, or of the job as a whole.
bool counts_in(const Plan::PlannedOp& op, const Occupant* occupant) {
  return op.per_rank ? occupant != nullptr && op.op.role == occupant->role : occupant == nullptr;
}

}  // namespace

void Leaper::look_at_rounds(Group& group) {
  if (group.earthbound || group.jobs.size() > 1) return;
  const JobId job = group.jobs.front();
  JobRun& run = state_.run(job);
  JobExecution& live = *run.live;
  SeenRounds& seen = group.rounds;
  if (live.has_leapt || live.step != SavingStep::none) return;
  // A policy that decides for a whole iteration may go by what is left of it to send, until it has decided.
  if (state_.policies.communication->decides_per_iteration() && !live.admitted[live.current]) return;
  if (seen.iteration != run.completed) {
    seen = {};
    seen.iteration = run.completed;
  }
  if (!write_state_in_rounds(group)) return;
  if (words_ == seen.state && now_of(group) > seen.account.time) {
    Account now = take_account(group);
    const std::int64_t left_out = run.plan->rounds->left_out, each = now.jobs[0].lap - seen.account.jobs[0].lap;
    const std::int64_t periods = left_out / each;
    bool is_possible = left_out % each == 0 && stay_ahead(run, seen, each, now.time - seen.account.time);
    for (std::size_t round = touched_; round < run.plan->rounds->ops.size(); ++round)
      is_possible = is_possible && is_untouched(job, round);
    if (is_possible && possible_periods(group, seen.account, now, false, periods) >= periods) {
      // Hosts that are ahead have done more, or less, than what belongs to these rounds.
      JobTotals& totals = seen.account.jobs[0].totals;
      totals.host += time_ahead(job) - seen.ahead;
      for (std::size_t role = 0; role < is_ahead_.size(); ++role)
        if (is_ahead_[role]) totals.host -= GpuTime{hosts_->roles[role].each, run.plan->roles[role].ranks} * each;
      leap(group, std::move(seen.account), std::move(now), periods);
      live.has_leapt = true;
      return;
    }
  }
  if (++seen.looks < seen.looks_until_save) return;
  seen.state = words_;
  seen.account = take_account(group);
  seen.launched = launched_;
  seen.ahead = time_ahead(job);
  seen.looks = 0;
  seen.looks_until_save *= 2;
}

bool Leaper::stay_ahead(const JobRun& run, const SeenRounds& seen, std::int64_t rounds, Time period) const {
  for (std::size_t role = 0; role < is_ahead_.size(); ++role) {
    if (!is_ahead_[role]) continue;
    const std::size_t needed = std::min(touched_ + 1, run.plan->rounds->ops.size());
    if (seen.launched[role] < needed || hosts_->roles[role].each * rounds > period) return false;
  }
  return true;
}

void Leaper::find_hosts(JobId job) {
  const JobRun& run = state_.run(job);
  const std::size_t rounds = run.plan->rounds->ops.size();
  launched_.assign(hosts_->roles.size(), 0);
  is_ahead_.assign(hosts_->roles.size(), false);
  for (std::size_t role = 0; role < hosts_->roles.size(); ++role) {
    if (!hosts_->roles[role].is_free) continue;
    const auto is_done = [&](OpId task) {
      return std::ranges::all_of(run.live->cells, [&](CellId cell) {
        const Occupant& occupant = state_.occupant(cell, job);
        return occupant.role.index() != role || occupant.pending[run.at(run.live->current, task)] == kDone;
      });
    };
    std::size_t& launched = launched_[role];
    launched = lap_;
    while (launched < rounds && std::ranges::all_of(hosts_->roles[role].tasks[launched], is_done)) ++launched;
    is_ahead_[role] = launched >= std::min(touched_ + 2, rounds);
  }
}

GpuTime Leaper::time_ahead(JobId job) const {
  const JobRun& run = state_.run(job);
  GpuTime sum;
  for (std::size_t i = 0; i < run.plan->ops.size(); ++i) {
    if (!is_skipped(run, OpId{i})) continue;
    const Op& op = run.plan->ops[i].op;
    for (const CellId cell : run.live->cells) {
      const Occupant& occupant = state_.occupant(cell, job);
      if (occupant.role != op.role) continue;
      for (int place = 0; place == 0 || run.is_open(place); ++place) {
        const int slot = (run.live->current + place) % run.plan->in_flight;
        if (occupant.pending[run.at(static_cast<Slot>(slot), OpId{i})] == kDone)
          sum += GpuTime{op.duration, state_.ranks_of(cell)};
      }
    }
  }
  return sum;
}

bool Leaper::is_skipped(const JobRun& run, OpId op) const {
  return hosts_->is_task[op.index()] && is_ahead_[run.plan->ops[op.index()].op.role.index()];
}

std::int32_t Leaper::launches_done(JobId job, const Occupant* occupant, Slot slot, OpId op, bool only_ahead) const {
  const JobRun& run = state_.run(job);
  std::int32_t done = 0;
  for (const OpId task : hosts_->launches[op.index()]) {
    const RoleId role = run.plan->ops[task.index()].op.role;
    if (only_ahead && !is_ahead_[role.index()]) continue;
    const std::size_t at = run.at(slot, task);
    if (occupant != nullptr) {
      done += occupant->pending[at] == kDone ? 1 : 0;
      continue;
    }
    for (const CellId cell : run.live->cells) {
      const Occupant& launching = state_.occupant(cell, job);
      if (launching.role == role && launching.pending[at] == kDone) done += state_.ranks_of(cell);
    }
  }
  return done;
}

std::uint64_t Leaper::count_of(JobId job, const Occupant* occupant, Slot slot, OpId op) const {
  constexpr std::uint64_t kNothingLeft = UINT64_MAX - 1;
  const JobRun& run = state_.run(job);
  const std::int32_t left = (occupant != nullptr ? occupant->pending : run.live->pending)[run.at(slot, op)];
  if (left == 0) return kNothingLeft;
  if (left == kDone) return UINT64_MAX;
  return static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(launches_done(job, occupant, slot, op, true));
}

void Leaper::write_pending(JobId job, const Occupant* occupant) {
  const JobRun& run = state_.run(job);
  const PendingCounts& pending = occupant != nullptr ? occupant->pending : run.live->pending;
  for (int place = 0; place < run.plan->in_flight; ++place) {
    const auto slot = static_cast<Slot>((run.live->current + place) % run.plan->in_flight);
    if (lap_ > 0 && place == 0) {
      write_rounds(job, occupant);
      continue;
    }
    for (std::size_t i = 0; i < run.plan->ops.size(); ++i) {
      const OpId op{i};
      if (lap_ == 0)
        words_.push_back(static_cast<std::uint32_t>(pending[run.at(slot, op)]));
      else if (counts_in(run.plan->ops[i], occupant) && run.is_open(place) && !is_skipped(run, op))
        words_.push_back(count_of(job, occupant, slot, op));
    }
  }
}

void Leaper::write_rounds(JobId job, const Occupant* occupant) {
  const JobRun& run = state_.run(job);
  const PlannedRounds& rounds = *run.plan->rounds;
  const Slot slot = run.live->current;
  for (std::size_t i = 0; i < run.plan->ops.size(); ++i) {
    const OpId op{i};
    if (run.plan->ops[i].op.round != kNoRound || !counts_in(run.plan->ops[i], occupant) || is_skipped(run, op))
      continue;
    const bool waits = (occupant != nullptr ? occupant->pending : run.live->pending)[run.at(slot, op)] > 0;
    // Each round takes from it as many of the things that it waits for.
    words_.push_back(count_of(job, occupant, slot, op) +
                     (waits ? static_cast<std::uint64_t>(rounds.from_round[i]) * lap_ : 0));
  }
  // Hosts that aren't ahead have launched no more than the next two rounds.
  for (std::size_t round = lap_; round < std::min(touched_ + 2, rounds.ops.size()); ++round)
    for (const OpId op : rounds.ops[round])
      if (counts_in(run.plan->ops[op.index()], occupant) && !is_skipped(run, op))
        words_.push_back(count_of(job, occupant, slot, op));
}

bool Leaper::is_untouched(JobId job, std::size_t round) const {
  const JobRun& run = state_.run(job);
  const Slot slot = run.live->current;
  return std::ranges::all_of(run.plan->rounds->ops[round], [&](OpId op) {
    const Plan::PlannedOp& planned = run.plan->ops[op.index()];
    if (hosts_->is_task[op.index()]) return true;
    const auto waits_for_all = [&](const Occupant* occupant) {
      const std::int32_t left = (occupant != nullptr ? occupant->pending : run.live->pending)[run.at(slot, op)];
      return left > 0 && left + launches_done(job, occupant, slot, op, false) == planned.predecessor_instances[0][0];
    };
    if (!planned.per_rank) return waits_for_all(nullptr);
    return std::ranges::all_of(run.live->cells, [&](CellId cell) {
      const Occupant& occupant = state_.occupant(cell, job);
      return occupant.role != planned.op.role || waits_for_all(&occupant);
    });
  });
}

bool Leaper::write_state_in_rounds(const Group& group) {
  const JobId job = group.jobs.front();
  const JobRun& run = state_.run(job);
  const PlannedRounds& rounds = *run.plan->rounds;
  const auto lap = static_cast<std::size_t>(run.live->lap[run.live->current]);
  if (lap <= rounds.first || lap >= rounds.last) return false;
  hosts_ = &hosts_by_plan_.try_emplace(run.plan, *run.plan).first->second;
  touched_ = lap;
  while (touched_ < rounds.last && !is_untouched(job, touched_)) ++touched_;
  if (touched_ + 2 >= rounds.last) return false;
  lap_ = lap;
  find_hosts(job);
  write_state(group);
  words_.push_back(touched_ - lap);
  for (const bool is_ahead : is_ahead_) words_.push_back(is_ahead ? 1 : 0);
  lap_ = 0;
  return true;
}

/// An operation as a number, relative to the rounds that have ended if the state is.
std::uint64_t Leaper::number_of(const JobRun& run, OpId op, Slot slot) const {
  if (lap_ == 0 || slot != run.live->current || run.plan->ops[op.index()].op.round == kNoRound) return op.value();
  const PlannedRounds& rounds = *run.plan->rounds;
  const auto round = static_cast<std::size_t>(run.plan->ops[op.index()].op.round);
  return run.plan->ops.size() + (round - lap_) * rounds.widest + rounds.place[op.index()];
}

}  // namespace contend
