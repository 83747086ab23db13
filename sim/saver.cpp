#include "sim/saver.hpp"

#include <utility>

namespace contend {

Saver::Saver(EngineState& state, Executor& executor) : state_{state}, executor_{executor} {
  const SchedulingRules& rules = state.options.rules;
  if (rules.store) store_.emplace(rules.store->rate, rules.store->of_job);
}

void Saver::begin(JobId job) {
  JobRun& run = state_.run(job);
  run.live->standing_since = state_.clock;
  run.live->step = SavingStep::waiting;
  if (!store_ || !store_->is_writing(job)) copy(job);
}

void Saver::copy(JobId job) {
  JobRun& run = state_.run(job);
  run.live->step = SavingStep::copying;
  const Time cost = state_.costs_of(run).checkpoint;
  if (cost == Time{}) return on_copied(job);
  run.ends = state_.clock + cost;
  run.end = state_.calendar.schedule(run.ends, Phase::completions, {CalendarEvent::Kind::copied, CellId{}, job});
}

void Saver::on_copied(JobId job) {
  JobRun& run = state_.run(job);
  run.ends = Time::never();
  const PreemptionCosts& costs = state_.costs_of(run);
  if (costs.written == Bytes{}) return go_on(job);
  store_->begin(job, costs.written.to_double() * run.width, run.width, state_.clock);
  schedule();
  if (costs.writes_beside) return go_on(job);
  run.live->step = SavingStep::writing;
}

void Saver::on_written() {
  written_.clear();
  store_->end_due(state_.clock, written_);
  for (const JobId job : written_) {
    JobExecution& live = *state_.run(job).live;
    if (state_.costs_of(state_.run(job)).writes_beside) live.saved = live.being_saved;
    if (live.step == SavingStep::waiting) copy(job);
    if (live.step == SavingStep::writing) go_on(job);
  }
  schedule();
}

void Saver::go_on(JobId job) {
  JobRun& run = state_.run(job);
  JobExecution& live = *run.live;
  ++state_.events;
  state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
  state_.fingerprint.add((std::uint64_t{job.value()} << 32) ^ static_cast<std::uint64_t>(run.completed));
  run.overhead += state_.clock - live.standing_since;
  live.step = SavingStep::none;
  live.iterated = state_.clock;
  const SavedIteration now{run.completed, state_.clock, run.overhead};
  const bool is_written_later = state_.costs_of(run).writes_beside && store_ && store_->is_writing(job);
  if (is_written_later) {
    live.being_saved = now;
  } else {
    live.saved_before = std::exchange(live.saved, now);
  }
  executor_.go_on(job);
}

void Saver::abandon(JobId job) {
  JobRun& run = state_.run(job);
  if (store_) {
    store_->abandon(job, state_.clock);
    schedule();
  }
  if (!run.live || run.live->step == SavingStep::none) return;
  run.overhead += state_.clock - run.live->standing_since;
  if (run.live->step == SavingStep::copying) state_.calendar.cancel(run.end);
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
