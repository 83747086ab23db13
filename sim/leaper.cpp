#include "sim/leaper.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace contend {

namespace {

constexpr int kPatientLooks = 16;
constexpr int kIterationsWithoutAnchor = 64;

/// Finds the last two checkpoints of a job that has leapt to `run.completed` iterations from `before`, `each` in a
/// period.
void leap_checkpoints(const JobRun& run, std::int64_t before, std::int64_t each, Time period) {
  JobExecution& live = *run.live;
  const auto saved_at = [&](std::int64_t iteration) {
    const std::int64_t periods = (iteration - before + each - 1) / each;
    const auto same = static_cast<std::size_t>(iteration - periods * each);  // the one of the last period observed
    return SavedIteration{iteration, live.ends[same % live.ends.size()] + period * periods, run.totals.overhead};
  };
  if (live.stops || live.save_every == 0) return;  // it leaps over none
  const std::int64_t last = run.completed / live.save_every * live.save_every;
  if (last <= before) return;
  const std::int64_t one_before = last - live.save_every;
  live.saved_before = one_before > before ? saved_at(one_before) : live.saved;
  live.saved = saved_at(last);
  live.next_save = last + live.save_every;
}

}  // namespace

void Leaper::after_instant() {
  const bool goes_on = !pulse_.has_stopped();
  if (state_.options.leap && goes_on) {
    consider_regrouping();
    if (seen_changes_ == state_.groups_changed) {
      for (const JobId job : state_.iterated) {
        if (group_of_[job.index()] >= groups_.size()) continue;
        Group& group = groups_[group_of_[job.index()]];
        if (!group.anchor.valid() || ++group.iterations_since_anchor > kIterationsWithoutAnchor) {
          group.anchor = job;
          group.saved.clear();
          group.looks = 0;
          group.looks_until_save = 1;
          group.stride = 1 + static_cast<std::int64_t>(group.jobs.size()) / 8;
        }
        if (group.anchor != job) continue;
        group.iterations_since_anchor = 0;
        // Large groups are looked at less often, so that looks take a small share of the run time.
        if (++group.anchor_iterations % group.stride != 0) continue;
        look(group);
        if (pulse_.stops(false)) break;
      }
    }
  }
  if (state_.options.leap && goes_on && seen_changes_ == state_.groups_changed) {
    for (const JobId job : state_.saved_now) {
      if (group_of_[job.index()] >= groups_.size()) continue;
      Group& group = groups_[group_of_[job.index()]];
      if (group.jobs.size() == 1) look_after_checkpoint(group);
    }
  }
  if (state_.options.leap && goes_on && seen_changes_ == state_.groups_changed) {
    for (const JobId job : state_.lapped)
      if (state_.run(job).live && group_of_[job.index()] < groups_.size())
        look_at_rounds(groups_[group_of_[job.index()]]);
  }
  state_.iterated.clear();
  state_.lapped.clear();
  state_.saved_now.clear();
}

void Leaper::take_back() {
  for (const Leap& leap : leaps_) {
    if (leap.landing <= state_.clock) continue;
    const std::int64_t ahead = (leap.landing - state_.clock).ns(), period = leap.period().ns();
    add_periods(leap, -((ahead + period - 1) / period));
  }
  leaps_.clear();
}

void Leaper::remember(Leap leap) {
  if (!state_.options.monitor && !state_.options.failure) return;  // nothing stops it
  if (leaps_.size() >= most_leaps_) {
    std::erase_if(leaps_, [this](const Leap& each) { return each.landing <= state_.clock; });
    most_leaps_ = std::max(most_leaps_, 2 * leaps_.size());
  }
  leaps_.push_back(std::move(leap));
}

void Leaper::look(Group& group) {
  if (group.earthbound) return;
  if (!group.saved.empty() && now_of(group) == group.account.time) return;  // no time has passed
  write_state(group);
  if (!group.saved.empty() && words_ == group.saved) {
    Account now = take_account(group);
    const std::int64_t periods = possible_periods(group, group.account, now, false);
    if (periods > 0) leap(group, std::move(group.account), std::move(now), periods);
    // After a leap, or if none is possible now, the same state is the most likely to recur next.
    group.account = take_account(group);
    group.looks = 0;
    group.looks_until_save = std::min(group.looks_until_save, kPatientLooks);
    return;
  }
  if (++group.looks >= group.looks_until_save) {
    group.saved = words_;
    group.account = take_account(group);
    group.looks = 0;
    group.looks_until_save *= 2;
    if (group.looks_until_save > kPatientLooks) group.stride *= 2;
  }
}

void Leaper::look_after_checkpoint(Group& group) {
  const JobId job = group.jobs.front();
  JobRun& run = state_.run(job);
  JobExecution& live = *run.live;
  if (group.earthbound || live.step != SavingStep::none || group.ahead_until > state_.clock) return;
  // A network of flows knows what a job has sent since the last leap, and there are leaps between checkpoints.
  if (network_ != nullptr && !network_->meet_on_interfaces() && communicates(job)) return;
  // While it stands, other jobs would have the servers that it shares with them.
  const auto is_its_own = [&](CellId cell) { return state_.at(cell).who.size() == 1; };
  const auto is_held = [&](ServerId server) { return holds_server(group, server); };
  if (!std::ranges::all_of(live.cells, is_its_own)) return;
  if (meets_on_servers(job) && !std::ranges::all_of(live.servers, is_held)) return;
  write_state(group);
  words_.push_back(static_cast<std::uint64_t>(live.next_save - run.completed));
  if (words_ == group.saved_after_checkpoint) {
    Account now = take_account(group);
    Account& then = group.account_after_checkpoint;
    const std::int64_t periods = possible_periods(group, then, now, true);
    if (periods > 0) {
      const SavedIteration each{now.jobs[0].completed - then.jobs[0].completed, now.time - then.time,
                                now.jobs[0].totals.overhead - then.jobs[0].totals.overhead};
      leap(group, std::move(then), std::move(now), periods);
      live.next_save += each.iteration * periods;
      live.interval = live.saved = {run.completed, group.ahead_until, run.totals.overhead};
      live.saved_before = {run.completed - each.iteration, group.ahead_until - each.at,
                           run.totals.overhead - each.overhead};
      state_.leapt_events += static_cast<std::uint64_t>(periods);  // the checkpoints
      group.saved.clear();
    }
  }
  group.saved_after_checkpoint = words_;
  group.account_after_checkpoint = take_account(group);
}

Leaper::Account Leaper::take_account(const Group& group) const {
  Account account;
  const Time now = now_of(group);
  account.time = now;
  for (const JobId id : group.jobs) {
    JobRun& run = state_.run(id);
    EngineState::settle(run, now);
    JobAccount job;
    job.completed = run.completed;
    job.lap = run.live->lap[run.live->current];
    job.unsent = run.live->unsent[run.live->current];
    job.key = state_.key(id);
    job.communication_key = state_.policies.communication->key(state_.view(id, true));
    job.remaining_service = run.remaining_service;
    job.remaining_communication = run.live->remaining_communication;
    job.totals = run.totals;
    if (run.live->waiting > 0) job.totals.communication_wait += now - run.live->waiting_since;
    job.usage = state_.network->job_usage(id, now);
    if (communicates(id)) network_->save_totals(id, now, job.network);
    job.server_transfers = run.server_transfers;
    job.host_uses = run.live->host_uses;
    for (const CellId cell : run.live->cells)
      job.remaining_compute.push_back(state_.occupant(cell, id).remaining_compute);
    account.jobs.push_back(std::move(job));
  }
  for (const CellId cell : group.cells) account.gpus.push_back(state_.at(cell).totals);
  for (const ServerId server : group.servers) {
    account.usage.push_back(state_.network->server_usage(server, now));
    if (!state_.host_uses.empty()) account.host_uses += state_.host_uses[server.index()];
  }
  return account;
}

Time Leaper::earliest_end(JobId id) const {
  const JobRun& run = state_.run(id);
  const std::uint32_t group = group_of_[id.index()];
  const Time now = group < groups_.size() ? now_of(groups_[group]) : state_.clock;
  // A job that leaves ranks behind takes at least as long as the rank that has the least left.
  const bool waits_for_all = !run.plan->leaves_behind;
  Time end = waits_for_all ? now : Time::never();
  for (const CellId cell_id : run.live->cells) {
    const Cell& cell = state_.at(cell_id);
    const Time left = state_.occupant(cell_id, id).remaining_compute;
    const bool running = cell.busy && cell.running.job == id;
    const Time until = running ? cell.started + left : now + left;
    end = waits_for_all ? std::max(end, until) : std::min(end, until);
  }
  return std::max(end, now);
}

Time Leaper::window_horizon() const {
  const MeasuredWindow& window = state_.options.window;
  if (state_.clock < window.from) return window.from;
  if (state_.clock < window.until) return window.until;  // also if there is none
  // The run ends with the last measured job, and so not before any that runs now.
  Time last = state_.clock;
  for (const JobId job : state_.running) {
    const JobRun& run = state_.run(job);
    if (!window.holds(run.arrival) || run.shared) continue;  // what shares a GPU may come to be faster
    last = std::max(last, run.live ? earliest_end(job) : run.ends);
  }
  if (!state_.options.failures.retries) return last;
  // A failure may end a job for good.
  for (const JobId job : state_.running)
    if (!state_.own_failures.empty()) last = std::min(last, state_.own_failures[job.index()].at);
  return std::min(last, state_.next_outage);
}

Time Leaper::horizon_of_closed(const Group& group) const {
  Time horizon = std::min(state_.options.until, window_horizon());
  const auto see = [&](ServerId server) { horizon = std::min(horizon, outages_.next_on(server)); };
  for (const JobId job : group.jobs) {
    const JobRun& run = state_.run(job);
    if (!state_.own_failures.empty()) horizon = std::min(horizon, state_.own_failures[job.index()].at);
    horizon = std::min({horizon, run.ends, outages_.may_step_at(job)});
    if (state_.next_outage < Time::never()) std::for_each(run.live->servers.begin(), run.live->servers.end(), see);
  }
  return horizon;
}

Time Leaper::horizon(const Group& group) const {
  if (group.closed) return horizon_of_closed(group);
  Time horizon = std::min({admission_.next_intervention(), state_.options.until, window_horizon(), state_.next_outage});
  for (const JobId job : group.dominators) horizon = std::min(horizon, earliest_end(job));
  for (const JobId job : group.jobs) horizon = std::min(horizon, outages_.may_step_at(job));
  // The end of a job is followed by a pass if others wait or come after it, or if the policy changes those that run.
  const bool is_asked = state_.waiting > 0 || state_.policies.scheduling->idle_passes();
  for (const JobId job : state_.running) {
    if (!state_.own_failures.empty()) horizon = std::min(horizon, state_.own_failures[job.index()].at);
    // The attempt of a timed job may fail, and it queues again; a job that restarts begins to work then.
    horizon = std::min(horizon, state_.run(job).ends);
    if (!state_.run(job).live) continue;
    if ((is_asked || admission_.has_followers(job)) &&
        std::find(group.jobs.begin(), group.jobs.end(), job) == group.jobs.end()) {
      horizon = std::min(horizon, earliest_end(job));
    }
  }
  return horizon;
}

template <class Visit>
void Leaper::for_each_rivalry(const Group& group, const Visit& visit) const {
  std::vector<std::size_t> members;  // indices into group.jobs
  for (const CellId cell : group.cells) {
    members.clear();
    for (const JobId job : state_.at(cell).who) {
      const auto found = std::lower_bound(group.jobs.begin(), group.jobs.end(), job);
      if (found == group.jobs.end() || *found != job) continue;
      members.push_back(static_cast<std::size_t>(found - group.jobs.begin()));
    }
    if (members.size() > 1) visit(members, &JobAccount::key);
  }
  for (const ServerId server : group.servers) {
    members.clear();
    for (std::size_t i = 0; i < group.jobs.size(); ++i) {
      const auto& servers = state_.run(group.jobs[i]).live->servers;
      if (meets_on_servers(group.jobs[i]) && std::binary_search(servers.begin(), servers.end(), server))
        members.push_back(i);
    }
    if (members.size() > 1) visit(members, &JobAccount::communication_key);
  }
}

std::int64_t Leaper::periods_in_order(const Group& group, const Account& then, const Account& now) const {
  std::int64_t periods = INT64_MAX;
  for_each_rivalry(group, [&](std::vector<std::size_t>& members, PolicyKey JobAccount::*key) {
    std::sort(members.begin(), members.end(),
              [&](std::size_t a, std::size_t b) { return now.jobs[a].*key < now.jobs[b].*key; });
    for (std::size_t i = 0; i + 1 < members.size(); ++i) {
      const PolicyKey now_a = now.jobs[members[i]].*key;
      const PolicyKey now_b = now.jobs[members[i + 1]].*key;
      const PolicyKey drop_a = then.jobs[members[i]].*key - now_a;
      const PolicyKey drop_b = then.jobs[members[i + 1]].*key - now_b;
      if (drop_a == 0 && drop_b == 0) continue;
      // Two jobs certainly keep their order while the range of one key in a period stays below the key of the other. In
      // period p (the observed one is p = -1) the key of a ends at now_a - p drop_a; with the range on either side:
      // now_a - p drop_a + max(0, -drop_a) < now_b - p drop_b - max(0, drop_b).
      const PolicyKey gap =
          now_b - std::max<PolicyKey>(0, drop_b) - now_a - std::max<PolicyKey>(0, -drop_a) - kKeyRounding;
      if (gap <= 0 || gap + drop_b - drop_a <= 0) {
        periods = 0;
      } else if (drop_b > drop_a) {
        const PolicyKey in_order = (gap + drop_b - drop_a - 1) / (drop_b - drop_a);
        periods = static_cast<std::int64_t>(std::min<PolicyKey>(periods, in_order));
      }
    }
  });
  return periods;
}

bool Leaper::is_in_order_after(const Group& group, const Account& then, const Account& now,
                               std::int64_t periods) const {
  // A key is linear up to rounding, so an order that holds with a margin in the first and the last period holds in all
  // periods between. This checks the last one with the keys that the policies return.
  std::vector<std::array<KeyRange, 2>> range(group.jobs.size());
  for (std::size_t i = 0; i < group.jobs.size(); ++i) {
    JobView view = state_.view(group.jobs[i], true);
    const GpuTime drop = then.jobs[i].remaining_service - now.jobs[i].remaining_service;
    const auto key_at = [&](const auto& policy, std::int64_t p) {
      view.remaining_service = now.jobs[i].remaining_service - drop * p;
      return policy.key(view);
    };
    range[i][0] = {key_at(*state_.policies.scheduling, periods - 1), key_at(*state_.policies.scheduling, periods)};
    range[i][1] = {key_at(*state_.policies.communication, periods - 1),
                   key_at(*state_.policies.communication, periods)};
  }
  bool in_order = true;
  for_each_rivalry(group, [&](std::vector<std::size_t>& members, PolicyKey JobAccount::*key) {
    const std::size_t which = key == &JobAccount::key ? 0 : 1;
    std::sort(members.begin(), members.end(),
              [&](std::size_t a, std::size_t b) { return now.jobs[a].*key < now.jobs[b].*key; });
    for (std::size_t i = 0; i + 1 < members.size(); ++i) {
      const KeyRange& a = range[members[i]][which];
      const KeyRange& b = range[members[i + 1]][which];
      if (a.before == a.after && b.before == b.after) continue;
      in_order = in_order && std::max(a.before, a.after) + kKeyRounding < std::min(b.before, b.after);
    }
  });
  return in_order;
}

bool Leaper::was_undisturbed(const Group& group, const Account& then, const Account& now) const {
  GpuTime busy, compute;
  for (std::size_t i = 0; i < group.cells.size(); ++i) {
    busy += GpuTime{now.gpus[i].busy - then.gpus[i].busy, state_.at(group.cells[i]).ranks()};
  }
  std::int64_t carried = 0, sent = 0, uses = now.host_uses - then.host_uses;
  for (std::size_t i = 0; i < group.servers.size(); ++i) carried += now.usage[i].transfers - then.usage[i].transfers;
  for (std::size_t i = 0; i < group.jobs.size(); ++i) {
    const JobTotals done = now.jobs[i].totals - then.jobs[i].totals;
    if (!recurs(done)) return false;
    compute += done.compute + done.slowed - done.skipped;
    sent += now.jobs[i].server_transfers - then.jobs[i].server_transfers;
    uses -= now.jobs[i].host_uses - then.jobs[i].host_uses;
  }
  // Who has come since the groups were formed may be using the same servers.
  if (now.host_uses > 0 && seen_changes_ != state_.groups_changed) return false;
  return busy == compute && carried == sent && uses == 0;
}

std::int64_t Leaper::possible_periods(const Group& group, const Account& then, const Account& now, bool saves,
                                      std::int64_t most) const {
  const Time period = now.time - then.time;
  CONTEND_DCHECK(period > Time{}, "a recurrence takes time");
  if (!was_undisturbed(group, then, now)) return 0;
  const auto stands = [this](JobId job) { return state_.run(job).live->step != SavingStep::none; };
  if (std::any_of(group.jobs.begin(), group.jobs.end(), stands)) return 0;
  const Time limit = horizon(group);
  // The landing must lie before the horizon, because all events of one instant are decided together.
  std::int64_t periods =
      limit == Time::never() ? most : std::min(most, (limit - now.time - Time::nanoseconds(1)).ns() / period.ns());
  for (std::size_t i = 0; i < group.jobs.size(); ++i) {  // the iterations in flight and the end of a job stay
    const JobRun& run = state_.run(group.jobs[i]);
    const std::int64_t iterations = now.jobs[i].completed - then.jobs[i].completed;
    if (iterations > 0) {
      std::int64_t end = run.plan->phases.regular_until(run.completed, run.iterations);
      const std::int64_t every = run.live->save_every;
      if (!saves && (run.live->stops || every == 0)) {
        const bool saves_between = then.jobs[i].completed < run.live->interval.iteration;
        if (saves_between || run.live->next_save < 0) return 0;
        end = std::min(end, run.live->next_save);
      }
      // When an iteration ended is known of the last ones only.
      if (!saves && every > 1 && every < run.iterations && iterations > JobExecution::kEndsKept)
        end = std::min(end, (run.completed / every + 1) * every);
      periods = std::min(periods, (end - run.completed - run.plan->in_flight - 1) / iterations);
    }
  }
  for (std::size_t i = 0; i < group.jobs.size(); ++i) {
    if (communicates(group.jobs[i]))
      periods = std::min(periods, network_->most_periods(then.jobs[i].network, now.jobs[i].network));
  }
  if (periods <= 0) return 0;
  periods = std::min(periods, periods_in_order(group, then, now));
  while (periods > 0 && !is_in_order_after(group, then, now, periods)) periods /= 2;
  return periods;
}

/// The tasks, timers and transfers of a job in a period.
std::int64_t Leaper::events_in_period(const JobRun& run, const JobAccount& then, const JobAccount& now) {
  std::int64_t events = now.usage.transfers - then.usage.transfers;
  if (run.plan->rounds && now.completed == then.completed)
    return events + run.plan->rounds->events * (now.lap - then.lap);
  const IterationPhases& phases = run.plan->phases;
  for (const Plan::PlannedOp& op : run.plan->ops) {
    if (op.op.is_traffic()) continue;
    for (std::size_t phase = 0; phase < phases.count(); ++phase) {
      if (!op.op.is_in(phase)) continue;
      events +=
          (op.per_rank ? op.ranks : 1) * op.often *
          (phases.left(phase, then.completed, run.iterations) - phases.left(phase, now.completed, run.iterations));
    }
  }
  return events;
}

void Leaper::add_periods(JobId id, const JobAccount& a, const JobAccount& b, std::int64_t periods, Time by) {
  JobRun& run = state_.run(id);
  run.completed += (b.completed - a.completed) * periods;
  run.remaining_service += (b.remaining_service - a.remaining_service) * periods;
  run.totals += (b.totals - a.totals) * periods;
  run.server_transfers += (b.server_transfers - a.server_transfers) * periods;
  run.live->waiting_since += by;
  if (b.completed > a.completed) run.live->iterated += by;
  if (b.completed == a.completed) run.live->unsent[run.live->current] += (b.unsent - a.unsent) * periods;
  for (Promise& promise : run.live->promises) promise.at += by;
  if (!run.live->promises.empty()) run.next_promise += by;
  run.key_is_stale = true;
  state_.leapt_events += static_cast<std::uint64_t>(events_in_period(run, a, b) * periods);
}

void Leaper::add_periods(const Leap& leap, std::int64_t periods) {
  const Time by = leap.period() * periods;
  for (std::size_t i = 0; i < leap.cells.size(); ++i) {
    Cell& cell = state_.at(leap.cells[i]);
    cell.totals += (leap.now.gpus[i] - leap.then.gpus[i]) * periods;
    if (!cell.busy) continue;
    cell.started += by;
    cell.end += by;
    cell.pace.shift(by);
  }
  for (std::size_t i = 0; i < leap.jobs.size(); ++i) {
    const JobAccount &a = leap.then.jobs[i], &b = leap.now.jobs[i];
    add_periods(leap.jobs[i], a, b, periods, by);
    if (!communicates(leap.jobs[i])) continue;
    if (log_ != nullptr) log_->repeats(leap.jobs[i], leap.then.time, leap.now.time, periods);
    network_->leap_usage(leap.jobs[i], b.usage - a.usage, periods, by);
    network_->leap_totals(leap.jobs[i], a.network, b.network, {leap.period(), periods, b.completed == a.completed});
  }
  for (std::size_t i = 0; i < leap.servers.size(); ++i)
    network_->leap_usage(leap.servers[i], leap.now.usage[i] - leap.then.usage[i], periods, by);
}

void Leaper::leap(Group& group, Account then, Account now, std::int64_t periods) {
  Leap leap{group.jobs, group.cells, group.servers, std::move(then), std::move(now), {}};
  const Time by = leap.period() * periods;
  leap.landing = group.ahead_until = leap.now.time + by;
  add_periods(leap, periods);
  for (const CellId id : group.cells)
    if (Cell& cell = state_.at(id); cell.busy) state_.calendar.reschedule(cell.event, cell.end);
  for (std::size_t i = 0; i < group.jobs.size(); ++i) {
    const JobId id = group.jobs[i];
    JobRun& run = state_.run(id);
    const JobAccount &a = leap.then.jobs[i], &b = leap.now.jobs[i];
    const Time communication = (b.remaining_communication - a.remaining_communication) * periods;
    run.live->remaining_communication += communication;
    if (b.completed > a.completed) leap_checkpoints(run, b.completed, b.completed - a.completed, leap.period());
    for (std::size_t c = 0; c < run.live->cells.size(); ++c) {
      const Time compute = (b.remaining_compute[c] - a.remaining_compute[c]) * periods;
      state_.occupant(run.live->cells[c], id).remaining_compute += compute;
      state_.change_load(run.live->cells[c], GpuTime{compute, 1} + GpuTime{communication, 1});
      shift_lanes(state_.occupant(run.live->cells[c], id), by,
                  (b.lap - a.lap) * (b.completed > a.completed ? 0 : periods));
    }
    for (RunningTimer& timer : run.live->timers) {
      CONTEND_CHECK(!timer.use.valid(), "a job that uses hosts doesn't leap");
      timer.end += by;
      state_.calendar.reschedule(timer.event, timer.end);
    }
    for (Time& since : run.live->ready_since)
      if (since != Time::never()) since += by;
    run.live->late.shift((b.completed - a.completed) * periods);
    if (!run.plan->counters.empty()) shift_counters(id, (b.completed - a.completed) * periods, by);
    for (ChannelQueue& channel : run.live->channels) {
      for (ChannelQueue::Entry& entry : channel.ready) entry.iteration += (b.completed - a.completed) * periods;
      for (ChannelQueue::Entry& entry : channel.committed) entry.iteration += (b.completed - a.completed) * periods;
    }
    if (!communicates(id)) continue;
    for (const TransferId transfer : run.live->transfers) network_->shift(transfer, by);
  }
  ++state_.leaps;
  state_.fingerprint.add(static_cast<std::uint64_t>(by.ns()));
  state_.fingerprint.add((std::uint64_t{group.jobs.front().value()} << 32) ^ static_cast<std::uint64_t>(periods));
  remember(std::move(leap));
}

}  // namespace contend
