#pragma once
// A recording: what the ranks of a training job did, as a profiler or an execution trace has it. Readers of all formats
// make this one form, so that what works on a recording doesn't know where it came from.

#include "sim/error.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// What a task does.
enum class RecordedKind : std::uint8_t {
  host,        ///< an operation on a thread of the host
  launch,      ///< a call of the GPU's runtime or driver, on a thread of the host
  compute,     ///< a kernel that computes
  copy,        ///< a copy to, from or on the GPU
  fill,        ///< a memset
  collective,  ///< communication of a group
  send,
  receive,
  load,   ///< of remote memory
  store,  ///< into remote memory
};
inline constexpr std::size_t kRecordedKinds = 10;
[[nodiscard]] std::string_view to_string(RecordedKind kind);

/// True for what a GPU does, false for the threads of its host.
[[nodiscard]] constexpr bool on_device(RecordedKind kind) {
  return kind > RecordedKind::launch;
}
[[nodiscard]] constexpr bool is_communication(RecordedKind kind) {
  return kind == RecordedKind::collective || kind == RecordedKind::send || kind == RecordedKind::receive;
}

enum class RecordedCollective : std::uint8_t {
  all_reduce,
  reduce,
  all_gather,
  gather,
  scatter,
  broadcast,
  all_to_all,
  reduce_scatter,
  barrier,
  send,
  receive,
  send_receive,  ///< NCCL's kernel for messages, which also carries all-to-alls
  generic,       ///< communication of a kind that was not recorded
};
[[nodiscard]] std::string_view to_string(RecordedCollective kind);

/// What a task moves.
struct RecordedTransfer {
  RecordedCollective kind = RecordedCollective::generic;
  std::optional<Bytes> in;           ///< the buffer that the rank gives
  std::optional<Bytes> out;          ///< the buffer that it gets
  std::optional<std::size_t> group;  ///< index into the groups of the rank
  std::optional<std::int64_t> peer;  ///< rank at the other end of a send or receive
  std::int64_t tag = 0;

  /// The larger of the two buffers, which is the whole tensor of a collective.
  [[nodiscard]] std::optional<Bytes> largest() const { return !in || (out && *out > *in) ? out : in; }
};

inline constexpr std::uint32_t kNoTask = UINT32_MAX;

struct RecordedTask {
  std::int64_t node = 0;  ///< its number in the file: the id of a node, or the index of an event of a profile from 0
  Time start;             ///< since the first instant of the file's clock; 0 if the rank is not timed
  Time duration;
  std::uint32_t name = 0;            ///< index into the names of the rank
  std::uint32_t lane = 0;            ///< index into its lanes
  std::uint32_t launch = kNoTask;    ///< of a task on the device: the call that launched it
  std::uint32_t transfer = kNoTask;  ///< of communication: index into the transfers
  std::uint32_t first_need = 0;      ///< the tasks that have to end before: from here on in `needs`
  std::uint32_t needs = 0;           ///< how many
  RecordedKind kind = RecordedKind::host;
};

/// A thread of the host or a stream of a GPU, which does one task after the other. Operations of a thread may nest.
struct RecordedLane {
  bool device = false;
  std::int64_t gpu = 0;  ///< of a stream: number of the GPU
  std::string name;      ///< number of the stream or thread
};

struct RecordedGroup {
  std::string name;
  std::vector<std::int64_t> ranks;  ///< ascending as in the file; empty if only the size is known
  std::int64_t size = 0;            ///< 0 if unknown
};

/// An iteration that the profiler marked on the host.
struct RecordedStep {
  std::int64_t number = 0;
  Time start, end;
};

/// What one file holds.
struct RecordedRank {
  std::string file;
  std::string format;   ///< such as `Chakra`
  std::string version;  ///< as the file gives it; may be empty
  std::string device;   ///< name of the GPU; may be empty
  std::int64_t rank = 0;
  bool rank_known = false;  ///< false: neither the file nor its name says it
  bool timed = false;       ///< the tasks have starts
  bool replayed = false;    ///< these are not recorded, but come from a replay
  std::vector<std::string> names;
  std::vector<RecordedLane> lanes;
  std::vector<RecordedTask> tasks;   ///< in the order of the file
  std::vector<std::uint32_t> needs;  ///< indices of tasks
  std::vector<RecordedTransfer> transfers;
  std::vector<RecordedGroup> groups;
  std::vector<RecordedStep> steps;                  ///< in order of time
  std::map<std::string, std::int64_t> counts;       ///< of entries of the file by kind, as the format names kinds
  std::map<std::string, std::int64_t> annotations;  ///< of the host that name communication, such as `nccl:all_reduce`
  std::map<std::string, std::int64_t> not_understood;  ///< what was left out, and how often

  [[nodiscard]] const std::string& name_of(const RecordedTask& task) const { return names[task.name]; }
  [[nodiscard]] const RecordedTransfer* transfer_of(const RecordedTask& task) const {
    return task.transfer == kNoTask ? nullptr : &transfers[task.transfer];
  }
};

/// The ranks of a job.
struct Recording {
  std::vector<RecordedRank> ranks;  ///< by rank, those that could be read
  std::vector<Complaint> faults;    ///< of files that could not be read, and of ranks that contradict each other
};

}  // namespace contend
