#pragma once
// Logs that clusters keep of their communication: NCCL Inspector (JSON, nccl 2.28, plugins/profiler/inspector) and the
// flight recorder of PyTorch (JSON of c10d/FlightRecorder.hpp).

#include "calibration/collective_sample.hpp"
#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "traces/recording/recording.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A collective or message as one rank logged it.
struct LoggedOperation {
  enum class State : std::uint8_t { enqueued, started, completed };
  std::int64_t rank = 0;
  std::size_t group = 0;  ///< index into the groups of the log
  RecordedCollective kind = RecordedCollective::generic;
  std::string name;            ///< as the log has it, such as `nccl:send 0->1`
  std::int64_t number = 0;     ///< in its group, of collectives and of messages apart
  std::optional<Bytes> bytes;  ///< of the whole tensor on one rank, or of the message
  Time duration;               ///< 0 if it wasn't logged; of a collective it contains waiting for late ranks
  Time created;                ///< when the host enqueued it, by the clock of its rank; 0 if it wasn't logged
  State state = State::completed;
};

struct ProductionLog {
  std::string format;                 ///< `NCCL Inspector` or `flight recorder`
  std::vector<RecordedGroup> groups;  ///< each once
  std::vector<LoggedOperation> operations;
  std::set<std::int64_t> ranks;  ///< that have logs
  bool live = false;             ///< operations are logged before they end; false: once they have ended
  std::map<std::string, std::int64_t> not_understood;
  std::vector<Complaint> faults;  ///< of files of a folder that could not be read
};

/// True if the file, or the first file of the folder that isn't hidden, begins as such a log.
[[nodiscard]] bool is_production_log(const std::string& path);

/// Reads a log, or all logs of a folder whose names aren't hidden; a file of a folder that can't be read, is a pickle
/// (which may run any program) or has another format than the first is a fault. Throws InputError if it is the only
/// one.
[[nodiscard]] ProductionLog read_production_log(const std::string& path);

/// Adds what one text holds, of the rank that the name of the file gives unless the text does.
void add_production_log(ByteSource& source, const std::string& file, ProductionLog& log);

/// A collective of a group, or a message, with the shortest time of its ranks, because the others contain waiting.
struct LoggedSample {
  std::size_t group = 0;
  CollectiveSample sample;
};
/// Of operations with kind, bytes and durations, in order of group and number. What has no counterpart among
/// TimedExchange is left out.
[[nodiscard]] std::vector<LoggedSample> logged_samples(const ProductionLog& log);
/// The samples as a table that `contend calibrate network --csv` reads.
[[nodiscard]] std::string samples_csv(const std::vector<LoggedSample>& samples);

/// The first collective of a group that not all of its ranks have completed.
struct WaitingCollective {
  LoggedOperation operation;           ///< as the first rank has it that enqueued it
  std::vector<std::int64_t> started;   ///< ranks that wait in it
  std::vector<std::int64_t> enqueued;  ///< whose host has enqueued it, and whose stream hasn't come to it
  std::vector<std::int64_t> missing;   ///< that never enqueued it
  std::vector<std::int64_t> without_log;
  bool disagrees = false;  ///< ranks have other kinds or sizes of it
};
/// Of each group with such a collective, the first enqueued one first; none of a log that isn't live.
[[nodiscard]] std::vector<WaitingCollective> waiting_collectives(const ProductionLog& log);

}  // namespace contend
