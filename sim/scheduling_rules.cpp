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

}  // namespace

std::string why_not_killed(const SchedulingRules& rules, const JobSpec& job) {
  if (!rules.kill_at_limit || !job.limit || job.duration) return "";
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
  return stretched(work, segment);
}

Time length_of(const WorkSegment& segment, const PreemptionCosts& costs) {
  const std::int64_t interval = costs.checkpoint_interval.ns();
  if (interval == 0 || segment.work <= costs.checkpoint_interval)
    return segment.restart + stretched(segment.work, segment);
  const std::int64_t checkpoints = (segment.work.ns() - 1) / interval;  // none at the end
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
  const bool is_durable = stretched(last, segment.pace) >= costs.persist;
  return costs.checkpoint_interval * (is_durable ? checkpoints : checkpoints - 1);
}

WorkDone work_after(const WorkSegment& segment, const PreemptionCosts& costs, Time elapsed) {
  if (elapsed >= length_of(segment, costs)) {
    const Time overhead =
        length_of(segment, costs) - length_of({segment.work, Time{}, segment.pace, segment.type_pace}, {});
    return {segment.work, segment.work, overhead, segment.restart};
  }
  if (elapsed <= segment.restart) return {Time{}, Time{}, elapsed, elapsed};
  const Time time = elapsed - segment.restart;
  if (costs.checkpoint_interval == Time{}) {
    const Time done = shrunk(time, segment);
    return {done, done, segment.restart, segment.restart};
  }
  if (segment.work <= costs.checkpoint_interval)
    return {std::min(shrunk(time, segment), segment.work), Time{}, segment.restart, segment.restart};
  const Time busy = stretched(costs.checkpoint_interval, segment);  // of one interval, before its checkpoint
  const std::int64_t full = time.ns() / (busy + costs.checkpoint).ns();
  const Time rest = time - (busy + costs.checkpoint) * full;
  const Time passed = costs.checkpoint_interval * full;
  const Time saved = full == 0 || rest >= costs.persist ? passed : passed - costs.checkpoint_interval;
  const Time done = passed + std::min(shrunk(std::min(rest, busy), segment), costs.checkpoint_interval);
  return {done, saved, segment.restart + costs.checkpoint * full + std::max(Time{}, rest - busy), segment.restart};
}

}  // namespace contend
