#pragma once
// Imports jobs from a trace: reads it, keeps the jobs that the user selects, and reports what became of the others.

#include "models/workload.hpp"
#include "traces/jobs/row_report.hpp"
#include "traces/jobs/trace_format.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The instant that becomes time 0.
enum class TimeOrigin : std::uint8_t {
  automatic,  ///< `first` for a trace with dates, `kept` for a trace with its own clock
  first,      ///< the first submission among the selected jobs
  kept,       ///< the trace's own time 0; 1970-01-01 00:00 UTC for a trace with dates
};

/// The work of a job for which the trace gives both a duration and a number of iterations.
enum class TraceWork : std::uint8_t { duration, iterations };

/// Selection and interpretation of a trace.
struct ImportOptions {
  bool skip_bad_rows = false;      ///< count bad rows instead of failing
  std::vector<std::string> vcs{};  ///< only jobs of these virtual clusters; empty: all
  /// Only jobs submitted at or after `from` and before `until`, on the trace's clock.
  std::optional<Time> from{}, until{};
  int min_gpus = 1;                    ///< smaller jobs are left out
  std::optional<int> max_gpus{};       ///< of the cluster: larger jobs are bad rows
  std::optional<Time> min_duration{};  ///< shorter jobs are left out
  TimeOrigin origin = TimeOrigin::automatic;
  TraceWork work = TraceWork::duration;
  std::map<std::string, std::string> models{};  ///< new names for models of the trace
  /// Columns of a table by the names that its format has for them, with their names in the file. Columns of a job list
  /// without a meaning are then left out instead of refused.
  std::map<std::string, std::string> columns{};
};

/// The imported jobs, and what became of the other rows.
struct ImportedJobs {
  std::vector<JobRequest> jobs;  ///< by submit time; jobs of one instant in file order
  RowReport report;
  const TraceFormat* format = nullptr;
  Time origin{};  ///< time 0 of `jobs` on the trace's clock (since 1970 if it has dates)
};

/// True if the attempts of a job with a duration together take more than kLongestJobTime.
[[nodiscard]] bool takes_too_long(const JobRequest& job);

/// Reads a trace of the given format; `auto` recognises the format. Throws InputError with the first bad rows and the
/// number of the others, unless bad rows are skipped, and for a file that cannot be read at all.
[[nodiscard]] ImportedJobs import_jobs(const std::string& format, const std::string& path,
                                       const ImportOptions& options = {});

/// The same for bytes from another source; messages call it `file`.
[[nodiscard]] ImportedJobs import_jobs(const std::string& format, ByteSource& source, const std::string& file,
                                       const ImportOptions& options = {});

}  // namespace contend
