#include "traces/recording/graph_recording.hpp"

#include "traces/recording/recording_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

[[noreturn]] void refuse_job(std::string reason, std::string hint = {}) {
  throw InputError{{{.reason = std::move(reason), .hint = std::move(hint)}}};
}

RecordedCollective recorded_as(const Op& op) {
  switch (op.collective) {
    case CollectiveKind::all_reduce:
      return RecordedCollective::all_reduce;
    case CollectiveKind::reduce_scatter:
      return RecordedCollective::reduce_scatter;
    case CollectiveKind::all_gather:
      return RecordedCollective::all_gather;
    case CollectiveKind::broadcast:
      return RecordedCollective::broadcast;
    case CollectiveKind::reduce:
      return RecordedCollective::reduce;
    case CollectiveKind::all_to_all:
      return RecordedCollective::all_to_all;
    case CollectiveKind::exchange:
      break;
  }
  refuse_job(fmt::format("`{}`: traces have no collective in which pairs of ranks exchange", op.name));
}

/// Throws for a graph that is more than one iteration, or less.
void check_holds(const IterationGraph& graph) {
  if (graph.phases().count() > 1)
    refuse_job("its iterations differ, and a trace is one iteration", "an exchange that is equal in all iterations");
  if (graph.left_out().count > 0)
    refuse_job(fmt::format("its graph leaves out {} equal micro-batches", graph.left_out().count),
               "fewer micro-batches (accumulate), of which the graph has each");
  for (const Role& role : graph.roles())
    if (role.late > 0) refuse_job("its iterations leave late ranks behind, and in a trace all ranks are waited for");
  for (const Op& op : graph.ops()) {
    if (op.counts())
      refuse_job(fmt::format("`{}` waits across iterations or jobs, and a trace is one iteration of one job", op.name));
    if (op.servers != ParameterServers::none)
      refuse_job(fmt::format("`{}`: traces of ranks don't have the processes of parameter servers", op.name),
                 "network.exchange: all-reduce");
  }
}

class GraphRecorder {
 public:
  GraphRecorder(const IterationGraph& graph, int gpus_per_server) : graph_{graph}, per_server_{gpus_per_server} {
    check_holds(graph);
    for (const Role& role : graph.roles()) {
      first_rank_.push_back(ranks_);
      ranks_ += role.ranks;
    }
    order_.resize(graph.ops().size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, {}, [&](std::size_t op) { return graph.ops()[op].priority; });
    is_met_.resize(graph.dependencies().size());
  }

  Recording make() {
    Recording recording;
    for (std::int64_t rank = 0; rank < ranks_; ++rank) recording.ranks.push_back(rank_of(rank));
    for (std::size_t i = 0; i < is_met_.size(); ++i)
      if (graph_.dependencies()[i].lag == 0 && !is_met_[i])
        ++recording.ranks.front().not_understood["wait for other ranks without a message"];
    return recording;
  }

 private:
  /// The tasks of an operation on a rank, of which each waits for the one before.
  struct Part {
    std::uint32_t first = kNoTask, last = kNoTask;
  };

  [[nodiscard]] std::int64_t begin_of(const Op& op) const { return first_rank_[op.role.index()]; }
  /// True if the rank is one of the ranks of these roles.
  [[nodiscard]] bool is_in(std::int64_t rank, RoleId role, std::int32_t roles) const {
    const std::size_t end = role.index() + static_cast<std::size_t>(roles);
    const std::int64_t behind = end < first_rank_.size() ? first_rank_[end] : ranks_;
    return rank >= first_rank_[role.index()] && rank < behind;
  }

  RecordedRank rank_of(std::int64_t rank) {
    RecordedRankBuilder builder{fmt::format("rank {}", rank)};
    builder.rank().format = "graph";
    builder.rank().rank = rank;
    builder.rank().rank_known = true;
    groups_.clear();
    std::vector<Part> parts(graph_.ops().size());
    for (const std::size_t index : order_) parts[index] = add(graph_.ops()[index], index, rank, builder);
    for (std::size_t i = 0; i < is_met_.size(); ++i) {
      const Dependency& each = graph_.dependencies()[i];
      const Part &before = parts[each.before.index()], &after = parts[each.after.index()];
      if (each.lag != 0 || before.last == kNoTask || after.first == kNoTask) continue;
      builder.need(after.first, before.last);
      is_met_[i] = true;
    }
    return builder.take();
  }

  Part add(const Op& op, std::size_t index, std::int64_t rank, RecordedRankBuilder& builder) {
    RecordedTask task;
    task.name = builder.name(op.name);
    const auto finish = [&](RecordedKind kind, std::int64_t stream) {
      task.kind = kind;
      task.node = static_cast<std::int64_t>(builder.rank().tasks.size());
      task.lane = kind == RecordedKind::host ? builder.thread("0") : builder.stream(0, std::to_string(stream));
      return builder.add(task);
    };
    if (op.kind == OpKind::message) {
      RecordedTransfer transfer;
      transfer.tag = static_cast<std::int64_t>(index);
      const std::int64_t from = begin_of(op), to = first_rank_[op.peer.index()];
      const bool sends = is_in(rank, op.role, 1);
      if (!sends && !is_in(rank, op.peer, 1)) return {};
      transfer.kind = sends ? RecordedCollective::send : RecordedCollective::receive;
      (sends ? transfer.in : transfer.out) = op.bytes;
      transfer.peer = sends ? to + rank - from : from + rank - to;
      task.transfer = builder.add(transfer);
      const std::uint32_t end = finish(sends ? RecordedKind::send : RecordedKind::receive, own_lane(index));
      return {end, end};
    }
    if (!is_in(rank, op.role, op.roles)) return {};
    if (op.kind == OpKind::collective) return add_collective(op, index, rank, builder, task, finish);
    task.duration = op.duration;
    std::uint32_t only = kNoTask;
    if (op.kind == OpKind::timer)
      only = finish(RecordedKind::compute, own_lane(index));
    else if (op.lane == Lane::host)
      only = finish(RecordedKind::host, 0);
    else if (op.lane == Lane::copy_in || op.lane == Lane::copy_out)
      only = finish(RecordedKind::copy, op.lane == Lane::copy_in ? kMostStreams + 1 : kMostStreams + 2);
    else
      only = finish(RecordedKind::compute,
                    op.lane == Lane::compute ? 0 : static_cast<int>(op.lane) - static_cast<int>(Lane::stream) + 1);
    return {only, only};
  }

  /// A stream for this operation alone.
  [[nodiscard]] std::int64_t own_lane(std::size_t index) const {
    return kMostStreams + 3 + static_cast<std::int64_t>(graph_.channels().size() + index);
  }

  template <class Finish>
  Part add_collective(const Op& op, std::size_t index, std::int64_t rank, RecordedRankBuilder& builder,
                      RecordedTask& task, const Finish& finish) {
    const bool in_order = op.channel.valid() && graph_.channels()[op.channel.index()].messages == 1;
    const std::int64_t lane =
        in_order ? kMostStreams + 3 + static_cast<std::int64_t>(op.channel.index()) : own_lane(index);
    const auto [joined, is_new_here] = groups_.try_emplace(
        {op.role.index(), op.roles, op.scope, op.groups.lists.get(), op.groups.stride, op.groups.size});
    RankGroup& own = joined->second;
    if (is_new_here) own.ranks = group_of(op, rank);
    if (own.ranks.size() < 2) {
      const std::uint32_t only = finish(RecordedKind::compute, own_lane(index));
      return {only, only};
    }
    RecordedTransfer transfer;
    transfer.kind = recorded_as(op);
    const auto size = static_cast<std::int64_t>(own.ranks.size());
    const bool gathers = transfer.kind == RecordedCollective::all_gather;
    const bool scatters = transfer.kind == RecordedCollective::reduce_scatter;
    transfer.in = gathers ? Bytes{(op.bytes.count() + size - 1) / size} : op.bytes;
    if (gathers || scatters) transfer.out = gathers ? op.bytes : Bytes{(op.bytes.count() + size - 1) / size};
    if (is_new_here) {
      const std::size_t number = group_numbers_.try_emplace(own.ranks, group_numbers_.size()).first->second;
      own.index = builder.group(std::to_string(number), own.ranks, size);
    }
    transfer.group = own.index;
    Part part;
    for (std::int32_t i = 0; i < op.times; ++i) {
      task.transfer = builder.add(transfer);
      const std::uint32_t each = finish(RecordedKind::collective, lane);
      if (part.last == kNoTask)
        part.first = each;
      else
        builder.need(each, part.last);
      part.last = each;
    }
    return part;
  }

  /// The ranks with which a rank runs a collective, itself among them; none or one if it has no part in it.
  [[nodiscard]] std::vector<std::int64_t> group_of(const Op& op, std::int64_t rank) const {
    const std::int64_t begin = begin_of(op), ranks = graph_.ranks_of(op);
    std::vector<std::int64_t> group;
    if (op.scope == CollectiveScope::groups && op.groups.lists) {
      const int number = op.groups.lists->of(static_cast<int>(rank - begin));
      if (number < 0) return {};
      for (const int each : op.groups.lists->groups()[static_cast<std::size_t>(number)]) group.push_back(begin + each);
      return group;
    }
    const auto together = [&](std::int64_t other) {
      switch (op.scope) {
        case CollectiveScope::all:
          return true;
        case CollectiveScope::server:
          return other / per_server_ == rank / per_server_;
        case CollectiveScope::leaders:
          return is_leader(rank, begin) && is_leader(other, begin);
        case CollectiveScope::peers:
          return other % per_server_ == rank % per_server_;
        case CollectiveScope::groups:
          break;
      }
      return op.groups.of(static_cast<int>(other - begin)) == op.groups.of(static_cast<int>(rank - begin));
    };
    for (std::int64_t other = begin; other < begin + ranks; ++other)
      if (together(other)) group.push_back(other);
    return group;
  }
  /// The first of the ranks from `begin` on that is on its server.
  [[nodiscard]] bool is_leader(std::int64_t rank, std::int64_t begin) const {
    return rank == std::max(begin, rank / per_server_ * per_server_);
  }

  const IterationGraph& graph_;
  std::int64_t per_server_;
  std::int64_t ranks_ = 0;
  std::vector<std::int64_t> first_rank_;  ///< by role
  std::vector<std::size_t> order_;        ///< of operations, in which lanes take them
  std::vector<bool> is_met_;              ///< by dependency: a rank has it
  std::map<std::vector<std::int64_t>, std::size_t> group_numbers_;
  struct RankGroup {
    std::vector<std::int64_t> ranks;
    std::size_t index = 0;  ///< into the groups of the rank
  };
  /// Of the rank that is being recorded, by what collectives say of them.
  std::map<std::tuple<std::size_t, std::int32_t, CollectiveScope, const RankLists*, int, int>, RankGroup> groups_;
};

}  // namespace

Recording graph_recording(const IterationGraph& graph, int gpus_per_server) {
  return GraphRecorder{graph, gpus_per_server}.make();
}

}  // namespace contend
