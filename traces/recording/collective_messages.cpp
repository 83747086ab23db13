#include "traces/recording/collective_messages.hpp"

#include "network/collectives/algorithm.hpp"
#include "network/collectives/choice.hpp"
#include "traces/recording/recording_builder.hpp"
#include "traces/recording/recording_checks.hpp"
#include "traces/recording/recording_graph.hpp"
#include "traces/recording/recording_replay.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

class MessageMaker {
 public:
  explicit MessageMaker(const Recording& recording) : recording_{recording} {
    if (!recording.faults.empty()) throw InputError{recording.faults};
    Recording replayed = recording;
    RecordingReplay done = replay(replayed, recorded_transfer_time);
    if (!done.waiting.empty()) throw InputError{std::move(done.waiting)};
    order_ = std::move(done.order);
    for (const RecordedRank& rank : recording.ranks)
      for (const RecordedTransfer& each : rank.transfers) free_tag_ = std::max(free_tag_, each.tag + 1);
  }

  Recording make() {
    Recording made;
    for (std::size_t r = 0; r < recording_.ranks.size(); ++r) made.ranks.push_back(rank_of(r));
    return made;
  }

 private:
  using Group = std::pair<std::string, std::vector<std::int64_t>>;

  RecordedRank rank_of(std::size_t r) {
    const RecordedRank& rank = recording_.ranks[r];
    RecordedRankBuilder builder{rank.file};
    RecordedRank& made = builder.rank();
    std::tie(made.format, made.version, made.rank, made.rank_known) =
        std::tie(rank.format, rank.version, rank.rank, rank.rank_known);
    made.names = rank.names;
    made.lanes = rank.lanes;
    std::vector<std::uint32_t> first(rank.tasks.size()), last(rank.tasks.size());
    std::map<Group, std::int64_t> numbers;
    std::map<std::uint32_t, std::uint32_t> on_lane;  // the last tasks of lanes
    for (const std::uint32_t index : order_[r]) {
      const RecordedTask& task = rank.tasks[index];
      if (task.kind == RecordedKind::collective)
        std::tie(first[index], last[index]) = add_collective(rank, task, numbers, builder);
      else
        first[index] = last[index] = add(rank, task, builder);
      if (task.kind == RecordedKind::send || task.kind == RecordedKind::receive) continue;  // they hold no lane
      const auto [before, is_first] = on_lane.try_emplace(task.lane, index);
      if (is_first) continue;
      const std::uint32_t earlier = std::exchange(before->second, index);
      if (task.kind == RecordedKind::collective || rank.tasks[earlier].kind == RecordedKind::collective)
        builder.need(first[index], last[earlier]);
    }
    for (const std::uint32_t index : order_[r]) {
      const RecordedTask& task = rank.tasks[index];
      for (std::uint32_t n = 0; n < task.needs; ++n) builder.need(first[index], last[rank.needs[task.first_need + n]]);
    }
    return builder.take();
  }

  static std::uint32_t add(const RecordedRank& rank, RecordedTask task, RecordedRankBuilder& builder) {
    task.node = static_cast<std::int64_t>(builder.rank().tasks.size());
    task.needs = 0;
    task.launch = kNoTask;
    if (const RecordedTransfer* const transfer = rank.transfer_of(task)) {
      RecordedTransfer message = *transfer;
      message.group.reset();
      task.transfer = builder.add(message);
    }
    return builder.add(task);
  }

  std::pair<std::uint32_t, std::uint32_t> add_collective(const RecordedRank& rank, const RecordedTask& task,
                                                         std::map<Group, std::int64_t>& numbers,
                                                         RecordedRankBuilder& builder) {
    const RecordedTransfer& transfer = *rank.transfer_of(task);
    const Group group{transfer.group ? rank.groups[*transfer.group].name : std::string{},
                      members_of(recording_, rank, transfer)};
    const std::vector<std::int64_t>& members = group.second;
    const auto own = static_cast<int>(std::ranges::find(members, rank.rank) - members.begin());
    RecordedTask end;
    end.name = task.name;
    end.lane = task.lane;
    end.kind = RecordedKind::compute;
    const std::uint32_t begin = add(rank, end, builder);
    if (members.size() < 2) return {begin, begin};
    const std::int64_t tag =
        free_tag_ + meetings_.try_emplace({group, numbers[group]++}, std::ssize(meetings_)).first->second;
    std::vector<std::uint32_t> before{begin};
    for (const Step& step : schedule(rank, task, members.size()).steps) {
      std::vector<std::uint32_t> now;
      for (const Send& send : step.sends) {
        if (send.from != own && send.to != own) continue;
        const bool sends = send.from == own;
        RecordedTask message = end;
        message.kind = sends ? RecordedKind::send : RecordedKind::receive;
        message.node = static_cast<std::int64_t>(builder.rank().tasks.size());
        RecordedTransfer moved;
        moved.kind = sends ? RecordedCollective::send : RecordedCollective::receive;
        moved.tag = tag;
        (sends ? moved.in : moved.out) = Bytes{send.range.bytes};
        moved.peer = members[static_cast<std::size_t>(sends ? send.to : send.from)];
        message.transfer = builder.add(moved);
        now.push_back(builder.add(message));
        for (const std::uint32_t each : before) builder.need(now.back(), each);
      }
      if (!now.empty()) before = std::move(now);
    }
    const std::uint32_t ended = add(rank, end, builder);
    for (const std::uint32_t each : before) builder.need(ended, each);
    return {begin, ended};
  }

  const CollectiveSchedule& schedule(const RecordedRank& rank, const RecordedTask& task, std::size_t ranks) {
    const auto [kind, bytes] = carried_by_network(*rank.transfer_of(task), ranks);
    if (!kind || !bytes)
      throw InputError{Complaint{
          .file = rank.file,
          .key = fmt::format("node {}", task.node),
          .reason = fmt::format("nobody has recorded {} of a communication ({})",
                                kind ? "how many bytes it has" : "the kind", to_string(rank.transfer_of(task)->kind))}};
    CollectiveSchedule& known = schedules_[{*kind, ranks, *bytes}];
    if (known.ranks == 0 && *bytes > Bytes{}) {
      const CollectiveAlgorithm& algorithm = find_collective_algorithm(auto_candidates(*kind).front(), *kind);
      CollectiveShape shape;
      shape.ranks = static_cast<int>(ranks);
      known = expand_collective(algorithm, *kind, shape, *bytes);
    }
    return known;
  }

  const Recording& recording_;
  std::vector<std::vector<std::uint32_t>> order_;  ///< by rank: tasks as lanes took them
  std::int64_t free_tag_ = 0;
  std::map<std::pair<Group, std::int64_t>, std::int64_t> meetings_;  ///< numbers of collectives over all ranks
  std::map<std::tuple<CollectiveKind, std::size_t, Bytes>, CollectiveSchedule> schedules_;
};

}  // namespace

Recording with_messages(const Recording& recording) {
  return MessageMaker{recording}.make();
}

}  // namespace contend
