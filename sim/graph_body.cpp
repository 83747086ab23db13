#include "sim/graph_body.hpp"

#include "sim/cells.hpp"
#include "sim/check.hpp"
#include "sim/server_folding.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace contend {

void GraphBody::start(JobId job) {
  JobRun& run = state_.run(job);
  const std::int32_t graph = state_.pace_on(*run.spec, run.width, run.type).graph;
  use_graph(run, graph);
  tear(run, graph);
  if (run.elastic()) count_iterations(run);
  JobView view = state_.view(job, true);
  const auto key_of = [&] {
    return state_.policies.ask_scheduling([&](SchedulingPolicy& policy) { return policy.key(view); });
  };
  const PolicyKey key = key_of();
  view.remaining_service -= run.plan->most_compute();
  run.key_reach = run.plan->in_flight * (key - key_of());
  state_.set_job_work(run);
  occupy(state_, job);
  run.live->standing_since = state_.clock;
  if (state_.options.failures.mitigation.any()) state_.started.push_back(job);
  const Time pause = run.pause(state_.costs_of(run));
  if (pause == Time{}) return begin(run, job);
  run.ends = state_.clock + pause;
  run.end = state_.calendar.schedule(run.ends, Phase::completions, {CalendarEvent::Kind::wake, CellId{}, job});
}

void GraphBody::begin(JobRun& run, JobId job) {
  JobExecution& live = *run.live;
  live.begun = true;
  live.save_every = state_.costs_of(run).iterations;
  if (std::exchange(live.goes_on, false)) {
    live.interval.at += state_.clock - live.iterated;  // as if its iterations had followed each other
    live.iterated = state_.clock;
  } else {
    live.iterated = state_.clock;
    live.first = live.saved = live.saved_before = live.interval = {run.completed, state_.clock, run.totals.overhead};
    state_.plan_checkpoint(run);
  }
  run.live->stops = state_.costs_of(run).stops_iterations();
  if (state_.options.observer != nullptr) state_.options.observer->begins(job, *run.plan);
  executor_.begin(job);
}

void GraphBody::wake(JobId job) {
  JobRun& run = state_.run(job);
  count_restart(run);
  run.ends = Time::never();
  run.resumes = run.was_struck = run.saved_itself = false;
  ++state_.events;
  ++state_.groups_changed;  // it was stuck until now
  state_.note_change(job);
  begin(run, job);
}

void GraphBody::cut_restart(JobRun& run) {
  if (std::exchange(run.live->begun, true)) return;
  count_restart(run);
  state_.calendar.cancel(run.end);
  run.ends = Time::never();
}

void GraphBody::count_restart(JobRun& run) const {
  const Time stood = state_.clock - run.live->standing_since;
  run.totals.overhead += stood;
  if (!run.live->goes_on) run.totals.restarting += stood;
}

bool GraphBody::go_back(JobId job) {
  JobRun& run = state_.run(job);
  const bool has_begun = run.live->begun || run.live->goes_on;
  cut_restart(run);
  if (!has_begun) {
    leave_cells(run, job, run.completed);
    return false;
  }
  saver_.abandon(job);
  const SavedIteration saved = state_.durable(run);
  const bool has_saved = saved.iteration > run.live->first.iteration;
  run.totals.lost += undone(run);
  run.totals.redone += state_.clock - saved.at - (run.totals.overhead - saved.overhead);
  leave_cells(run, job, saved.iteration);
  return has_saved;
}

void GraphBody::leave(JobId job) {
  saver_.abandon(job);
  state_.network->leave(job, state_.clock);
}

void GraphBody::leave_cells(JobRun& run, JobId job, std::int64_t completed) {
  drop_iterations(run, job, completed);
  if (run.elastic()) run.parts_left = state_.parts_left(run, completed);
  use_graph(run, -1);  // while it waits, it is as long as it was when it came
  run.width = run.spec->gpus;
  if (run.elastic()) count_iterations(run);
}

void GraphBody::drop_iterations(JobRun& run, JobId job, std::int64_t completed) {
  courier_.abandon(job);
  contend::leave(state_, job);
  run.completed = completed;
  run.remaining_service = run.plan->compute_left(run.completed, run.iterations);
  run.key_is_stale = true;
  run.totals.compute = run.total_service - run.remaining_service;
}

void GraphBody::go_on(JobId job, Time stands, bool is_struck) {
  JobRun& run = state_.run(job);
  Time begins = state_.clock + stands;
  if (run.live->begun) {
    begin_anew(run, job, is_struck);
  } else {
    begins = std::max(begins, run.ends);
    state_.set_job_work(run);
    state_.calendar.cancel(run.end);
  }
  if (begins == state_.clock) return begin(run, job);
  run.ends = begins;
  run.end = state_.calendar.schedule(begins, Phase::completions, {CalendarEvent::Kind::wake, CellId{}, job});
}

void GraphBody::begin_anew(JobRun& run, JobId job, bool is_struck) {
  saver_.abandon(job);
  const GpuTime lost = state_.undone(run, run.completed);
  run.totals.lost += lost;
  if (is_struck) run.totals.lost_to_failures += lost;
  const JobExecution& before = *run.live;
  const Time in_flight = state_.clock - before.iterated;
  run.totals.redone += in_flight;
  // What is counted here isn't again if the job goes back to one of these.
  const auto kept = [&](SavedIteration saved) {
    saved.overhead -= in_flight;
    return saved;
  };
  const SavedIteration first = kept(before.first), saved = kept(before.saved), saved_before = kept(before.saved_before),
                       interval = before.interval;
  const Time iterated = before.iterated;
  const std::int64_t next_save = before.next_save;
  drop_iterations(run, job, run.completed);
  state_.network->leave(job, state_.clock);
  state_.set_job_work(run);
  occupy(state_, job);
  JobExecution& after = *run.live;
  after.first = first;
  after.saved = saved;
  after.saved_before = saved_before;
  after.interval = interval;
  after.iterated = iterated;
  after.next_save = next_save;
  after.goes_on = true;
  after.standing_since = state_.clock;
}

void GraphBody::use_graph(JobRun& run, std::int32_t graph) {
  use_plan(run, state_.plans[graph < 0 ? run.spec->graph : static_cast<std::size_t>(graph)]);
}

void GraphBody::tear(JobRun& run, std::int32_t graph) {
  const std::size_t index = graph < 0 ? run.spec->graph : static_cast<std::size_t>(graph);
  run.is_torn = false;
  if (index >= state_.workload.torn.size()) return;
  const TornGraph& torn = state_.workload.torn[index];
  run.is_torn = std::ranges::any_of(torn.groups,
                                    [&](const RankGroups& groups) { return leave_servers(state_, run.gpus, groups); });
  if (!run.is_torn) return;
  const auto known = state_.torn_plans.find(index);
  const Plan& plan = known != state_.torn_plans.end()
                         ? known->second
                         : state_.torn_plans.emplace(index, Plan{torn.make()}).first->second;
  CONTEND_CHECK(plan.ranks == std::ssize(run.gpus), "a torn job has as many ranks");
  use_plan(run, plan);
}

void GraphBody::use_plan(JobRun& run, const Plan& plan) {
  if (&plan == run.plan) return;
  run.plan = &plan;
  run.remaining_service = plan.compute_left(run.completed, run.iterations);
  run.total_service = run.totals.compute + run.remaining_service;
  run.key_is_stale = true;
}

void GraphBody::count_iterations(JobRun& run) {
  const std::int64_t parts = state_.size_of(*run.spec, run.width)->parts;
  run.sized_at = run.completed;
  run.iterations = run.completed + (run.parts_left + parts - 1) / parts;
  run.remaining_service = run.plan->compute_left(run.completed, run.iterations);
  run.total_service = run.totals.compute + run.remaining_service;
  run.key_is_stale = true;
}

/// Tasks that run now are included.
GpuTime GraphBody::undone(const JobRun& run) const {
  if (!run.live->begun && !run.live->goes_on) return {};
  return state_.undone(run, state_.durable(run).iteration);
}

/// Whatever became of them: its part of GpuTotals::busy.
std::optional<GpuTime> GraphBody::executed(const JobRun& run) const {
  const JobTotals& totals = run.totals;
  const GpuTime ended = totals.compute + totals.slowed + totals.lost - totals.skipped;
  if (!run.live) return ended;
  const GpuTime now = state_.undone(run, run.completed) - run.plan->compute_left(run.completed, run.iterations);
  return ended + run.remaining_service + now;  // with the promised service, and the service that runs
}

void GraphBody::add_present(const JobRun& run, JobTotals& totals) const {
  const JobExecution& live = *run.live;
  const Time stood = state_.clock - live.standing_since;
  if (live.begun) {
    if (live.step != SavingStep::none && live.step != SavingStep::shifted) totals.overhead += stood;
    return;
  }
  totals.overhead += stood;
  if (!live.goes_on) totals.restarting += stood;
}

/// Of an elastic job: the work that it has done, in whole iterations on the GPUs that it prefers.
std::int64_t GraphBody::iterations_done(const JobRun& run, std::int64_t completed, std::int64_t all) const {
  if (!run.elastic()) return completed;
  if (run.state == JobState::finished) return all;
  const std::int64_t parts = state_.size_of(*run.spec, run.spec->gpus)->parts;
  return all - (state_.parts_left(run, run.completed) + parts - 1) / parts;
}

std::string GraphBody::work_to_save(const PreemptionCosts& costs) const {
  return costs.iterations == kNoIterationSaved ? "" : fmt::format("{} iterations", costs.iterations);
}

}  // namespace contend
