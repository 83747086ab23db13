#pragma once
// From a trace to our own jobs: reads it, keeps what the user wants of it, and says what became of the rest.

#include "models/workload.hpp"
#include "traces/jobs/row_report.hpp"
#include "traces/jobs/trace_format.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// What becomes time 0.
enum class TimeOrigin : std::uint8_t {
  automatic,  ///< `first` for a trace with dates, `kept` for one with a clock of its own
  first,      ///< the first submission among the jobs that are kept
  kept,       ///< what the trace calls 0; 1970-01-01 00:00 UTC for a trace with dates
};

/// What a job of a trace that has both a duration and a number of iterations is to do.
enum class TraceWork : std::uint8_t { duration, iterations };

struct ImportOptions {
  bool skip_bad_rows = false;      ///< count them instead of failing
  std::vector<std::string> vcs{};  ///< only jobs of these; empty: all
  /// On the clock of the trace: only jobs submitted at or after `from` and before `until`.
  std::optional<Time> from{}, until{};
  int min_gpus = 1;                    ///< smaller jobs are left out
  std::optional<int> max_gpus{};       ///< of the cluster: larger jobs are bad rows
  std::optional<Time> min_duration{};  ///< shorter jobs are left out
  TimeOrigin origin = TimeOrigin::automatic;
  TraceWork work = TraceWork::duration;
  std::map<std::string, std::string> models{};  ///< what a model of the trace is called here
};

struct ImportedJobs {
  std::vector<JobRequest> jobs;  ///< by time of submission; those of one instant in the order of the file
  RowReport report;
  const TraceFormat* format = nullptr;
  Time origin{};  ///< on the clock of the trace (since 1970 if it has dates): what is time 0 in `jobs`
};

/// Reads a trace of that format, `auto` to recognise it. Throws InputError with the first bad rows and the number of
/// the others, unless they are skipped, and for a file that can't be read at all.
[[nodiscard]] ImportedJobs import_jobs(const std::string& format, const std::string& path,
                                       const ImportOptions& options = {});

/// The same for bytes from elsewhere; `file` stands for the file in messages.
[[nodiscard]] ImportedJobs import_jobs(const std::string& format, ByteSource& source, const std::string& file,
                                       const ImportOptions& options = {});

}  // namespace contend
