// The part of the engine in which servers carry timers of jobs (HostModel).

#include "sim/check.hpp"
#include "sim/executor.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace contend {

void EngineState::follow_hosts() {
  const Time next = options.hosts->next_end();
  if (calendar.pending(host_event)) {
    if (next != Time::never()) return calendar.reschedule(host_event, next);
    return calendar.cancel(host_event);
  }
  if (next != Time::never()) host_event = calendar.schedule(next, Phase::completions, {CalendarEvent::Kind::hosts});
}

void EngineState::stop_timers(JobRun& run) {
  bool used_hosts = false;
  for (RunningTimer& timer : run.live->timers) {
    if (!timer.use.valid()) {
      if (timer.end != Time::never()) calendar.cancel(timer.event);  // else it has yet to start on its servers
      continue;
    }
    options.hosts->cancel(timer.use, clock);
    host_users[timer.use.index()] = JobId::none();
    used_hosts = true;
  }
  run.live->timers.clear();
  if (used_hosts) follow_hosts();
}

void Executor::start_on_hosts() {
  if (to_start_.empty()) return;
  for (const Begun& each : to_start_) {
    JobRun& run = state_.run(each.job);
    if (!run.live) continue;  // it has left its GPUs at this instant
    const auto timer = std::ranges::find_if(run.live->timers, [&](const RunningTimer& t) {
      return t.op == each.op && t.slot == each.slot && t.end == Time::never() && !t.use.valid();
    });
    if (timer == run.live->timers.end()) continue;  // it has left its GPUs, and has come again
    const Plan::PlannedOp& planned = run.plan->ops[each.op.index()];
    const std::span<const GpuId> gpus =
        std::span{run.gpus}.subspan(static_cast<std::size_t>(run.plan->first_rank[planned.op.role.index()]),
                                    static_cast<std::size_t>(planned.ranks));
    timer->use = state_.options.hosts->start(gpus, planned.op.host, planned.op.duration, state_.clock);
    if (state_.host_users.size() <= timer->use.index()) state_.host_users.resize(timer->use.index() + 1);
    state_.host_users[timer->use.index()] = each.job;
    state_.host_uses.resize(state_.servers());
    for (const GpuId gpu : gpus) ++state_.host_uses[state_.server_of(gpu).index()];
    run.live->host_uses += planned.ranks;
  }
  to_start_.clear();
  state_.follow_hosts();
}

void Executor::on_hosts_due() {
  ended_uses_.clear();
  state_.options.hosts->finish_due(state_.clock, ended_uses_);
  std::vector<std::pair<JobId, RunningTimer>> ended_timers;  // what begins when they end may have their uses' ids
  for (const HostUseId use : ended_uses_) {
    const JobId job = std::exchange(state_.host_users[use.index()], JobId::none());
    std::vector<RunningTimer>& timers = state_.run(job).live->timers;
    const auto ended =
        std::find_if(timers.begin(), timers.end(), [&](const RunningTimer& each) { return each.use == use; });
    CONTEND_CHECK(ended != timers.end(), "what a server has done was a timer of the job");
    ended_timers.emplace_back(job, *ended);
    timers.erase(ended);
  }
  for (const auto& [job, timer] : ended_timers) end_timer(job, timer);
  state_.follow_hosts();
}

}  // namespace contend
