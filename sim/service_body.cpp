#include "sim/service_body.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <utility>

namespace contend {

void ServiceBody::start(JobId job) {
  JobRun& run = state_.run(job);
  if (!run.serving) {
    run.serving = std::make_unique<ServiceRun>();
    run.serving->its = state_.workload.services[static_cast<std::size_t>(run.spec->service)](run.arrival);
    run.serving->its->share(shelf_);
  }
  for (const GpuId gpu : run.gpus) state_.gpu[gpu.index()].timed.push_back(job);
  if (!run.serving->moves_from.empty()) return arrive(run, job);
  const Time begins = state_.clock + run.pause(state_.costs_of(run));
  run.ends = std::max(begins, run.serving->its->earliest_end());
  run.end = state_.calendar.schedule(begins, Phase::completions, {CalendarEvent::Kind::service, CellId{}, job});
}

void ServiceBody::act(JobId job) {
  JobRun& run = state_.run(job);
  ServiceRun& service = *run.serving;
  ++state_.events;
  if (!service.begun) {
    count_restart(run, state_.clock, run.totals);
    service.begun = true;
    service.its->begin(state_.clock);
  } else {
    service.its->advance(state_.clock);
  }
  if (service.its->done()) return ends_(job);
  schedule(run, job);
  const bool asks = !service.its->asks().empty(), has_asked = asking_.contains(job);
  if (asks) asking_.insert(job);
  if (!asks) asking_.erase(job);
  if (asks || has_asked || !service.its->unused().empty()) resizes_(job);
}

void ServiceBody::arrive(JobRun& run, JobId job) {
  const std::vector<GpuId> before = std::exchange(run.serving->moves_from, {});
  ServiceMove to{.from = {},
                 .restart = state_.costs_of(run).restart + state_.costs_of(run).start,
                 .detection = run.serving->detection};
  for (const GpuId gpu : run.gpus) {
    const auto at = std::ranges::find(before, gpu);
    to.from.push_back(at == before.end() ? ServiceMove::kNew : static_cast<std::size_t>(at - before.begin()));
  }
  run.serving->detection = {};
  Service& service = *run.serving->its;
  service.move(state_.clock, to);
  schedule(run, job, service.done() || !service.asks().empty() || !service.unused().empty());
}

void ServiceBody::schedule(JobRun& run, JobId job, bool at_once) {
  const Time next = at_once ? state_.clock : run.serving->its->next();
  CONTEND_CHECK(next >= state_.clock && next < Time::never(), "a service that isn't done has something to do");
  run.ends = std::max(next, run.serving->its->earliest_end());
  run.end = state_.calendar.schedule(next, Phase::completions, {CalendarEvent::Kind::service, CellId{}, job});
}

void ServiceBody::count_restart(const JobRun& run, Time now, JobTotals& totals) {
  totals.overhead += now - run.since;
  totals.restarting += now - run.since;
}

bool ServiceBody::go_back(JobId job) {
  JobRun& run = state_.run(job);
  state_.calendar.cancel(run.end);
  if (!run.serving->moves_from.empty()) return false;
  if (run.serving->begun) return run.serving->its->lose(state_.clock);
  count_restart(run, state_.clock, run.totals);
  return false;
}

void ServiceBody::go_on(JobId job, Time /*stands*/, bool /*is_struck*/) {
  check_failed(__FILE__, __LINE__, "a service has no redundancy", state_.run(job).spec->name);
}

std::vector<GpuId> ServiceBody::left_without(JobId job, std::span<const GpuId> lost, Time detection) {
  const JobRun& run = state_.run(job);
  if (!run.serving->begun) return {};
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < run.gpus.size(); ++rank)
    if (std::ranges::find(lost, run.gpus[rank]) != lost.end()) ranks.push_back(rank);
  if (ranks.empty()) return {};
  std::vector<GpuId> left;
  for (const std::size_t rank : run.serving->its->left_without(ranks)) left.push_back(run.gpus[rank]);
  run.serving->detection = left.empty() ? Time{} : detection;
  return left;
}

bool ServiceBody::move(JobId job) {
  JobRun& run = state_.run(job);
  if (run.serving->begun) run.serving->moves_from = run.gpus;
  return run.serving->begun;
}

void ServiceBody::leave(JobId job) {
  state_.show_run(job);
}

bool ServiceBody::settle(JobId job, Time /*held*/) {
  JobRun& run = state_.run(job);
  run.totals.compute += present_steps(run);
  run.remaining_service -= uncounted(run);
  for (std::size_t rank = 0; rank < run.gpus.size(); ++rank) {
    GpuState& on = state_.gpu[run.gpus[rank].index()];
    on.timed.erase(std::remove(on.timed.begin(), on.timed.end(), job), on.timed.end());
    if (run.serving->begun) on.totals.busy += run.serving->its->busy(rank, state_.clock);
  }
  run.serving->begun = !run.serving->moves_from.empty();
  run.ends = Time::never();
  run.was_struck = false;
  return false;
}

/// All but a nanosecond: a service that is late has always something left.
GpuTime ServiceBody::uncounted(const JobRun& run) const {
  const Time left = run.remaining_service.on_each_of(run.spec->gpus);
  return {std::min(state_.clock - run.since, left - Time::nanoseconds(1)), run.spec->gpus};
}

GpuTime ServiceBody::present_steps(const JobRun& run) const {
  GpuTime steps;
  if (!run.serving || !run.serving->begun) return steps;
  for (std::size_t rank = 0; rank < run.gpus.size(); ++rank)
    steps += GpuTime{run.serving->its->busy(rank, state_.clock), 1};
  return steps;
}

std::optional<GpuTime> ServiceBody::executed(const JobRun& run) const {
  return run.totals.compute + present_steps(run);
}

void ServiceBody::add_present(const JobRun& run, JobTotals& totals) const {
  totals.compute += present_steps(run);
  if (!run.serving->begun) count_restart(run, state_.clock, totals);
}

Time ServiceBody::busy_now(const JobRun& run, GpuId gpu, Time now) const {
  if (!run.serving->begun) return {};
  const auto rank = std::ranges::find(run.gpus, gpu) - run.gpus.begin();
  return run.serving->its->busy(static_cast<std::size_t>(rank), now);
}

std::string ServiceBody::work_to_save(const PreemptionCosts& /*costs*/) const {
  return "a step";
}

}  // namespace contend
