#include "traces/recording/recording_checks.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

using Faults = std::vector<Complaint>;

void add_fault(Faults& faults, const RecordedRank& rank, std::string key, std::string reason) {
  faults.push_back({.file = rank.file, .key = std::move(key), .reason = std::move(reason)});
}

void compare_ranks(const Recording& recording, Faults& faults) {
  std::map<std::int64_t, const RecordedRank*> seen;
  for (const RecordedRank& rank : recording.ranks)
    if (const auto [found, is_new] = seen.emplace(rank.rank, &rank); !is_new)
      add_fault(faults, rank, fmt::format("rank {}", rank.rank),
                "a second file of this rank, beside " + found->second->file);
}

/// Groups of one name that share ranks are equal. Returns the names of those that aren't.
std::set<std::string> compare_groups(const Recording& recording, Faults& faults) {
  std::map<std::string, std::map<std::int64_t, std::pair<const RecordedRank*, const RecordedGroup*>>>
      said;  // by member
  std::set<std::string> wrong;
  for (const RecordedRank& rank : recording.ranks) {
    for (const RecordedGroup& group : rank.groups) {
      for (const std::int64_t member : group.ranks) {
        const auto [found, is_new] = said[group.name].emplace(member, std::pair{&rank, &group});
        const auto& [other_rank, other] = found->second;
        if (is_new || other->ranks == group.ranks || !wrong.insert(group.name).second) continue;
        add_fault(faults, rank, fmt::format("group \"{}\"", group.name),
                  fmt::format("rank {} says that it has the ranks [{}], and rank {} says [{}]", other_rank->rank,
                              fmt::join(other->ranks, ", "), rank.rank, fmt::join(group.ranks, ", ")));
      }
    }
  }
  return wrong;
}

/// A collective of a rank within the sequence of its group.
struct Position {
  const RecordedRank* rank = nullptr;
  const RecordedTask* task = nullptr;
  const RecordedTransfer* transfer = nullptr;
};
using Sequences = std::map<std::int64_t, std::vector<Position>>;  // by rank

std::string words(const Position& at) {
  const std::optional<Bytes> bytes = at.transfer->largest();
  return fmt::format("{} of {} (node {})", to_string(at.transfer->kind),
                     bytes ? fmt::format("{} B", bytes->count()) : "unknown size", at.task->node);
}

bool agree(const Position& a, const Position& b) {
  if (a.transfer->kind != b.transfer->kind) return false;
  return a.transfer->kind == RecordedCollective::all_to_all || a.transfer->largest() == b.transfer->largest();
}

void compare_sequences(const std::string& group, const Sequences& sequences, Faults& faults) {
  const auto& [first_rank, first] = *sequences.begin();
  for (auto each = std::next(sequences.begin()); each != sequences.end(); ++each) {
    const auto& [rank, own] = *each;
    const std::size_t common = std::min(first.size(), own.size());
    std::size_t i = 0;
    while (i < common && agree(first[i], own[i])) ++i;
    if (i == first.size() && i == own.size()) continue;
    if (i < common)
      add_fault(faults, *own[i].rank, fmt::format("group \"{}\"", group),
                fmt::format("position {}: rank {} has {}, rank {} has {}", i, first_rank, words(first[i]), rank,
                            words(own[i])));
    else if (i < first.size())
      add_fault(faults, *first[i].rank, fmt::format("group \"{}\"", group),
                fmt::format("position {}: rank {} has {}, rank {} has no collective left", i, first_rank,
                            words(first[i]), rank));
    else
      add_fault(faults, *own[i].rank, fmt::format("group \"{}\"", group),
                fmt::format("position {}: rank {} has {}, rank {} has no collective left", i, rank, words(own[i]),
                            first_rank));
    return;
  }
}

/// Collectives of groups in order, and ranks without a file.
void compare_collectives(const Recording& recording, const std::set<std::string>& wrong, Faults& faults) {
  std::map<std::pair<std::string, std::vector<std::int64_t>>, Sequences> groups;
  std::set<std::int64_t> present;
  for (const RecordedRank& rank : recording.ranks) present.insert(rank.rank);
  for (const RecordedRank& rank : recording.ranks) {
    if (rank.timed) continue;
    for (const std::uint32_t index : in_node_order(rank)) {
      const RecordedTask& task = rank.tasks[index];
      const RecordedTransfer* const transfer = rank.transfer_of(task);
      if (transfer == nullptr || task.kind != RecordedKind::collective) continue;
      const std::string name = transfer->group ? rank.groups[*transfer->group].name : std::string{};
      groups[{name, members_of(recording, rank, *transfer)}][rank.rank].push_back({&rank, &task, transfer});
    }
  }
  for (auto& [key, sequences] : groups) {
    const auto& [name, members] = key;
    const RecordedRank& user = *sequences.begin()->second.front().rank;
    for (const std::int64_t member : members) {
      if (present.contains(member))
        sequences[member];
      else
        add_fault(faults, user, fmt::format("group \"{}\"", name), fmt::format("its rank {} {}", member, kHasNoFile));
    }
    if (!wrong.contains(name)) compare_sequences(name, sequences, faults);
  }
}

/// Each message has two ends.
void compare_messages(const Recording& recording, Faults& faults) {
  struct Ends {
    std::vector<Position> sends, receives;
  };
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Ends> messages;  // by source, destination, tag
  for (const RecordedRank& rank : recording.ranks) {
    if (rank.timed) continue;
    for (const RecordedTask& task : rank.tasks) {
      const RecordedTransfer* const transfer = rank.transfer_of(task);
      if (transfer == nullptr || !transfer->peer) continue;
      if (task.kind == RecordedKind::send)
        messages[{rank.rank, *transfer->peer, transfer->tag}].sends.push_back({&rank, &task, transfer});
      else
        messages[{*transfer->peer, rank.rank, transfer->tag}].receives.push_back({&rank, &task, transfer});
    }
  }
  const auto tags = [&](std::int64_t from, std::int64_t to, bool sent) {
    std::string list;
    for (const auto& [key, ends] : messages)
      if (std::get<0>(key) == from && std::get<1>(key) == to && ends.sends.size() != ends.receives.size() &&
          !(sent ? ends.sends : ends.receives).empty())
        list += fmt::format("{}{}", list.empty() ? "" : ", ", std::get<2>(key));
    return list.empty() ? std::string{"none"} : list;
  };
  for (const auto& [key, ends] : messages) {
    const auto& [from, to, tag] = key;
    if (ends.sends.size() == ends.receives.size()) continue;
    const bool lost = ends.sends.size() > ends.receives.size();
    const Position& end = lost ? ends.sends[ends.receives.size()] : ends.receives[ends.sends.size()];
    add_fault(
        faults, *end.rank, fmt::format("node {}", end.task->node),
        fmt::format("a {} from rank {} to rank {} with tag {} has no other end; unmatched tags of {} between "
                    "them: {}",
                    lost ? "send" : "receive", from, to, tag, lost ? "receives" : "sends", tags(from, to, !lost)));
  }
}

}  // namespace

std::vector<std::uint32_t> in_node_order(const RecordedRank& rank) {
  std::vector<std::uint32_t> order(rank.tasks.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::stable_sort(order, {}, [&](std::uint32_t task) { return rank.tasks[task].node; });
  return order;
}

std::vector<std::int64_t> members_of(const Recording& recording, const RecordedRank& rank,
                                     const RecordedTransfer& transfer) {
  if (transfer.group && !rank.groups[*transfer.group].ranks.empty()) return rank.groups[*transfer.group].ranks;
  std::vector<std::int64_t> all;
  for (const RecordedRank& each : recording.ranks) all.push_back(each.rank);
  return all;
}

std::vector<Complaint> contradictions(const Recording& recording) {
  Faults faults;
  if (recording.ranks.size() < 2) return faults;
  compare_ranks(recording, faults);
  if (!faults.empty()) return faults;
  const std::set<std::string> wrong = compare_groups(recording, faults);
  compare_collectives(recording, wrong, faults);
  compare_messages(recording, faults);
  return faults;
}

}  // namespace contend
