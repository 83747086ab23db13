#include "sim/scheduling_rules.hpp"

#include <algorithm>

namespace contend {

namespace {

constexpr std::int64_t kNormalPace = 1000;

/// Time that the work takes at the pace, rounded up.
Time stretched(Time work, std::int64_t pace) {
  const std::int64_t ns = work.ns();
  return Time::nanoseconds(ns / kNormalPace * pace + (ns % kNormalPace * pace + kNormalPace - 1) / kNormalPace);
}

/// Time that the work takes at both paces of the segment, rounded up once.
Time stretched(Time work, const WorkSegment& segment) {
  if (segment.type_pace == kNominalPace) return stretched(work, segment.pace);
  constexpr Int128 kWhole = Int128{kNormalPace} * kNominalPace;
  const Int128 ns = (Int128{work.ns()} * segment.pace * segment.type_pace + kWhole - 1) / kWhole;
  if (ns > Int128{Time::never().ns()}) throw_time_overflow();
  return Time::nanoseconds(static_cast<std::int64_t>(ns));
}

/// Work done in the time at both paces, rounded down.
Time shrunk(Time time, const WorkSegment& segment) {
  const std::int64_t ns = time.ns(), pace = segment.pace;
  if (segment.type_pace == kNominalPace)
    return Time::nanoseconds(ns / pace * kNormalPace + ns % pace * kNormalPace / pace);
  const Int128 whole = Int128{ns} * kNormalPace * kNominalPace / (Int128{pace} * segment.type_pace);
  return Time::nanoseconds(static_cast<std::int64_t>(std::min(whole, Int128{Time::never().ns()})));
}

WorkSegment with_pace(const WorkSegment& segment, std::int64_t type_pace) {
  return {segment.work, segment.restart, segment.pace, type_pace, {}, {}};
}

/// Time on GPUs until so much of the segment's work is done.
Time time_until(Time work, const WorkSegment& segment) {
  if (segment.parts.empty()) return stretched(work, segment);
  Time at = segment.done, time;
  const Time end = at + work;
  for (const PacedWork& part : segment.parts) {
    if (part.until <= at) continue;
    const Time next = std::min(end, part.until);
    time += stretched(next - at, with_pace(segment, part.type_pace));
    at = next;
    if (at == end) break;
  }
  return time;
}

/// Work of the segment that is done in so much time on GPUs, rounded down.
Time work_within(Time time, const WorkSegment& segment) {
  if (segment.parts.empty()) return shrunk(time, segment);
  Time at = segment.done;
  for (const PacedWork& part : segment.parts) {
    if (part.until <= at) continue;
    const WorkSegment own = with_pace(segment, part.type_pace);
    const Time whole = stretched(part.until - at, own);
    if (time < whole) return at - segment.done + std::min(shrunk(time, own), part.until - at);
    time -= whole;
    at = part.until;
  }
  return at - segment.done;
}

/// The time for which workers have started again after so many checkpoints, and in one that goes on for `stood`.
Time renewals(const PreemptionCosts& costs, std::int64_t checkpoints, Time stood) {
  if (!costs.renews) return Time{};
  return costs.start * checkpoints + std::max(Time{}, stood - (costs.checkpoint - costs.start));
}

/// True if what workers have done is saved before they start again, and they have stood for long enough for that.
bool is_saved_before_start(const PreemptionCosts& costs, Time stood) {
  return costs.renews && costs.persist == Time{} && stood >= costs.checkpoint - costs.start;
}

/// As work_after(), where checkpoints come in distances that differ, because paces do.
WorkDone work_in_parts(const WorkSegment& segment, const PreemptionCosts& costs, Time time) {
  const Time interval = costs.checkpoint_interval;
  std::int64_t low = 0, high = (segment.work.ns() - 1) / interval.ns();  // checkpoints that are over by then
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (time_until(interval * middle, segment) + costs.checkpoint * middle <= time)
      low = middle;
    else
      high = middle - 1;
  }
  const Time passed = interval * low, next = std::min(passed + interval, segment.work);
  const Time before = time_until(passed, segment), rest = time - before - costs.checkpoint * low;
  const Time busy = time_until(next, segment) - before, stood = std::max(Time{}, rest - busy);
  const Time saved = low == 0 || rest >= costs.persist ? passed : passed - interval;
  return {.done = std::clamp(work_within(before + std::min(rest, busy), segment), passed, next),
          .saved = rest >= busy && is_saved_before_start(costs, stood) ? next : saved,
          .overhead = segment.restart + costs.checkpoint * low + stood,
          .restart = segment.restart + renewals(costs, low, stood)};
}

}  // namespace

std::string why_not_killed(const SchedulingRules& rules, const JobSpec& job) {
  if (!rules.kill_at_limit || !job.limit || (job.duration && job.service < 0)) return "";
  if (job.service >= 0) return "it has a time limit, but only its requests end a job with a service";
  return "it has a time limit and iterations, but only jobs with a duration can be killed at their time limit";
}

std::string why_not_retried(const SchedulingRules& rules, const JobSpec& job) {
  if (!rules.failures.times || job.duration || job.outcome != JobOutcome::failed) return "";
  return "it fails and has iterations, but only jobs with a duration can be retried";
}

void limit_attempts(const RetryRule& failures, JobSpec& job) {
  if (!failures.times || !job.duration) return;
  const auto times = static_cast<std::size_t>(*failures.times);
  if (job.attempts.size() <= times) return;
  job.duration = job.attempts[times];
  job.attempts.resize(times);
  job.outcome = JobOutcome::failed;
}

Time RetryRule::delay_before(int retry) const {
  Time now = std::min(delay, max_delay);
  for (; retry > 1 && now < max_delay && now > Time{} && growth > kNormalPace; --retry)
    now = std::min(stretched(now, growth), max_delay);
  return now;
}

Time at_pace(Time work, const WorkSegment& segment) {
  return time_until(work, segment);
}

Time length_of(const WorkSegment& segment, const PreemptionCosts& costs) {
  const std::int64_t interval = costs.checkpoint_interval.ns();
  if (interval == 0 || segment.work <= costs.checkpoint_interval)
    return segment.restart + time_until(segment.work, segment);
  const std::int64_t checkpoints = (segment.work.ns() - 1) / interval;  // none at the end
  if (!segment.parts.empty())
    return segment.restart + time_until(segment.work, segment) + costs.checkpoint * checkpoints;
  const Time last = segment.work - costs.checkpoint_interval * checkpoints;
  return segment.restart + (stretched(costs.checkpoint_interval, segment) + costs.checkpoint) * checkpoints +
         stretched(last, segment);
}

Time saved_before_end(const WorkSegment& segment, const PreemptionCosts& costs) {
  const std::int64_t interval = costs.checkpoint_interval.ns();
  if (interval == 0 || segment.work == Time{}) return segment.work;
  const std::int64_t checkpoints = (segment.work.ns() - 1) / interval;
  if (checkpoints == 0 || costs.persist == Time{}) return costs.checkpoint_interval * checkpoints;
  const Time last = segment.work - costs.checkpoint_interval * checkpoints;
  const Time after = segment.parts.empty()
                         ? stretched(last, segment)
                         : time_until(segment.work, segment) - time_until(segment.work - last, segment);
  const bool is_durable = after >= costs.persist;
  return costs.checkpoint_interval * (is_durable ? checkpoints : checkpoints - 1);
}

WorkDone work_after(const WorkSegment& segment, const PreemptionCosts& costs, Time elapsed) {
  if (elapsed >= length_of(segment, costs)) {
    WorkSegment bare = segment;
    bare.restart = Time{};
    const Time overhead = length_of(segment, costs) - length_of(bare, {});
    const std::int64_t checkpoints =
        costs.checkpoint == Time{} ? 0 : (overhead - segment.restart).ns() / costs.checkpoint.ns();
    return {segment.work, segment.work, overhead, segment.restart + renewals(costs, checkpoints, Time{})};
  }
  if (elapsed <= segment.restart) return {Time{}, Time{}, elapsed, elapsed};
  const Time time = elapsed - segment.restart;
  if (costs.checkpoint_interval == Time{}) {
    const Time done = work_within(time, segment);
    return {done, done, segment.restart, segment.restart};
  }
  if (segment.work <= costs.checkpoint_interval)
    return {std::min(work_within(time, segment), segment.work), Time{}, segment.restart, segment.restart};
  if (!segment.parts.empty()) return work_in_parts(segment, costs, time);
  const Time busy = stretched(costs.checkpoint_interval, segment);  // of one interval, before its checkpoint
  const std::int64_t full = time.ns() / (busy + costs.checkpoint).ns();
  const Time rest = time - (busy + costs.checkpoint) * full;
  const Time passed = costs.checkpoint_interval * full;
  const Time durable = full == 0 || rest >= costs.persist ? passed : passed - costs.checkpoint_interval;
  const Time done = passed + std::min(shrunk(std::min(rest, busy), segment), costs.checkpoint_interval);
  const Time stood = std::max(Time{}, rest - busy);
  const Time saved = rest >= busy && is_saved_before_start(costs, stood) ? done : durable;
  return {done, saved, segment.restart + costs.checkpoint * full + stood,
          segment.restart + renewals(costs, full, stood)};
}

WorkStretch stretch_at(const WorkSegment& segment, const PreemptionCosts& costs, Time elapsed) {
  if (elapsed < segment.restart) return {false, segment.restart};
  const std::int64_t interval = costs.checkpoint_interval.ns();
  if (interval == 0 || costs.checkpoint == Time{} || segment.work <= costs.checkpoint_interval) return {true};
  const std::int64_t checkpoints = (segment.work.ns() - 1) / interval;
  const Time busy = stretched(costs.checkpoint_interval, segment);
  const Time time = elapsed - segment.restart;
  const std::int64_t full = time.ns() / (busy + costs.checkpoint).ns();
  if (full >= checkpoints) return {true};
  const Time before = segment.restart + (busy + costs.checkpoint) * full;
  if (elapsed - before < busy) return {true, before + busy};
  return {false, before + busy + costs.checkpoint};
}

}  // namespace contend
