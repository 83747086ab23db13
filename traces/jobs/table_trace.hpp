#pragma once
// Traces that are tables with a job a row: a description of the columns is all that most of them need.

#include "traces/jobs/trace_format.hpp"
#include "traces/jobs/trace_table.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace contend {

/// What a word in the column of states says about how a job ended.
enum class TraceState : std::uint8_t { completed, failed, cancelled, running, waiting };

struct TraceStateWord {
  std::string_view word;
  TraceState state;
};

/// The words of Slurm, in both spellings of "cancelled".
[[nodiscard]] std::span<const TraceStateWord> slurm_states();

/// How points in time are written.
enum class TraceClock : std::uint8_t { seconds, milliseconds, microseconds, calendar };

struct TableTrace {
  RowSyntax syntax{};
  std::span<const TraceColumn> columns;
  bool positional = false;                 ///< no header: all columns, in this order
  TraceClock clock = TraceClock::seconds;  ///< of submit, start and end
  int duration_decimals = 9;               ///< of duration and limit: 9 for seconds, 6 for milliseconds
  std::span<const TraceStateWord> states{};
  /// Reads the number of GPUs where it is more than a column; false as below.
  bool (*gpus)(TraceTable& table, JobRequest& job) = nullptr;
  /// Completes a job from columns that need more than a look: false if the row is no job (and has been reported).
  bool (*complete)(TraceTable& table, JobRequest& job) = nullptr;
};

/// Reads a whole file.
void read_table_trace(ByteSource& source, RowReport& report, const TraceSink& sink, const TableTrace& format);

/// Reads the current row; false if it is no job, which has been reported then. If there is no column of names the jobs
/// are called job-1, job-2, ... by their row.
[[nodiscard]] bool read_table_job(TraceTable& table, const TableTrace& format, std::int64_t row, JobRequest& job);

/// The outcome that a word stands for; false if the row is no job of ours, which has been reported then.
[[nodiscard]] bool read_state(TraceTable& table, std::span<const TraceStateWord> states, JobRequest& job);

/// Sets gpus and gpu_share of a job with `instances` processes that each take `milli_gpus` thousandths of a GPU: shares
/// of one GPU below 1000, whole GPUs, rounded up, from there on. False if it takes none or too many, which has been
/// reported then.
[[nodiscard]] bool set_gpus(TraceTable& table, std::int64_t instances, std::int64_t milli_gpus, JobRequest& job);

/// `total` for each of `gpus`, rounded up.
[[nodiscard]] std::int64_t for_each_gpu(std::int64_t total, int gpus);

}  // namespace contend
