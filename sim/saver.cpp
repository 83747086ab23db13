#include "sim/saver.hpp"

#include "sim/job_body.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace contend {

Saver::Saver(EngineState& state, Executor& executor) : state_{state}, executor_{executor} {
  const SchedulingRules& rules = state.options.rules;
  if (rules.store) store_.emplace(rules.store->rate, rules.store->of_job);
}

void Saver::start_timed(JobId job) {
  JobRun& run = state_.run(job);
  run.saving = std::make_unique<TimedSaving>();
  run.saving->restart = run.pause(state_.costs_of(run));
  work_on(job);
}

/// Has a timed job work until its next checkpoint or its end.
void Saver::work_on(JobId job) {
  JobRun& run = state_.run(job);
  TimedSaving& saving = *run.saving;
  saving.from = state_.clock;
  const Time left = run.attempt_left() - saving.done, interval = state_.costs_of(run).checkpoint_interval;
  const bool is_last = left <= interval;
  WorkSegment paces = run.segment({});
  paces.done += saving.done;
  run.ends = state_.clock + saving.restart + at_pace(left, paces);  // at the earliest
  run.end = state_.calendar.schedule(
      is_last ? run.ends : state_.clock + saving.restart + at_pace(interval, paces), Phase::completions,
      {is_last ? CalendarEvent::Kind::job_end : CalendarEvent::Kind::saves, CellId{}, job});
}

WorkDone EngineState::work_done(const JobRun& run) const {
  const PreemptionCosts& costs = costs_of(run);
  if (!run.saving) return work_after(run.segment(costs), costs, alone(run));
  const TimedSaving& saving = *run.saving;
  if (saving.step != SavingStep::none)
    return {saving.done, saving.saved, saving.overhead + (clock - saving.standing_since), saving.restarting};
  WorkSegment rest = run.segment({});
  rest.work -= saving.done;
  rest.done += saving.done;
  rest.restart = saving.restart;
  PreemptionCosts unsaved;
  unsaved.checkpoint_interval = kNeverSaved;
  const WorkDone since = work_after(rest, unsaved, clock - saving.from);
  WorkDone all{saving.done + std::min(since.done, costs.checkpoint_interval), saving.saved,
               saving.overhead + since.overhead, saving.restarting + since.restart};
  if (clock - saving.from < length_of(rest, unsaved)) return all;
  const Time work = run.attempt_left();
  all.done = all.saved = work;
  all.overhead = clock - run.since - at_pace(work, run.segment({}));
  return all;
}

SteadySpeed EngineState::steady_speed(JobId job) const {
  const JobRun& run = jobs[job.index()];
  const bool is_alone = !options.sharing.any() && !options.failures.redundancy.any();
  if (run.state != JobState::running || run.body->has_iterations() || run.elastic() || run.parts || run.serving)
    return {};
  if (!is_alone || run.saving) return {};
  const PreemptionCosts& costs = costs_of(run);
  const WorkStretch stretch = stretch_at(run.segment(costs), costs, clock - run.since);
  const Time until = stretch.until == Time::never() ? Time::never() : run.since + stretch.until;
  if (!stretch.works) return {0, until};
  return {static_cast<double>(kNominalPace) / static_cast<double>(run.type_pace) * (1000.0 / run.pace), until};
}

bool EngineState::plan_checkpoint(JobRun& run) const {
  JobExecution& live = *run.live;
  const bool is_due = run.completed == live.next_save;
  if (live.save_every > 0) {
    live.next_save = (run.completed / live.save_every + 1) * live.save_every;
    return is_due;
  }
  const std::int64_t ended = run.completed - live.interval.iteration;
  const PreemptionCosts& costs = costs_of(run);
  if (ended == 0) {
    live.next_save = costs.renews ? run.completed + 1 : -1;
    return false;
  }
  // What is in flight ends before a checkpoint.
  const std::int64_t spent = (live.iterated - live.interval.at).ns();
  const std::int64_t mean = std::max<std::int64_t>(1, spent / ended);
  if (costs.renews) {  // it looks at the time that is left after the last iteration that fits, as far as it knows
    const std::int64_t most = costs.checkpoint_interval.ns(), fit = (most - spent) / mean;
    live.next_save = run.completed + (fit > 0 ? fit : std::max<std::int64_t>(1, most / mean));
    return fit <= 0;
  }
  const std::int64_t least = is_due ? 1 : run.plan->in_flight - 1;
  const std::int64_t left = costs.checkpoint_interval.ns() - (is_due ? 0 : spent);
  live.next_save = run.completed + std::max<std::int64_t>(least, (left + mean - 1) / mean);
  return is_due;
}

void Saver::begin(JobId job) {
  JobRun& run = state_.run(job);
  if (TimedSaving* const saving = run.saving.get(); saving != nullptr) {
    saving->done += state_.costs_of(run).checkpoint_interval;
    saving->overhead += saving->restart;
    saving->restarting += std::exchange(saving->restart, Time{});
  }
  const Stand stand = stand_of(run);
  stand.step = SavingStep::waiting;
  stand.since = state_.clock;
  if (!store_ || !store_->is_writing(job)) copy(job);
}

void Saver::copy(JobId job) {
  JobRun& run = state_.run(job);
  stand_of(run).step = SavingStep::copying;
  const Time cost = state_.costs_of(run).checkpoint;
  if (cost == Time{}) return on_copied(job);
  const Time ends = state_.clock + cost;
  if (!run.saving) run.ends = ends;
  run.end = state_.calendar.schedule(ends, Phase::completions, {CalendarEvent::Kind::copied, CellId{}, job});
}

void Saver::on_copied(JobId job) {
  JobRun& run = state_.run(job);
  if (!run.saving) run.ends = Time::never();
  const PreemptionCosts& costs = state_.costs_of(run);
  if (costs.written == Bytes{}) return go_on(job);
  store_->begin(job, costs.written.to_double() * run.width, run.width, state_.clock);
  schedule();
  if (costs.writes_beside) return go_on(job);
  stand_of(run).step = SavingStep::writing;
}

void Saver::on_written() {
  written_.clear();
  store_->end_due(state_.clock, written_);
  for (const JobId job : written_) {
    JobRun& run = state_.run(job);
    const bool writes_beside = state_.costs_of(run).writes_beside;
    if (writes_beside && run.saving) run.saving->saved = run.saving->being_saved;
    if (writes_beside && run.live) run.live->saved = run.live->being_saved;
    const SavingStep step = stand_of(run).step;
    if (step == SavingStep::waiting) copy(job);
    if (step == SavingStep::writing) go_on(job);
  }
  schedule();
}

void Saver::go_on(JobId job) {
  JobRun& run = state_.run(job);
  const bool is_written_later = state_.costs_of(run).writes_beside && store_ && store_->is_writing(job);
  ++state_.events;
  state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
  if (run.saving) return go_on_timed(job, is_written_later);
  JobExecution& live = *run.live;
  state_.fingerprint.add((std::uint64_t{job.value()} << 32) ^ static_cast<std::uint64_t>(run.completed));
  run.totals.overhead += state_.clock - live.standing_since;
  if (state_.costs_of(run).renews) run.totals.restarting += state_.costs_of(run).start;
  live.step = SavingStep::none;
  live.iterated = state_.clock;
  const SavedIteration now{run.completed, state_.clock, run.totals.overhead};
  live.interval = now;
  if (is_written_later) {
    live.being_saved = now;
  } else {
    live.saved_before = std::exchange(live.saved, now);
  }
  if (!store_) state_.saved_now.push_back(job);
  executor_.go_on(job);
}

void Saver::go_on_timed(JobId job, bool is_written_later) {
  TimedSaving& saving = *state_.run(job).saving;
  const PreemptionCosts& costs = state_.costs_of(state_.run(job));
  if (costs.renews) saving.restarting += costs.start;
  state_.fingerprint.add(job.value());
  saving.overhead += state_.clock - saving.standing_since;
  saving.step = SavingStep::none;
  (is_written_later ? saving.being_saved : saving.saved) = saving.done;
  work_on(job);
}

void Saver::count_saved_before_start(JobRun& run) {
  const PreemptionCosts& costs = state_.costs_of(run);
  JobExecution& live = *run.live;
  if (!costs.renews || costs.written > Bytes{} || live.step != SavingStep::copying) return;
  const Time copies = costs.checkpoint - costs.start, stood = state_.clock - live.standing_since;
  if (stood < copies) return;
  const SavedIteration now{run.completed, live.standing_since + copies, run.totals.overhead + copies};
  live.saved_before = std::exchange(live.saved, now);
  run.totals.restarting += stood - copies;
}

void Saver::abandon(JobId job) {
  JobRun& run = state_.run(job);
  if (store_) {
    store_->abandon(job, state_.clock);
    schedule();
  }
  if (!run.live || run.live->step == SavingStep::none) return;
  const bool has_event = run.live->step == SavingStep::copying || run.live->step == SavingStep::shifted;
  count_saved_before_start(run);
  if (run.live->step != SavingStep::shifted) run.totals.overhead += state_.clock - run.live->standing_since;
  if (has_event) state_.calendar.cancel(run.end);
  run.ends = Time::never();
  run.live->step = SavingStep::none;
  run.live->iterated = state_.clock;
}

void Saver::schedule() {
  const Time next = store_->next_end();
  if (state_.calendar.pending(event_)) state_.calendar.cancel(event_);
  if (next == Time::never()) return;
  event_ = state_.calendar.schedule(next, Phase::completions, {CalendarEvent::Kind::written});
}

}  // namespace contend
