#pragma once
// Builds a rank of a recording: what the readers of all formats need.

#include "text/json_reader.hpp"
#include "traces/recording/recording.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace contend {

class RecordedRankBuilder {
 public:
  explicit RecordedRankBuilder(std::string file) { rank_.file = std::move(file); }

  [[nodiscard]] RecordedRank& rank() { return rank_; }
  [[nodiscard]] std::uint32_t name(std::string_view text);
  [[nodiscard]] std::uint32_t stream(std::int64_t gpu, std::string_view number);
  [[nodiscard]] std::uint32_t thread(std::string_view number);
  /// The group of that name; what was not known of it before is taken from these. A group with other ranks than it had
  /// is another one in the list, which check_recording() finds.
  [[nodiscard]] std::size_t group(std::string_view name, const std::vector<std::int64_t>& ranks, std::int64_t size);
  /// The groups of a node `## process_group:init ##`, JSON in a text, which may be in the only text of a Python list.
  /// Throws InputError if it is no JSON.
  void add_groups(std::string_view text);
  /// Adds one of these, or of the list `pg_config` of a profile.
  void add_group(const JsonValue& group);
  /// Adds a task and returns its index. Throws InputError if there are more than 2^32.
  std::uint32_t add(const RecordedTask& task);
  [[nodiscard]] std::uint32_t add(RecordedTransfer transfer);
  /// `task` waits for the end of `needed`. A reader that knows the needs of its tasks in their order appends them to
  /// the needs of the rank instead, and gives each task their number.
  void need(std::uint32_t task, std::uint32_t needed) { edges_.emplace_back(task, needed); }
  void not_understood(std::string what) { ++rank_.not_understood[std::move(what)]; }

  /// The rank, with its needs in order.
  [[nodiscard]] RecordedRank take();

 private:
  RecordedRank rank_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::map<std::tuple<bool, std::int64_t, std::string>, std::uint32_t> lanes_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

/// Numbers of the lanes of a rank, for formats that know lanes by numbers: their names where these are numbers of no
/// earlier lane, else numbers that are free. With `threads_apart` a thread and a stream may have one number.
[[nodiscard]] std::vector<std::int64_t> lane_numbers(const RecordedRank& rank, bool threads_apart);

/// What happened so often: `starts of tasks (x 2)`.
[[nodiscard]] std::vector<std::string> in_words(const std::map<std::string, std::int64_t>& counts);

/// The number of the rank in the name of a file, such as `t.3.et`, `rank-70.Mar_25.json.gz`, `worker0_step_12.json`:
/// behind `rank` or `worker`, else the last number that stands alone between dots or before the ending.
[[nodiscard]] std::optional<std::int64_t> rank_in_name(std::string_view path);

}  // namespace contend
