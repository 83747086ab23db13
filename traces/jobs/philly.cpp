// Reads Microsoft's Philly trace (Jeon et al., USENIX ATC 2019; repository msr-fiddle/philly-traces):
// `cluster_job_log`, a JSON array of jobs, each with its attempts.
#include "text/json_reader.hpp"
#include "traces/jobs/readers.hpp"
#include "traces/jobs/timestamp.hpp"
#include "traces/jobs/trace_table.hpp"

#include <optional>
#include <set>

#include <fmt/core.h>

namespace contend {
namespace {

using Kind = JsonValue::Kind;

/// One job of the log; its faults go to the report.
class PhillyJob {
 public:
  PhillyJob(const JsonValue& job, RowReport& report) : job_{job}, report_{report} {}

  std::optional<JobRequest> read() {
    report_.count_row();
    if (!job_.is(Kind::object)) {
      bad("", "expected an object, a job", std::string{kind_name(job_.kind)});
      return std::nullopt;
    }
    JobRequest request;
    request.name = text("jobid");
    if (request.name.empty()) bad("jobid", "expected a name, got nothing");
    request.vc = text("vc");
    request.user = text("user");
    read_status(request);
    const std::optional<Time> submit = time(job_, "submitted_time");
    if (!submit && good_) bad("submitted_time", "expected a time of submission, got nothing");
    request.submit = submit.value_or(Time{});
    const JsonValue* attempts = job_.find("attempts");
    if (attempts == nullptr || !attempts->is(Kind::array)) bad("attempts", "expected an array");
    if (!good_ || !read_attempts(*attempts, request)) return std::nullopt;
    return request;
  }

 private:
  void read_status(JobRequest& request) {
    const std::string status = text("status");
    if (status == "Pass")
      request.outcome = JobOutcome::completed;
    else if (status == "Killed")
      request.outcome = JobOutcome::cancelled;
    else if (status == "Failed")
      request.outcome = JobOutcome::failed;
    else
      bad("status", "unknown state", fmt::format("got {}", quote_for_message(status)));
  }

  /// Returns false if there is nothing to run.
  bool read_attempts(const JsonValue& attempts, JobRequest& request) {
    std::set<std::size_t> sizes;
    bool incomplete = false;
    for (const JsonValue& attempt : attempts.items) {
      if (!attempt.is(Kind::object)) {
        bad("attempts", "expected an object, an attempt");
        return false;
      }
      const std::size_t gpus = count_gpus(attempt);
      if (gpus > 0 && sizes.empty()) request.gpus = static_cast<int>(gpus);
      if (gpus > 0) sizes.insert(gpus);
      const std::optional<Time> start = time(attempt, "start_time");
      const std::optional<Time> end = time(attempt, "end_time");
      if (!good_) return false;
      const bool is_last = &attempt == &attempts.items.back();
      if (is_last && start && !end) return leave_out("still running when the trace was taken");
      if (!start || !end) {
        incomplete = true;
        continue;
      }
      if (*end < *start) {
        bad("attempts", "it ends before it starts",
            fmt::format("{} before {}", text_of(attempt, "end_time"), text_of(attempt, "start_time")));
        return false;
      }
      if (request.attempts.empty()) read_wait(*start, request);
      request.attempts.push_back(*end - *start);
    }
    if (attempts.items.empty()) return leave_out("no attempt to run it is recorded");
    if (request.attempts.empty()) return leave_out("no attempt to run it has both a start and an end");
    if (sizes.empty()) return leave_out("it requests no GPUs");
    if (*sizes.rbegin() > static_cast<std::size_t>(TraceTable::kMaxGpus)) {
      bad("attempts", fmt::format("more than {} GPUs", TraceTable::kMaxGpus));
      return false;
    }
    if (sizes.size() > 1) note("its attempts had different numbers of GPUs; the first counts");
    if (incomplete) note("attempts without a start or an end are ignored");
    request.duration = request.attempts.back();
    request.attempts.pop_back();
    return true;
  }

  void read_wait(Time start, JobRequest& request) {
    if (start >= request.submit)
      request.measured_wait = start - request.submit;
    else
      note("it started before it was submitted: its wait is not known");
  }

  static std::size_t count_gpus(const JsonValue& attempt) {
    const JsonValue* detail = attempt.find("detail");
    std::size_t gpus = 0;
    if (detail == nullptr) return 0;
    for (const JsonValue& server : detail->items)
      if (const JsonValue* list = server.find("gpus")) gpus += list->items.size();
    return gpus;
  }

  /// Text of a member; empty if it is missing, null or "None".
  static std::string text_of(const JsonValue& object, std::string_view name) {
    const JsonValue* value = object.find(name);
    if (value == nullptr || !(value->is(Kind::string) || value->is(Kind::number)) || value->text == "None") return {};
    return value->text;
  }
  [[nodiscard]] std::string text(std::string_view name) const { return text_of(job_, name); }

  std::optional<Time> time(const JsonValue& object, std::string_view name) {
    const std::string written = text_of(object, name);
    if (written.empty()) return std::nullopt;
    const std::optional<Time> time = parse_timestamp(written);
    if (!time)
      bad(name, "expected a date and time such as 2017-10-07 01:11:39",
          fmt::format("got {}", quote_for_message(written)));
    return time;
  }

  void bad(std::string_view member, std::string_view reason, std::string_view found = {}) {
    good_ = false;
    report_.bad(job_.place.line, member, reason, found.empty() ? "" : fmt::format("{}, {}", reason, found));
  }
  bool leave_out(std::string_view reason) {
    report_.leave_out(job_.place.line, reason);
    return false;
  }
  void note(std::string_view what) { report_.note(job_.place.line, what); }

  const JsonValue& job_;
  RowReport& report_;
  bool good_ = true;
};

}  // namespace

void read_philly(ByteSource& source, RowReport& report, const TraceSink& sink) {
  stream_json_array(source, report.file(), [&](const JsonValue& job) {
    if (std::optional<JobRequest> request = PhillyJob{job, report}.read()) sink(job.place.line, *std::move(request));
  });
}

}  // namespace contend
