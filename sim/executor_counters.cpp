// The part of the executor that counts: posts and awaits (Counter in sim/graph.hpp). An await that its counter has
// reached ends at once. One that waits ends by an event of the instant at which the counter reaches it, so that what
// another job posts in the middle of a scheduling pass ends no iteration there.

#include "sim/error.hpp"
#include "sim/executor.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace contend {

void Executor::count(JobId job, OpId id, Slot slot) {
  JobRun& run = state_.run(job);
  const Op& op = run.plan->ops[id.index()].op;
  CounterState& counter = state_.counter(job, op.counter);
  const std::int64_t iteration = run.iteration_of(slot);
  if (op.kind == OpKind::post) {
    std::int64_t& posted = counter.posted[job];
    if (iteration >= posted) {  // else an earlier run of the iteration has posted
      counter.value += op.amount * (iteration + 1 - posted);
      posted = iteration + 1;
      for (CounterState::Waiting& each : counter.waiting) {
        if (each.end != Time::never() || counter.value < each.until) continue;
        each.end = state_.clock;
        each.event =
            state_.calendar.schedule(each.end, Phase::completions, {CalendarEvent::Kind::counted, CellId{}, each.job});
      }
    }
  } else if (const std::int64_t until = op.amount * (iteration + 1 - op.bound); counter.value < until) {
    counter.waiting.push_back({job, id, slot, until, Time::never(), {}});
    return;
  }
  note_counted(job, id);
  done_now_.push_back({job, id, slot, CellId::none()});
}

void Executor::note_counted(JobId job, OpId op) {
  ++state_.events;
  state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
  state_.fingerprint.add((std::uint64_t{UINT32_MAX - 1} << 32) ^ (std::uint64_t{job.value()} << 8) ^ op.value());
}

void Executor::on_counted(JobId job) {
  const std::vector<Counter>& counters = state_.run(job).plan->counters;
  for (std::size_t c = 0; c < counters.size(); ++c) {
    std::vector<CounterState::Waiting>& waiting = state_.counter(job, CounterId{c}).waiting;
    const auto ended = std::find_if(waiting.begin(), waiting.end(), [&](const CounterState::Waiting& each) {
      return each.job == job && each.end == state_.clock && !state_.calendar.pending(each.event);
    });
    if (ended == waiting.end()) continue;
    const CounterState::Waiting await = *ended;
    waiting.erase(ended);
    note_counted(job, await.op);
    complete({job, await.op, await.slot, CellId::none()});
    return drain();
  }
}

void EngineState::stop_awaiting(JobId job) {
  for (auto& entry : counters) {
    std::erase_if(entry.second.waiting, [&](CounterState::Waiting& each) {
      if (each.job == job && each.end != Time::never()) calendar.cancel(each.event);
      return each.job == job;
    });
  }
}

void EngineState::check_awaits(Time next) const {
  if (next < kEndOfClock) return;
  for (const auto& entry : counters) {
    if (entry.second.waiting.empty()) continue;
    const CounterState::Waiting& first = entry.second.waiting.front();
    const JobRun& run = jobs[first.job.index()];
    throw InputError{fmt::format(
        "job `{}` waits for ever in `{}`: counter `{}` has reached {} of {}, and no job that runs will post",
        run.spec->name, run.plan->ops[first.op.index()].op.name, entry.first.second, entry.second.value, first.until)};
  }
}

}  // namespace contend
