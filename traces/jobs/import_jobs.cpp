#include "traces/jobs/import_jobs.hpp"

#include "models/training_profile.hpp"
#include "models/workloads/closed_loop.hpp"
#include "text/byte_source.hpp"
#include "text/words.hpp"
#include "traces/jobs/name_index.hpp"
#include "traces/jobs/renamed_columns.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

/// Receives the jobs of a trace and keeps those that are selected and could run.
class Importer {
 public:
  Importer(ImportedJobs& result, const ImportOptions& options) : result_{result}, options_{options} {}

  void take(int line, JobRequest&& job) {
    if (!has_own_name(line, job)) return;
    if (job.submit < latest_) report().note(line, "submitted before a row above it; jobs are sorted");
    latest_ = std::max(latest_, job.submit);
    if (!is_wanted(line, job) || !has_names(line, job) || !can_run(line, job) || !has_work(line, job)) return;
    sorted_ = sorted_ && (result_.jobs.empty() || result_.jobs.back().submit <= job.submit);
    result_.jobs.push_back(std::move(job));
  }

  void finish() {
    std::vector<JobRequest>& jobs = result_.jobs;
    if (!sorted_)
      std::stable_sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.submit < b.submit; });
    forget_absent(jobs);
    const bool first =
        options_.origin == TimeOrigin::first || (options_.origin == TimeOrigin::automatic && result_.format->dated);
    if (!first || jobs.empty()) return;
    result_.origin = jobs.front().submit;
    for (JobRequest& job : jobs) job.submit -= result_.origin;
  }

 private:
  RowReport& report() { return result_.report; }

  bool has_own_name(int line, const JobRequest& job) {
    // Job lists accept no other names, so that what an import writes can be read.
    if (const std::string reason = why_not_printable(job.name); !reason.empty())
      return bad(
          line, "expected names of printable UTF-8 text",
          fmt::format("expected a name of printable UTF-8 text, got {}: {}", quote_for_message(job.name), reason));
    const int before = names_.insert(job.name, line);
    if (before == 0) return true;
    report().bad(line, "", "the name was used already",
                 fmt::format("job {} was on line {} already", quote_for_message(job.name), before));
    return false;
  }

  bool has_names(int line, const JobRequest& job) {
    for (const auto& [column, name] : {std::pair<std::string_view, const std::string&>{"vc", job.vc},
                                       {"user", job.user},
                                       {"gpu_type", job.gpu_type},
                                       {"model", job.model}}) {
      const std::string reason = name.empty() ? std::string{} : why_not_printable(name);
      if (reason.empty()) continue;
      report().bad(line, column, "expected printable UTF-8 text",
                   fmt::format("expected printable UTF-8 text, got {}: {}", quote_for_message(name), reason));
      return false;
    }
    return true;
  }

  bool is_wanted(int line, const JobRequest& job) {
    const std::vector<std::string>& vcs = options_.vcs;
    if (!vcs.empty() && std::find(vcs.begin(), vcs.end(), job.vc) == vcs.end())
      return leave_out(line, "not of a selected virtual cluster");
    if ((options_.from && job.submit < *options_.from) || (options_.until && job.submit >= *options_.until))
      return leave_out(line, "submitted outside the selected time");
    if (job.gpus < options_.min_gpus) return leave_out(line, "smaller than --min-gpus");
    if (options_.min_duration && job.duration && *job.duration < *options_.min_duration)
      return leave_out(line, "shorter than --min-duration");
    return true;
  }

  bool can_run(int line, const JobRequest& job) {
    if (options_.max_gpus && job.gpus > *options_.max_gpus)
      return bad(line, "larger than the cluster",
                 fmt::format("job {} needs {} GPUs, the cluster has {}", quote_for_message(job.name), job.gpus,
                             *options_.max_gpus));
    const bool dated = result_.format->dated;
    if ((!dated && job.submit > kLongestJobTime) || takes_too_long(job)) return bad(line, "more than 100 years");
    if (job.limit.value_or(Time{}) > kLongestJobTime) return bad(line, "more than 100 years");
    if (job.measured_wait.value_or(Time{}) > kLongestJobTime) return bad(line, "more than 100 years");
    return true;
  }

  bool has_work(int line, JobRequest& job) {
    if (const auto renamed = options_.models.find(job.model); renamed != options_.models.end())
      job.model = renamed->second;
    if (options_.work == TraceWork::duration && job.duration) return true;
    const bool is_own = result_.format->name == "jobs" && job.knows_iterations();  // it may name entries of `training`
    if (!is_own && find_training_profile(job.model) == nullptr)
      return bad(line, "unknown model", fmt::format("there is no model {} here", quote_for_message(job.model)));
    if (job.duration && !job.knows_iterations()) return bad(line, "no number of iterations");
    job.duration.reset();
    job.attempts.clear();
    return true;
  }

  bool bad(int line, std::string_view reason, std::string message = {}) {
    report().bad(line, "", reason, std::move(message));
    return false;
  }
  bool leave_out(int line, std::string_view reason) {
    report().leave_out(line, reason);
    return false;
  }

  ImportedJobs& result_;
  const ImportOptions& options_;
  NameIndex names_;
  Time latest_ = Time::nanoseconds(INT64_MIN);
  bool sorted_ = true;
};

}  // namespace

bool takes_too_long(const JobRequest& job) {
  GpuTime all{job.duration.value_or(Time{}), 1};
  for (const Time attempt : job.attempts) all += GpuTime{attempt, 1};
  return all > GpuTime{kLongestJobTime, 1};
}

ImportedJobs import_jobs(const std::string& format, ByteSource& source, const std::string& file,
                         const ImportOptions& options) {
  std::optional<RenamedColumns> renamed;
  if (!options.columns.empty()) renamed.emplace(source, options.columns, file);
  PeekedSource peeked{renamed ? *renamed : source};
  const TraceFormat& found = format == "auto" ? recognise_trace(peeked.head(), file) : find_trace_format(format);
  ImportedJobs result{.jobs = {}, .report = RowReport{file, options.skip_bad_rows}, .format = &found, .origin = {}};
  for (const auto& [name, own] : options.columns) result.report.add_renamed(name);
  Importer importer{result, options};
  found.read(peeked, result.report, [&](int line, JobRequest&& job) { importer.take(line, std::move(job)); });
  if (renamed) result.report.forget_unused(renamed->factors());
  result.report.throw_if_bad("--skip-bad-rows leaves them out");
  importer.finish();
  return result;
}

ImportedJobs import_jobs(const std::string& format, const std::string& path, const ImportOptions& options) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  return import_jobs(format, *source, path, options);
}

}  // namespace contend
