#pragma once
// The table of job trace formats. A reader turns each row that is a job into a JobRequest and reports what becomes of
// the others; its memory does not grow with the file.
//
// All readers leave out jobs without GPUs, jobs that never started, and jobs still running when the trace was taken.
// The duration of a job is the duration of its last attempt, whatever its outcome; its measured wait is the time from
// its submission to its first start, if the trace says when it started. CPU and memory demands of a whole job are
// divided evenly among its GPUs, rounded up.

#include "models/workload.hpp"
#include "traces/jobs/row_report.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

class ByteSource;

/// Receives a job and the line of the file on which it begins.
using TraceSink = std::function<void(int line, JobRequest&& job)>;

/// The beginning of a file, from which its format is recognised.
struct TraceHead {
  std::string_view text;
  std::vector<std::string_view> columns;  ///< fields of the first line that is no comment (#), split at commas

  /// True if all of these are among the columns.
  [[nodiscard]] bool has(std::initializer_list<std::string_view> names) const;
};

/// A row of `contend list trace-formats`.
struct TraceFormat {
  std::string_view name;
  std::string_view summary;
  std::string_view columns;  ///< the columns that the reader uses, and how
  std::string_view source;   ///< where such files come from
  std::string_view licence;  ///< of the published data
  bool dated;                ///< submit times are dates (time since 1970); otherwise they use the trace's own clock
  bool (*recognise)(const TraceHead& head);
  /// Throws InputError for a file that cannot be read to its end or lacks columns; faults of single rows go to the
  /// report.
  void (*read)(ByteSource& source, RowReport& report, const TraceSink& sink);
};

/// All formats, by name.
[[nodiscard]] std::span<const TraceFormat> trace_formats();
/// The text of formats.txt.
[[nodiscard]] std::string_view trace_formats_text();

/// The format of that name. Throws InputError with the nearest name if there is none.
[[nodiscard]] const TraceFormat& find_trace_format(const std::string& name);

/// The one format that matches the beginning of a file. Throws InputError if none or several match, and for common
/// mistakes: an archive, a Git LFS pointer.
[[nodiscard]] const TraceFormat& recognise_trace(std::string_view head, const std::string& file);

}  // namespace contend
