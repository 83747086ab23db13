#include "traces/recording/recording_replay.hpp"

#include "traces/recording/recording_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

/// A task of a rank, both as indices.
struct TaskOfRank {
  std::size_t rank = 0;
  std::uint32_t task = 0;
  auto operator<=>(const TaskOfRank&) const = default;
};

/// The ends of the messages from one rank to another with one tag, which match in order.
struct MessageQueue {
  std::vector<TaskOfRank> arrived, receives;
  std::size_t matched = 0;
};

/// A collective of a group: the ranks that have come.
struct Meeting {
  std::vector<std::int64_t> members;
  std::vector<TaskOfRank> come;
};

class Replayer {
 public:
  Replayer(Recording& recording, const TransferTime& transfer_time)
      : recording_{recording}, transfer_time_{transfer_time} {
    result_.order.resize(recording.ranks.size());
    for (std::size_t r = 0; r < recording.ranks.size(); ++r) prepare(r);
  }

  RecordingReplay run() {
    dispatch();
    while (!ends_.empty()) {
      now_ = ends_.top().first;
      while (!ends_.empty() && ends_.top().first == now_) {
        const TaskOfRank ended = ends_.top().second;
        ends_.pop();
        end(ended);
      }
      dispatch();
    }
    finish();
    return result_;
  }

 private:
  enum class State : std::uint8_t { blocked, ready, begun, done };
  struct RankState {
    std::vector<State> states;
    std::vector<std::uint32_t> open_needs;
    std::vector<std::uint32_t> first_dependent, dependents;
    std::vector<std::set<std::pair<std::int64_t, std::uint32_t>>> queues;           ///< of lanes: ready tasks by node
    std::vector<bool> busy;                                                         ///< of lanes
    std::map<std::pair<std::string, std::vector<std::int64_t>>, std::int64_t> met;  ///< collectives by group
  };

  RecordedTask& task_of(TaskOfRank at) { return recording_.ranks[at.rank].tasks[at.task]; }

  void prepare(std::size_t r) {
    const RecordedRank& rank = recording_.ranks[r];
    RankState& state = ranks_.emplace_back();
    state.states.resize(rank.tasks.size());
    state.open_needs.resize(rank.tasks.size());
    state.queues.resize(rank.lanes.size());
    state.busy.resize(rank.lanes.size());
    state.first_dependent.assign(rank.tasks.size() + 1, 0);
    for (const std::uint32_t needed : rank.needs) ++state.first_dependent[needed + 1];
    for (std::size_t i = 1; i < state.first_dependent.size(); ++i)
      state.first_dependent[i] += state.first_dependent[i - 1];
    state.dependents.resize(rank.needs.size());
    std::vector<std::uint32_t> next(state.first_dependent);
    for (std::uint32_t i = 0; i < rank.tasks.size(); ++i) {
      const RecordedTask& task = rank.tasks[i];
      state.open_needs[i] = task.needs;
      for (std::uint32_t n = 0; n < task.needs; ++n) state.dependents[next[rank.needs[task.first_need + n]]++] = i;
      if (task.needs == 0) new_ready_.push_back({r, i});
    }
  }

  /// Begins what is ready, on lanes that are free.
  void dispatch() {
    for (const TaskOfRank at : std::exchange(new_ready_, {})) {
      const RecordedTask& task = task_of(at);
      ranks_[at.rank].states[at.task] = State::ready;
      if (task.kind == RecordedKind::send || task.kind == RecordedKind::receive) {
        begin(at);
      } else {
        ranks_[at.rank].queues[task.lane].emplace(task.node, at.task);
        to_begin_.emplace(at.rank, task.lane);
      }
    }
    for (const auto& [rank, lane] : std::exchange(to_begin_, {})) begin_next(rank, lane);
  }

  void begin_next(std::size_t rank, std::uint32_t lane) {
    RankState& state = ranks_[rank];
    if (state.busy[lane] || state.queues[lane].empty()) return;
    const std::uint32_t task = state.queues[lane].begin()->second;
    state.queues[lane].erase(state.queues[lane].begin());
    state.busy[lane] = true;
    begin({rank, task});
  }

  void begin(TaskOfRank at) {
    const RecordedRank& rank = recording_.ranks[at.rank];
    RecordedTask& task = task_of(at);
    task.start = now_;
    ranks_[at.rank].states[at.task] = State::begun;
    result_.order[at.rank].push_back(at.task);
    if (task.kind == RecordedKind::collective)
      meet(at);
    else if (task.kind == RecordedKind::receive)
      expect(at);
    else if (task.kind == RecordedKind::send)
      ends_.emplace(now_ + transfer_time_(rank, task, 2), at);
    else
      ends_.emplace(now_ + task.duration, at);
  }

  void meet(TaskOfRank at) {
    const RecordedRank& rank = recording_.ranks[at.rank];
    const RecordedTransfer& transfer = *rank.transfer_of(task_of(at));
    std::vector<std::int64_t> members = members_of(recording_, rank, transfer);
    std::pair key{transfer.group ? rank.groups[*transfer.group].name : std::string{}, std::move(members)};
    const std::int64_t number = ranks_[at.rank].met[key]++;
    Meeting& meeting = meetings_[{key.first, key.second, number}];
    meeting.members = key.second;
    meeting.come.push_back(at);
    if (meeting.come.size() < meeting.members.size()) return;
    const Time end = now_ + transfer_time_(rank, task_of(at), meeting.members.size());
    for (const TaskOfRank each : meeting.come) ends_.emplace(end, each);
    meeting.come.clear();
    meeting.members.clear();
  }

  MessageQueue& queue_of(TaskOfRank at) {
    const RecordedRank& rank = recording_.ranks[at.rank];
    const RecordedTransfer& transfer = *rank.transfer_of(task_of(at));
    const std::int64_t peer = transfer.peer.value_or(rank.rank);
    if (task_of(at).kind == RecordedKind::send) return messages_[{rank.rank, peer, transfer.tag}];
    return messages_[{peer, rank.rank, transfer.tag}];
  }

  void expect(TaskOfRank at) {
    MessageQueue& queue = queue_of(at);
    queue.receives.push_back(at);
    match(queue);
  }

  void match(MessageQueue& queue) {
    for (; queue.matched < std::min(queue.arrived.size(), queue.receives.size()); ++queue.matched) {
      ++result_.messages;
      ends_.emplace(now_, queue.receives[queue.matched]);
    }
  }

  void end(TaskOfRank at) {
    RecordedTask& task = task_of(at);
    RankState& state = ranks_[at.rank];
    task.duration = now_ - task.start;
    state.states[at.task] = State::done;
    result_.end = now_;
    if (task.kind == RecordedKind::send) {
      MessageQueue& queue = queue_of(at);
      queue.arrived.push_back(at);
      match(queue);
    } else if (task.kind != RecordedKind::receive) {
      state.busy[task.lane] = false;
      to_begin_.emplace(at.rank, task.lane);
    }
    for (std::uint32_t i = state.first_dependent[at.task]; i < state.first_dependent[at.task + 1]; ++i)
      if (--state.open_needs[state.dependents[i]] == 0) new_ready_.push_back({at.rank, state.dependents[i]});
  }

  void finish() {
    for (const auto& [key, meeting] : meetings_)
      for (const TaskOfRank at : meeting.come) wait_in_group(at, std::get<0>(key), meeting);
    for (const auto& [key, queue] : messages_)
      for (std::size_t i = queue.matched; i < queue.receives.size(); ++i) wait_for_send(queue.receives[i]);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      RecordedRank& rank = recording_.ranks[r];
      rank.timed = rank.replayed = true;
      for (std::uint32_t i = 0; i < rank.tasks.size(); ++i) {
        if (ranks_[r].states[i] == State::done) continue;
        rank.tasks[i].start = result_.end;
        rank.tasks[i].duration = Time{};
      }
    }
  }

  void wait(TaskOfRank at, std::string reason) {
    const RecordedRank& rank = recording_.ranks[at.rank];
    const std::int64_t ns = result_.end.ns();
    result_.waiting.push_back(
        {.file = rank.file,
         .key = fmt::format("node {}", task_of(at).node),
         .reason = fmt::format("deadlock at {}.{:03} us: rank {} waits {}", ns / 1000, ns % 1000, rank.rank, reason)});
  }

  void wait_in_group(TaskOfRank at, const std::string& group, const Meeting& meeting) {
    std::string missing;
    for (const std::int64_t member : meeting.members) {
      const auto here = [&](TaskOfRank each) { return recording_.ranks[each.rank].rank == member; };
      if (std::ranges::any_of(meeting.come, here)) continue;
      missing += fmt::format("{}rank {}, which {}", missing.empty() ? "" : ", ", member, state_of(member));
    }
    wait(at, fmt::format("in group \"{}\" for {}", group, missing));
  }

  std::string state_of(std::int64_t number) {
    const auto rank = std::ranges::find(recording_.ranks, number, &RecordedRank::rank);
    if (rank == recording_.ranks.end()) return "has no file";
    const auto r = static_cast<std::size_t>(rank - recording_.ranks.begin());
    for (const std::uint32_t task : in_node_order(*rank))
      if (ranks_[r].states[task] != State::done) return fmt::format("is at node {}", rank->tasks[task].node);
    return "has finished";
  }

  void wait_for_send(TaskOfRank at) {
    const RecordedTransfer& transfer = *recording_.ranks[at.rank].transfer_of(task_of(at));
    const std::int64_t peer = transfer.peer.value_or(recording_.ranks[at.rank].rank);
    const std::string words = fmt::format("for a send of rank {} with tag {}", peer, transfer.tag);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const RecordedRank& rank = recording_.ranks[r];
      if (rank.rank != peer) continue;
      for (std::uint32_t i = 0; i < rank.tasks.size(); ++i) {
        const RecordedTask& task = rank.tasks[i];
        if (task.kind != RecordedKind::send || ranks_[r].states[i] != State::blocked ||
            &queue_of({r, i}) != &queue_of(at))
          continue;
        for (std::uint32_t n = 0; n < task.needs; ++n)
          if (const std::uint32_t needed = rank.needs[task.first_need + n]; ranks_[r].states[needed] != State::done)
            return wait(at,
                        fmt::format("{}: its node {} needs its node {}", words, task.node, rank.tasks[needed].node));
      }
    }
    wait(at, words);
  }

  Recording& recording_;
  const TransferTime& transfer_time_;
  std::vector<RankState> ranks_;
  std::map<std::tuple<std::string, std::vector<std::int64_t>, std::int64_t>, Meeting> meetings_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, MessageQueue> messages_;  ///< by ends and tag
  std::vector<TaskOfRank> new_ready_;
  std::set<std::pair<std::size_t, std::uint32_t>> to_begin_;  ///< lanes of ranks that may begin a task
  using End = std::pair<Time, TaskOfRank>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  Time now_;
  RecordingReplay result_;
};

}  // namespace

Time recorded_transfer_time(const RecordedRank& /*rank*/, const RecordedTask& task, std::size_t /*ranks*/) {
  return task.duration;
}

bool can_be_replayed(const Recording& recording) {
  const auto lacks_starts = [](const RecordedRank& rank) { return !rank.timed; };
  const auto orders = [](const RecordedRank& rank) {
    return !rank.needs.empty() ||
           std::ranges::any_of(rank.tasks, [](const RecordedTask& task) { return task.duration > Time{}; });
  };
  return std::ranges::all_of(recording.ranks, lacks_starts) && std::ranges::any_of(recording.ranks, orders);
}

RecordingReplay replay(Recording& recording, const TransferTime& transfer_time) {
  return Replayer{recording, transfer_time}.run();
}

}  // namespace contend
