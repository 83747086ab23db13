#pragma once
// The formats of job traces that can be read, as a table: a reader turns each row that is a job into a JobRequest and
// reports what becomes of the others. Reading takes memory that doesn't grow with the file.
//
// What all readers have in common: a job without GPUs, one that never started, and one that was still running when the
// trace was taken are left out. How long the last attempt took is the duration, whatever its outcome. Demands for CPUs
// and memory of a whole job are divided evenly among its GPUs, rounded up.

#include "models/workload.hpp"
#include "traces/jobs/row_report.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The latest submission and the longest duration of a job. Leaves room above them for the run itself: the clock holds
/// 292 years.
inline constexpr Time kLongestJobTime = Time::seconds(100LL * 365 * 24 * 3600);

class ByteSource;

/// Takes the job that begins on a line of the file.
using TraceSink = std::function<void(int line, JobRequest&& job)>;

/// The beginning of a file that may be a trace.
struct TraceHead {
  std::string_view text;
  std::vector<std::string_view> columns;  ///< of the first line that is no comment (#), cut at commas

  /// Whether all of these are among the columns.
  [[nodiscard]] bool has(std::initializer_list<std::string_view> names) const;
};

/// A row of `contend list trace-formats`.
struct TraceFormat {
  std::string_view name;
  std::string_view summary;
  std::string_view columns;  ///< what the reader takes, and how
  std::string_view source;   ///< where such files come from
  std::string_view licence;  ///< of the published data
  bool dated;                ///< submit times are dates: time since 1970. Otherwise on the clock of the trace
  bool (*recognise)(const TraceHead& head);
  /// Throws InputError for a file that can't be read to its end or has not the columns; what is wrong with single rows
  /// goes to the report.
  void (*read)(ByteSource& source, RowReport& report, const TraceSink& sink);
};

/// In order of name.
[[nodiscard]] std::span<const TraceFormat> trace_formats();

/// The format of that name. Throws InputError with the nearest name.
[[nodiscard]] const TraceFormat& find_trace_format(const std::string& name);

/// The one format that a file begins like. Throws InputError if there is none, or several, and for what users take for
/// a trace: an archive, a pointer of Git LFS.
[[nodiscard]] const TraceFormat& recognise_trace(std::string_view head, const std::string& file);

}  // namespace contend
