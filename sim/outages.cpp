#include "sim/outages.hpp"

#include "sim/check_failures.hpp"
#include "sim/error.hpp"
#include "sim/job_body.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::int64_t kMostWithoutStart = 1'000'000;

const FailureSpec& checked_failures(EngineState& state) {
  check_failure_spec(state);
  return state.options.failures;
}

}  // namespace

Outages::Outages(EngineState& state, Admission& admission)
    : state_{state},
      admission_{admission},
      slowness_{state},
      spec_{checked_failures(state)},
      agenda_{state},
      components_{state, agenda_},
      gpus_{state},
      spares_{state, admission, agenda_, components_, gpus_},
      lent_{state, admission, agenda_, components_},
      slow_jobs_{state, admission, agenda_, components_},
      stalls_{state},
      interruptions_{state, admission, components_, gpus_, lent_, stalls_} {
  if (!spec_.any()) return;
  state.kept_time = KeptTime{state.jobs.size(), state.gpus()};
  if (spec_.redundancy.any()) state_.covered.resize(state.gpus());
  if ((spec_.redundancy.any() || spec_.mitigation.microbatches) &&
      std::ranges::any_of(state.jobs, [](const JobRun& run) { return run.body->has_iterations(); }))
    state_.job_work.assign(state.gpus(), Slowdown::kFullPace);
  if (!spec_.of_jobs) return;
  state.own_failures.reserve(state.jobs.size());
  for (const JobRun& run : state.jobs) {
    RandomStream stream{spec_.seed, "failures/job/" + run.spec->name};
    const Time first = spec_.of_jobs->draw(stream);
    state.own_failures.push_back({stream, first, Time::never(), {}});
  }
}

void Outages::begin() {
  components_.begin();
  lent_.schedule();
  agenda_.settle();
}

Time Outages::next_on(ServerId server) const {
  return std::min(components_.next_on(server), lent_.next_on(server));
}

void Outages::on_job_failure(JobId job) {
  interruptions_.strike(job, spec_.jobs_found_by);
  is_due_ = true;
}

void Outages::strike() {
  stalls_.watch();
  if (is_due_) strike_due();
  is_due_ = false;
  withhold_free();
}

void Outages::strike_due() {
  Changes now = take_changes();
  for (const JobId job : stalls_.due()) interruptions_.strike(job, FoundBy::stall);
  interruptions_.forget_ended();
  for (const std::uint32_t each : now.turning) {
    if (!components_[each].is_down) continue;
    come_back(each);
    std::erase(now.isolating, each);
  }
  for (const std::uint32_t each : now.isolating) isolate(each);
  for (const bool by_plan : {false, true})  // a job that both strike has failed
    for (const std::uint32_t each : now.turning)
      if (!components_[each].is_down && components_[each].is_planned() == by_plan) go_down(each);
  for (const std::uint32_t each : now.turning) components_.turn(each);
  changed_ = std::move(now.turning);
  changed_.insert(changed_.end(), now.isolating.begin(), now.isolating.end());
  interruptions_.carry_out(changed_);
  slowness_.settle();
  mitigate(std::move(now.stepping));
  slow_jobs_.expect_room();
  spares_.replace_failed();
  watch_for_starts();
  agenda_.settle();
}

/// Takes what is due at this instant off the agenda, and carries out what concerns neither components nor jobs.
Outages::Changes Outages::take_changes() {
  Changes now;
  while (const auto due = agenda_.take()) {
    switch (due->kind) {
      case Agenda::Kind::turn:
        now.turning.push_back(due->index);
        break;
      case Agenda::Kind::spare:
        spares_.on_started(due->index);
        break;
      case Agenda::Kind::drain: {
        const auto [first, last] = components_[due->index].gpus;
        if (!components_[due->index].is_down)
          draining_.emplace_back(due->index, first, last - first, components_[due->index].reason);
        break;
      }
      case Agenda::Kind::isolation:
        now.isolating.push_back(due->index);
        break;
      case Agenda::Kind::loans:
        for (const std::uint32_t each : lent_.change()) now.turning.push_back(each);
        break;
      case Agenda::Kind::step:
        if (slow_jobs_.is_due(JobId{due->index})) now.stepping.emplace_back(due->index);
        break;
    }
  }
  return now;
}

void Outages::go_down(std::uint32_t index) {
  const Component& component = components_[index];
  if (component.slows == nullptr) return fail(index);
  change_pace(index, false);
  if (component.found_by == FoundBy::slowdown && component.slowest() >= spec_.detectors.slow)
    agenda_.schedule(state_.clock + spec_.detectors.slow_for, Agenda::Kind::isolation, index);
}

void Outages::come_back(std::uint32_t index) {
  if (components_[index].is_slow())
    change_pace(index, true);
  else
    repair(index);
  components_.set_isolated(index, false);
  agenda_.schedule(Time::never(), Agenda::Kind::isolation, index);
}

/// A component slows its GPUs down from now on, or no longer.
void Outages::change_pace(std::uint32_t index, bool is_over) {
  const Component& component = components_[index];
  const auto [first, last] = component.gpus;
  is_over ? slowness_.end(first, last, *component.slows) : slowness_.begin(first, last, *component.slows);
  if (state_.options.decisions != nullptr)
    state_.options.decisions->slowed(state_.clock, components_.slow_gpus(index), is_over);
}

/// Takes a slow component out of service: a GPU with its server, if its class drains.
void Outages::isolate(std::uint32_t index) {
  change_pace(index, true);
  agenda_.schedule(Time::never(), Agenda::Kind::isolation, index);
  components_.set_isolated(index, true);
  fail(index);
}

void Outages::fail(std::uint32_t index) {
  const Component& component = components_[index];
  const GpuRange out = components_.out_with(index);
  if (!component.is_planned()) ++failures_;
  state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
  state_.fingerprint.add((std::uint64_t{out.first} << 32) | out.last);
  const ServerRange servers = components_.servers_of(out);
  for (std::uint32_t s = servers.first; s < servers.last; ++s) spares_.on_failed(s);
  const auto drained = std::ranges::find(draining_, index, &Draining::of);
  for (std::uint32_t gpu = out.first; gpu < out.last;
       ++gpu)  // what is withheld stays out of service with the component
    if (drained == draining_.end() || !drained->is_withheld(gpu)) interruptions_.strike(GpuId{gpu}, component);
  if (drained != draining_.end()) draining_.erase(drained);
}

void Outages::repair(std::uint32_t index) {
  const GpuRange out = components_.out_with(index);
  for (std::uint32_t gpu = out.first; gpu < out.last; ++gpu) gpus_.remove_cause(GpuId{gpu}, components_[index].reason);
  const ServerRange servers = components_.servers_of(out);
  for (std::uint32_t s = servers.first; s < servers.last; ++s) spares_.on_repaired(s);
  admission_.room_has_grown();
}

void Outages::withhold_free() {
  for (Draining& each : draining_) each.withhold_free(gpus_);
  spares_.withhold_free();
  gpus_.tell();
}

void Outages::look_at_started() {
  if (state_.started.empty()) return;
  for (const JobId job : state_.started) {
    slow_jobs_.forget(job);
    static_cast<void>(slow_jobs_.look_at(job));  // it has lost nothing yet, so that it does not restart
  }
  agenda_.settle();
  state_.started.clear();
}

bool Outages::look_at_stuck() {
  std::vector<JobId> stuck = slow_jobs_.take_stuck();
  if (stuck.empty()) return false;
  changed_.clear();  // what failed before is no cause of what restarts now
  const bool any_restarts = mitigate(std::move(stuck));
  spares_.replace_failed();
  agenda_.settle();
  slow_jobs_.wait_for_room();
  return any_restarts;
}

/// Looks at these jobs and at others that may have become slower or faster at this instant. True if some restart.
bool Outages::mitigate(std::vector<JobId> jobs) {
  bool any_restarts = false;
  while (spec_.mitigation.any()) {
    for (const JobId job : slowness_.take_affected()) jobs.push_back(job);
    if (jobs.empty()) break;
    std::sort(jobs.begin(), jobs.end());
    jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
    for (const JobId job : jobs)
      if (slow_jobs_.look_at(job)) {
        restart(job);
        any_restarts = true;
      }
    jobs.clear();
    interruptions_.carry_out(changed_);
    slowness_.settle();
  }
  return any_restarts;
}

/// Isolates what slows down a job that restarts.
void Outages::restart(JobId job) {
  for (const std::uint32_t each : components_.slow_under(state_.run(job).gpus)) {
    isolate(each);
    changed_.push_back(each);
    // A component that slows transfers down only may have none of the GPUs of the job.
    interruptions_.strike(job, FoundBy::slowdown);
  }
}

/// Ends a run in which components fail and come back forever, and no job can start.
void Outages::watch_for_starts() {
  const bool may_start = !state_.running.empty() || admission_.expects_jobs();
  without_start_ = may_start ? 0 : without_start_ + 1;
  if (without_start_ < kMostWithoutStart) return;
  if (spec_.components.empty() && spec_.outages.empty())
    throw InputError{fmt::format(
        "loans: no job ran during the last {} instants at which servers were lent or went back, until {:.0f} s, though "
        "{} wait. They never find room: more servers that aren't lent, or smaller jobs, would help",
        without_start_, state_.clock.to_seconds(), state_.waiting)};
  throw InputError{fmt::format(
      "failures: no job ran during the last {} instants at which components failed or came back, until {:.0f} s, "
      "though {} wait. So many components are down on average that they never find room: shorter repairs, more spares "
      "or smaller jobs would help",
      without_start_, state_.clock.to_seconds(), state_.waiting)};
}

}  // namespace contend
