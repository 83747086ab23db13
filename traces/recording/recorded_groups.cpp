#include "traces/recording/recorded_groups.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {
void refuse_recording(std::string key, std::string reason, std::string hint) {
  throw InputError{{{.key = std::move(key), .reason = std::move(reason), .hint = std::move(hint)}}};
}

std::int64_t ranks_recorded(const Recording& recording) {
  std::int64_t ranks = 0;
  for (const RecordedRank& rank : recording.ranks) {
    ranks = std::max(ranks, rank.rank + 1);
    for (const RecordedGroup& group : rank.groups) {
      ranks = std::max(ranks, group.size);
      for (const std::int64_t each : group.ranks) ranks = std::max(ranks, each + 1);
    }
  }
  return ranks;
}

RankFiles rank_files(const Recording& recording, int gpus, const RecordingOptions& options) {
  RankFiles world;
  world.recorded = ranks_recorded(recording);
  world.ranks = options.ranks.value_or(static_cast<int>(world.recorded));
  if (world.ranks % world.recorded != 0)
    refuse_recording("recording.ranks",
                     fmt::format("{} is no multiple of the {} ranks of the recording", world.ranks, world.recorded));
  if (gpus != world.ranks)
    refuse_recording("recording.ranks", fmt::format("a job of {} GPUs can't replay {} ranks", gpus, world.ranks),
                     gpus % world.recorded == 0
                         ? fmt::format("recording: {{ranks: {}}} repeats the recorded ranks", gpus)
                         : fmt::format("a job of {} GPUs", world.recorded));
  constexpr std::size_t kMissing = SIZE_MAX;
  world.file_of.assign(rank_index(world.recorded), kMissing);
  std::size_t copied = kMissing;
  for (std::size_t i = 0; i < recording.ranks.size(); ++i) {
    world.file_of[rank_index(recording.ranks[i].rank)] = i;
    if (options.copy == recording.ranks[i].rank) copied = i;
  }
  if (options.copy && copied == kMissing)
    refuse_recording("recording.copy", fmt::format("rank {} has no file", *options.copy));
  std::vector<std::size_t> missing;
  for (std::size_t rank = 0; rank < world.file_of.size(); ++rank)
    if (world.file_of[rank] == kMissing) missing.push_back(rank);
  if (options.copy && missing.empty())
    refuse_recording("recording.copy", "all ranks have files, so that none is a copy");
  if (!options.copy && !missing.empty())
    refuse_recording("recording",
                     fmt::format("{} of its {} ranks have no file, such as rank {}", missing.size(), world.recorded,
                                 missing.front()),
                     fmt::format("recording: {{copy: {}}} lets them do what rank {} does", recording.ranks.front().rank,
                                 recording.ranks.front().rank));
  for (const std::size_t rank : missing) world.file_of[rank] = copied;
  return world;
}

std::size_t JobGroups::of(std::int64_t rank, const RecordedTransfer& transfer) {
  const RecordedRank& file = recording_.ranks[world_.file(rank)];
  const std::size_t group = transfer.group.value_or(file.groups.size());
  const auto [known, is_new] = by_rank_.try_emplace({rank, group}, 0);
  if (is_new) known->second = number_of(members(rank, file, transfer), transfer.group ? file.groups[group].name : "");
  return known->second;
}
std::size_t JobGroups::number_of(std::vector<std::int64_t> ranks, const std::string& name) {
  const auto [known, is_new] = numbers_.try_emplace({name, ranks}, lists_.size());
  if (is_new) {
    lists_.push_back(std::move(ranks));
    names_.push_back(name);
  }
  return known->second;
}

std::vector<std::int64_t> JobGroups::members(std::int64_t rank, const RecordedRank& file,
                                             const RecordedTransfer& transfer) const {
  std::vector<std::int64_t> ranks;
  std::int64_t size = 0;
  if (transfer.group) {
    ranks = file.groups[*transfer.group].ranks;
    size = ranks.empty() ? file.groups[*transfer.group].size : static_cast<std::int64_t>(ranks.size());
  }
  const std::int64_t copy = rank / world_.recorded * world_.recorded;
  if (size == 0 || size == world_.recorded) {
    std::vector<std::int64_t> all(rank_index(world_.ranks));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
  }
  const std::string& name = file.groups[*transfer.group].name;
  if (ranks.empty())
    refuse_recording("recording", fmt::format("{}: group \"{}\" has {} of {} ranks, and the file doesn't say which",
                                              file.file, name, size, world_.recorded));
  if (rank - copy != file.rank) ranks = translated(std::move(ranks), rank - copy, file, name);
  const std::size_t own = ranks.size();
  if (std::ranges::find(options_.spread, name) == options_.spread.end()) {
    for (std::int64_t& each : ranks) each += copy;
    return ranks;
  }
  for (std::int64_t next = world_.recorded; next < world_.ranks; next += world_.recorded)
    for (std::size_t i = 0; i < own; ++i) ranks.push_back(ranks[i] + next);
  return ranks;
}

std::vector<std::int64_t> JobGroups::translated(std::vector<std::int64_t> ranks, std::int64_t rank,
                                                const RecordedRank& file, const std::string& name) const {
  const auto size = static_cast<std::int64_t>(ranks.size());
  const std::int64_t stride = size > 1 ? ranks[1] - ranks[0] : 1;
  const auto first_of = [&](std::int64_t of) { return of / (stride * size) * (stride * size) + of % stride; };
  bool follows = stride > 0 && world_.recorded % (stride * size) == 0 && ranks[0] == first_of(file.rank);
  for (std::int64_t i = 0; follows && i < size; ++i) follows = ranks[rank_index(i)] == ranks[0] + i * stride;
  if (!follows)
    refuse_recording("recording.copy",
                     fmt::format("{}: group \"{}\" has the ranks [{}], by which nobody knows the group of rank {}",
                                 file.file, name, fmt::join(ranks, ", "), rank),
                     "files of all ranks");
  for (std::int64_t i = 0; i < size; ++i) ranks[rank_index(i)] = first_of(rank) + i * stride;
  return ranks;
}

}  // namespace contend
