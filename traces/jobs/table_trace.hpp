#pragma once
// Reads traces that are tables with one job a row; for most of them a description of the columns is enough.

#include "traces/jobs/trace_format.hpp"
#include "traces/jobs/trace_table.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace contend {

/// How a job ended, as the state column says.
enum class TraceState : std::uint8_t { completed, failed, cancelled, running, waiting };

struct TraceStateWord {
  std::string_view word;
  TraceState state;
};

/// The state words of Slurm, with both spellings of "cancelled".
[[nodiscard]] std::span<const TraceStateWord> slurm_states();

/// How a trace writes instants.
enum class TraceClock : std::uint8_t { seconds, milliseconds, microseconds, calendar };

/// The description of a table format.
struct TableTrace {
  RowSyntax syntax{};
  std::span<const TraceColumn> columns;
  bool positional = false;                 ///< no header: the file has all columns in this order
  TraceClock clock = TraceClock::seconds;  ///< of submit, start and end
  int duration_decimals = 9;               ///< of duration and limit: 9 for seconds, 6 for milliseconds
  std::span<const TraceStateWord> states{};
  /// Reads the number of GPUs if that takes more than one column. Returns as `complete` does.
  bool (*gpus)(TraceTable& table, JobRequest& job) = nullptr;
  /// Completes a job from columns that need interpretation. Returns false if the row is not a job; the row has then
  /// been reported.
  bool (*complete)(TraceTable& table, JobRequest& job) = nullptr;
};

/// Reads a whole file and passes its jobs to `sink`.
void read_table_trace(ByteSource& source, RowReport& report, const TraceSink& sink, const TableTrace& format);

/// Reads the current row; returns false if it is not a job, which has then been reported. Without a name column, jobs
/// are called job-1, job-2, ... by their row.
[[nodiscard]] bool read_table_job(TraceTable& table, const TableTrace& format, std::int64_t row, JobRequest& job);

/// Reads the outcome from the state word; returns false if the row is not a job here, which has then been reported.
[[nodiscard]] bool read_state(TraceTable& table, std::span<const TraceStateWord> states, JobRequest& job);

/// Sets gpus and gpu_share of a job with `instances` processes of `milli_gpus` thousandths of a GPU each: shares of one
/// GPU below 1000, whole GPUs, rounded up, from 1000 on. Returns false if the job takes no GPU or too many, which has
/// then been reported.
[[nodiscard]] bool set_gpus(TraceTable& table, std::int64_t instances, std::int64_t milli_gpus, JobRequest& job);

/// `total` divided by `gpus`, rounded up.
[[nodiscard]] std::int64_t for_each_gpu(std::int64_t total, int gpus);

}  // namespace contend
