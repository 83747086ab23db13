#include "traces/jobs/table_trace.hpp"

#include "text/byte_source.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include <fmt/core.h>

namespace contend {
namespace {

using Field = TraceField;

constexpr std::array kSlurmStates = {
    TraceStateWord{"COMPLETED", TraceState::completed},  TraceStateWord{"FAILED", TraceState::failed},
    TraceStateWord{"NODE_FAIL", TraceState::failed},     TraceStateWord{"BOOT_FAIL", TraceState::failed},
    TraceStateWord{"OUT_OF_MEMORY", TraceState::failed}, TraceStateWord{"TIMEOUT", TraceState::failed},
    TraceStateWord{"DEADLINE", TraceState::failed},      TraceStateWord{"LAUNCH_FAILED", TraceState::failed},
    TraceStateWord{"CANCELLED", TraceState::cancelled},  TraceStateWord{"CANCELED", TraceState::cancelled},
    TraceStateWord{"PREEMPTED", TraceState::cancelled},  TraceStateWord{"REVOKED", TraceState::cancelled},
    TraceStateWord{"RUNNING", TraceState::running},      TraceStateWord{"COMPLETING", TraceState::running},
    TraceStateWord{"SUSPENDED", TraceState::running},    TraceStateWord{"PENDING", TraceState::waiting},
    TraceStateWord{"REQUEUED", TraceState::waiting},
};

std::optional<Time> point(TraceTable& table, Field field, TraceClock clock) {
  switch (clock) {
    case TraceClock::calendar:
      return table.timestamp(field);
    case TraceClock::milliseconds:
      return table.time(field, 6);
    case TraceClock::microseconds:
      return table.time(field, 3);
    case TraceClock::seconds:
      break;
  }
  return table.time(field, 9);
}

/// The time between submission and start if the trace has both.
void read_wait(TraceTable& table, const TableTrace& format, JobRequest& job) {
  if (!table.has(Field::start)) return;
  const std::optional<Time> start = point(table, Field::start, format.clock);
  if (!start) return;
  if (*start >= job.submit && *start - job.submit <= kLongestJobTime)
    job.measured_wait = *start - job.submit;
  else
    table.note("it started before it was submitted, or 100 years later: its wait is not known");
}

/// The time between start and end if the trace has both, else the column of durations.
std::optional<Time> duration(TraceTable& table, const TableTrace& format) {
  std::optional<Time> told = table.time(Field::duration, format.duration_decimals);
  const std::optional<Time> start = point(table, Field::start, format.clock);
  const std::optional<Time> end = point(table, Field::end, format.clock);
  const bool never_started = table.has(Field::start) && !start;
  if (never_started && told == Time{}) return std::nullopt;
  if (!start || !end) return told;
  const std::optional<Time> between = table.interval(Field::start, Field::end, start, end);
  // Logs write whole seconds, so the two may differ by one.
  if (between && told && (*between > *told + Time::seconds(1) || *told > *between + Time::seconds(1)))
    table.note("the duration is not what lies between start and end; the latter counts");
  return between;
}

bool read_gpus(TraceTable& table, JobRequest& job) {
  const std::optional<std::int64_t> gpus = table.count(Field::gpus, 0, TraceTable::kMaxGpus);
  if (!table.good()) return false;
  if (!gpus || *gpus == 0) {
    table.leave_out("it requests no GPUs");
    return false;
  }
  job.gpus = static_cast<int>(*gpus);
  return true;
}

bool read_name(TraceTable& table, std::int64_t row, JobRequest& job) {
  job.name = table.has(Field::job) ? std::string{table.text(Field::job)} : fmt::format("job-{}", row);
  if (job.name.empty()) table.bad(Field::job, "expected a name, got nothing");
  return table.good();
}

void read_texts(TraceTable& table, JobRequest& job) {
  job.model = table.text(Field::model);
  job.vc = table.text(Field::vc);
  job.user = table.text(Field::user);
  job.gpu_type = table.text(Field::gpu_type);
}

void read_numbers(TraceTable& table, const TableTrace& format, JobRequest& job) {
  const auto iterations = table.count(Field::iterations, 1, INT64_MAX / 1000);
  job.tells_iterations = iterations.has_value();
  job.iterations = iterations.value_or(1);
  job.limit = table.time(Field::limit, format.duration_decimals);
  job.priority = static_cast<int>(table.count(Field::priority, INT_MIN, INT_MAX).value_or(0));
  const std::int64_t milli_cpus = for_each_gpu(table.amount(Field::cpus, 3).value_or(0), job.gpus);
  if (milli_cpus > INT_MAX) table.bad(Field::cpus, "more than two million CPUs for a GPU");
  job.milli_cpus = static_cast<int>(std::min<std::int64_t>(milli_cpus, INT_MAX));
}

}  // namespace

std::span<const TraceStateWord> slurm_states() {
  return kSlurmStates;
}

std::int64_t for_each_gpu(std::int64_t total, int gpus) {
  return total / gpus + (total % gpus > 0 ? 1 : 0);
}

bool read_state(TraceTable& table, std::span<const TraceStateWord> states, JobRequest& job) {
  if (!table.has(Field::state) || states.empty()) return true;
  // sacct writes `CANCELLED by 1000`.
  const std::string_view text = table.text(Field::state);
  const std::string_view word = text.substr(0, text.find(' '));
  const auto found = std::find_if(states.begin(), states.end(), [&](const auto& each) { return each.word == word; });
  if (found == states.end()) {
    table.bad(Field::state, "unknown state", fmt::format("got {}", quote_for_message(text)));
    return false;
  }
  switch (found->state) {
    case TraceState::completed:
      job.outcome = JobOutcome::completed;
      return true;
    case TraceState::failed:
      job.outcome = JobOutcome::failed;
      return true;
    case TraceState::cancelled:
      job.outcome = JobOutcome::cancelled;
      return true;
    case TraceState::running:
      table.leave_out("still running when the trace was taken");
      return false;
    case TraceState::waiting:
      table.leave_out("still waiting when the trace was taken");
      return false;
  }
  return false;
}

bool set_gpus(TraceTable& table, std::int64_t instances, std::int64_t milli_gpus, JobRequest& job) {
  if (!table.good()) return false;
  if (instances <= 0 || milli_gpus <= 0) {
    table.leave_out("it requests no GPUs");
    return false;
  }
  const std::int64_t each = (milli_gpus + 999) / 1000;
  if (milli_gpus > 1000 && milli_gpus % 1000 != 0) table.note("more than one GPU and a fraction: rounded up");
  if (each > TraceTable::kMaxGpus / instances) {
    table.bad(Field::gpus, fmt::format("more than {} GPUs", TraceTable::kMaxGpus));
    return false;
  }
  job.gpus = static_cast<int>(instances * each);
  job.gpu_share = static_cast<int>(std::min<std::int64_t>(milli_gpus, 1000));
  return true;
}

bool read_table_job(TraceTable& table, const TableTrace& format, std::int64_t row, JobRequest& job) {
  job = JobRequest{};
  if (!(format.gpus == nullptr ? read_gpus : format.gpus)(table, job)) return false;
  if (!read_state(table, format.states, job) || !read_name(table, row, job)) return false;
  const std::optional<Time> submit = point(table, Field::submit, format.clock);
  if (!submit && table.good()) table.bad(Field::submit, "expected a time of submission, got nothing");
  job.submit = submit.value_or(Time{});
  job.duration = duration(table, format);
  read_texts(table, job);
  read_numbers(table, format, job);
  if (!table.good()) return false;
  read_wait(table, format, job);
  if (format.complete != nullptr && !format.complete(table, job)) return false;
  if (!table.good()) return false;
  if (!job.duration) {
    table.leave_out("no duration: it never started, or was still running when the trace was taken");
    return false;
  }
  return true;
}

void read_table_trace(ByteSource& source, RowReport& report, const TraceSink& sink, const TableTrace& format) {
  RowReader rows{source, report.file(), format.syntax};
  TraceTable table{rows, format.columns, report, format.positional};
  JobRequest job;
  for (std::int64_t row = 1; table.next(); ++row)
    if (read_table_job(table, format, row, job)) sink(table.line(), std::move(job));
}

}  // namespace contend
