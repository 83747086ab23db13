// Reads the Standard Workload Format, version 2.2, of the Parallel Workloads Archive
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html): 18 numbers a line, -1 for unknown, and comments that
// begin with a semicolon. Its processors are read as GPUs.
#include "text/decimal.hpp"
#include "traces/jobs/readers.hpp"
#include "traces/jobs/trace_table.hpp"

#include <optional>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::size_t kFields = 18;
/// Positions of the fields, from 0.
enum SwfField : std::size_t {
  kJob = 0,
  kSubmit = 1,
  kWait = 2,
  kRunTime = 3,
  kAllocated = 4,
  kRequested = 7,
  kRequestedTime = 8,
  kRequestedMemory = 9,
  kStatus = 10,
  kUser = 11,
  kQueue = 14,
  kPreceding = 16,
  kThink = 17,
};

class SwfRow {
 public:
  SwfRow(const RowReader& rows, RowReport& report) : rows_{rows}, report_{report} {}

  std::optional<JobRequest> read() {
    report_.count_row();
    if (rows_.fields().size() != kFields) {
      const std::string expected = fmt::format("expected {} fields", kFields);
      report_.bad(rows_.line(), "", expected, fmt::format("{}, got {}", expected, rows_.fields().size()));
      return std::nullopt;
    }
    JobRequest job;
    job.name = rows_.fields()[kJob];
    const std::optional<std::int64_t> submit = number(kSubmit, "submit time", 9);
    const std::optional<std::int64_t> wait = number(kWait, "wait time", 9);
    const std::optional<std::int64_t> run = number(kRunTime, "run time", 9);
    const std::optional<std::int64_t> limit = number(kRequestedTime, "requested time", 9);
    const bool sized = read_processors(job);
    const bool ran = read_status(job);
    if (!submit && good_) bad("submit time", "expected a time of submission", "got -1");
    read_owner(job);
    read_order(job);
    if (!good_) return std::nullopt;
    if (!ran) return leave_out("a part of a job that has a line of its own");
    if (!sized) return leave_out("it requests no processors");
    if (!run) return leave_out("no run time: it never started, or the log does not say");
    job.submit = Time::nanoseconds(*submit);
    job.duration = Time::nanoseconds(*run);
    if (wait) job.measured_wait = Time::nanoseconds(*wait);
    if (limit) job.limit = Time::nanoseconds(*limit);
    return job;
  }

 private:
  /// Reads the requested number; if the log does not have it, the allocated number.
  bool read_processors(JobRequest& job) {
    std::optional<std::int64_t> processors = number(kRequested, "requested processors", 0);
    const std::optional<std::int64_t> allocated = number(kAllocated, "allocated processors", 0);
    if (processors.value_or(0) == 0) processors = allocated;
    if (processors.value_or(0) > TraceTable::kMaxGpus)
      bad("requested processors", fmt::format("more than {} processors", TraceTable::kMaxGpus));
    job.gpus = good_ && processors ? static_cast<int>(*processors) : 0;
    return job.gpus > 0;
  }

  /// Returns false for lines about parts of a job that was checkpointed and swapped out.
  bool read_status(JobRequest& job) {
    const std::int64_t status = number(kStatus, "status", 0).value_or(1);
    if (status > 5) bad("status", "unknown state", fmt::format("got {}", status));
    if (status == 0) job.outcome = JobOutcome::failed;
    if (status == 5) job.outcome = JobOutcome::cancelled;
    return status < 2 || status > 4;
  }

  void read_owner(JobRequest& job) {
    if (const auto user = number(kUser, "user", 0)) job.user = fmt::format("user{}", *user);
    if (const auto queue = number(kQueue, "queue", 0)) job.vc = fmt::format("queue{}", *queue);
    const std::optional<std::int64_t> kilobytes = number(kRequestedMemory, "requested memory", 0);
    if (kilobytes.value_or(0) > INT64_MAX / 1024) bad("requested memory", "the number is too large");
    if (good_ && kilobytes) job.host_memory = Bytes{*kilobytes * 1024};
  }

  /// The job whose end this one waited for, and the time from then to its submission.
  void read_order(JobRequest& job) {
    const std::optional<std::int64_t> preceding = number(kPreceding, "preceding job", 0);
    const std::optional<std::int64_t> think = number(kThink, "think time", 9);
    if (!preceding) return;
    job.after = {fmt::format("{}", *preceding)};
    job.think = Time::nanoseconds(think.value_or(0));
    if (job.after.front() == job.name) bad("preceding job", "a job can't come after itself");
  }

  /// A number >= 0 times 10^decimals; empty for -1.
  std::optional<std::int64_t> number(std::size_t field, std::string_view name, int decimals) {
    const std::string_view text = rows_.fields()[field];
    const ScaledDecimal number = parse_scaled(text, decimals);
    const ScaledDecimal whole = parse_scaled(text, 0);
    if (number.error == DecimalError::none && whole.error == DecimalError::none && text.starts_with("-1") &&
        whole.value == -1)
      return std::nullopt;
    if (number.error == DecimalError::none && number.value >= 0 && !number.vanishes) return number.value;
    bad(name,
        number.error == DecimalError::overflow ? "the number is too large"
        : number.vanishes                      ? "the number would be rounded to 0"
                                               : "expected a number >= 0, or -1",
        fmt::format("got {}", quote_for_message(text)));
    return std::nullopt;
  }

  void bad(std::string_view field, std::string_view reason, std::string_view found = {}) {
    good_ = false;
    report_.bad(rows_.line(), field, reason, found.empty() ? "" : fmt::format("{}, {}", reason, found));
  }
  std::optional<JobRequest> leave_out(std::string_view reason) {
    report_.leave_out(rows_.line(), reason);
    return std::nullopt;
  }

  const RowReader& rows_;
  RowReport& report_;
  bool good_ = true;
};

}  // namespace

void read_swf(ByteSource& source, RowReport& report, const TraceSink& sink) {
  RowReader rows{source, report.file(), {.separator = ' ', .quotes = false, .comment = ';', .comments_anywhere = true}};
  while (rows.next())
    if (std::optional<JobRequest> job = SwfRow{rows, report}.read()) sink(rows.line(), *std::move(job));
}

}  // namespace contend
