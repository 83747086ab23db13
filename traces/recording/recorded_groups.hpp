#pragma once
// The ranks of a job that replays a recording: whose file each of them follows, and the groups in which they
// communicate.

#include "traces/recording/recorded_program.hpp"
#include "traces/recording/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

struct RecordingOptions : ProgramOptions {
  std::optional<std::int64_t> copy;     ///< ranks without a file do what this one does; nothing: all need files
  std::optional<int> ranks;             ///< of the job, a multiple of the recorded ones; nothing: as many
  std::vector<std::string> spread;      ///< names of groups that grow with `ranks`, as groups of all ranks always do
  bool recorded_communication = false;  ///< communication takes its recorded time, and uses no network
  bool balanced = false;                ///< kernels of all ranks take as long, together, as in the mean

  bool operator==(const RecordingOptions&) const = default;
};

/// Ranks of the recorded job: those with files, and those that its groups name.
[[nodiscard]] std::int64_t ranks_recorded(const Recording& recording);

/// A number of a rank, which is not negative, as an index.
[[nodiscard]] constexpr std::size_t rank_index(std::int64_t rank) {
  return static_cast<std::size_t>(rank);
}

/// Which file each rank of a job follows.
struct RankFiles {
  std::int64_t recorded = 0, ranks = 0;
  std::vector<std::size_t> file_of;  ///< by rank of the recording: index into Recording::ranks

  [[nodiscard]] std::size_t file(std::int64_t rank) const { return file_of[rank_index(rank % recorded)]; }
};

/// Of a job of so many GPUs: rank r does what rank r modulo the recorded ranks did. Throws InputError if the GPUs
/// aren't the ranks, or ranks lack files.
[[nodiscard]] RankFiles rank_files(const Recording& recording, int gpus, const RecordingOptions& options);

/// The groups of the ranks of a job, each once. Groups of all ranks, and those named by RecordingOptions::spread, join
/// all copies of the recorded ranks; others are repeated in each copy. All arguments must outlive it.
class JobGroups {
 public:
  JobGroups(const Recording& recording, const RankFiles& world, const RecordingOptions& options)
      : recording_{recording}, world_{world}, options_{options} {}

  /// The number of the group in which a rank does this. Throws InputError if nobody knows its ranks.
  [[nodiscard]] std::size_t of(std::int64_t rank, const RecordedTransfer& transfer);
  [[nodiscard]] const std::vector<std::int64_t>& ranks(std::size_t group) const { return lists_[group]; }
  [[nodiscard]] const std::string& name(std::size_t group) const { return names_[group]; }
  [[nodiscard]] std::size_t count() const { return lists_.size(); }

 private:
  [[nodiscard]] std::size_t number_of(std::vector<std::int64_t> ranks, const std::string& name);
  [[nodiscard]] std::vector<std::int64_t> members(std::int64_t rank, const RecordedRank& file,
                                                  const RecordedTransfer& transfer) const;
  /// The group of a rank without a file, by the rule of the group of the rank that it copies (RankGroups).
  [[nodiscard]] std::vector<std::int64_t> translated(std::vector<std::int64_t> ranks, std::int64_t rank,
                                                     const RecordedRank& file, const std::string& name) const;

  const Recording& recording_;
  const RankFiles& world_;
  const RecordingOptions& options_;
  std::map<std::pair<std::int64_t, std::size_t>, std::size_t> by_rank_;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::size_t> numbers_;
  std::vector<std::vector<std::int64_t>> lists_;
  std::vector<std::string> names_;
};

/// Throws InputError with the key of a member of an entry of training.
[[noreturn]] void refuse_recording(std::string key, std::string reason, std::string hint = {});

}  // namespace contend
