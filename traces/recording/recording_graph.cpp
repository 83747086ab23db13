#include "traces/recording/recording_graph.hpp"

#include "traces/recording/recorded_groups.hpp"
#include "traces/recording/recording_checks.hpp"
#include "traces/recording/recording_replay.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

/// The collective that a network carries for what was recorded: a gather or scatter takes as long as the collective
/// that gives all ranks what the gather gives one, because the link of that one rank is the slowest in both.
std::optional<CollectiveKind> carried_as(RecordedCollective kind) {
  switch (kind) {
    case RecordedCollective::all_reduce:
    case RecordedCollective::barrier:
      return CollectiveKind::all_reduce;
    case RecordedCollective::reduce:
      return CollectiveKind::reduce;
    case RecordedCollective::all_gather:
    case RecordedCollective::gather:
      return CollectiveKind::all_gather;
    case RecordedCollective::scatter:
    case RecordedCollective::reduce_scatter:
      return CollectiveKind::reduce_scatter;
    case RecordedCollective::broadcast:
      return CollectiveKind::broadcast;
    case RecordedCollective::all_to_all:
      return CollectiveKind::all_to_all;
    case RecordedCollective::send:
    case RecordedCollective::receive:
    case RecordedCollective::send_receive:
    case RecordedCollective::generic:
      break;
  }
  return std::nullopt;
}

/// A fault of a recording, as a complaint about the entry that replays it.
Complaint as_complaint(const Complaint& fault) {
  return {.key = "recording", .reason = fmt::format("{}: {}: {}", fault.file, fault.key, fault.reason)};
}

/// A communication of a rank: its operation in the program, and the group or pair to which it belongs.
struct Call {
  std::uint32_t op = 0;
  std::size_t group = 0;
  std::size_t number = 0;  ///< among the collectives of the rank in the group
};

class GraphMaker {
 public:
  GraphMaker(const Recording& recording, int gpus, const RecordingOptions& options)
      : recording_{recording},
        options_{options},
        world_{rank_files(recording, gpus, options)},
        groups_{recording, world_, options} {}

  RecordingGraph make() {
    make_programs();
    if (options_.balanced) balance();
    find_calls();
    find_roles();
    add_tasks();
    add_collectives();
    add_messages();
    add_dependencies();
    RecordingGraph made{std::move(graph_), {}, programs_.front().iteration};
    for (const RecordedProgram& program : programs_) made.length = std::max(made.length, program.length);
    return made;
  }

 private:
  [[nodiscard]] const RecordedRank& file_of(std::int64_t rank) const { return recording_.ranks[world_.file(rank)]; }
  [[nodiscard]] const RecordedProgram& program_of(std::int64_t rank) const { return programs_[world_.file(rank)]; }
  [[nodiscard]] const RecordedTransfer& transfer_of(std::int64_t rank, std::uint32_t op) const {
    const RecordedRank& file = file_of(rank);
    return *file.transfer_of(file.tasks[program_of(rank).ops[op].task]);
  }
  /// A task of a rank in words.
  [[nodiscard]] std::string place_of(std::int64_t rank, std::uint32_t op) const {
    const RecordedRank& file = file_of(rank);
    return fmt::format("{}, node {}", file.file, file.tasks[program_of(rank).ops[op].task].node);
  }

  void make_programs() {
    const auto timed = std::ranges::count_if(recording_.ranks, [](const RecordedRank& rank) { return rank.timed; });
    if (rank_index(timed) == recording_.ranks.size()) {
      for (const RecordedRank& rank : recording_.ranks) programs_.push_back(timed_program(rank, options_));
      for (const RecordedProgram& each : programs_)
        if (each.iteration != programs_.front().iteration) return replay_common_iteration();
      return;
    }
    if (timed > 0) refuse_recording("recording", "some of its ranks have starts and others don't");
    const auto communicates = [](const RecordedRank& rank) {
      return std::ranges::any_of(rank.tasks, is_communication, &RecordedTask::kind);
    };
    // The network gives communication its time.
    if (!can_be_replayed(recording_) && std::ranges::none_of(recording_.ranks, communicates))
      refuse_recording("recording", "it says neither how long its operations took nor what they waited for",
                       "a profile, or a trace with durations");
    if (options_.iteration) refuse_recording("recording.iteration", "a trace without starts is one iteration");
    const std::vector<std::vector<std::uint32_t>> order = options_.copy ? orders_alone() : order_together();
    for (std::size_t i = 0; i < recording_.ranks.size(); ++i) {
      std::vector<Time> durations;
      for (const RecordedTask& task : recording_.ranks[i].tasks) durations.push_back(task.duration);
      programs_.push_back(replayed_program(recording_.ranks[i], order[i], durations, options_));
    }
  }

  [[nodiscard]] std::vector<std::vector<std::uint32_t>> order_together() const {
    Recording replayed = recording_;
    RecordingReplay done = replay(replayed, recorded_transfer_time);
    if (done.waiting.empty()) return std::move(done.order);
    std::vector<Complaint> complaints;
    for (const Complaint& each : done.waiting) complaints.push_back(as_complaint(each));
    throw InputError{std::move(complaints)};
  }

  /// Of ranks whose peers have no files, so that each is replayed as if its groups were itself.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> orders_alone() const {
    std::vector<std::vector<std::uint32_t>> orders;
    for (const RecordedRank& rank : recording_.ranks) {
      Recording alone;
      alone.ranks.push_back(rank);
      for (RecordedGroup& group : alone.ranks.front().groups) group.ranks.clear();
      orders.push_back(std::move(replay(alone, recorded_transfer_time).order.front()));
      if (orders.back().size() < rank.tasks.size())
        refuse_recording("recording.copy", fmt::format("{}: it waits for messages of ranks without files", rank.file));
    }
    return orders;
  }

  /// The ranks took different iterations, each its median by length: takes the median of their numbers.
  void replay_common_iteration() {
    std::vector<std::int64_t> medians;
    for (const RecordedProgram& each : programs_) medians.push_back(each.iteration);
    std::ranges::sort(medians);
    const std::int64_t chosen = medians[(medians.size() - 1) / 2];
    if (chosen < 0 || options_.iteration)
      refuse_recording("recording", "some of its ranks have marked iterations and others don't");
    programs_.clear();
    ProgramOptions common = options_;
    common.iteration = chosen;
    for (const RecordedRank& rank : recording_.ranks) programs_.push_back(timed_program(rank, common));
  }

  /// Has the kernels of all ranks take the mean of their sums.
  void balance() {
    std::vector<Time> computed(programs_.size());
    const auto is_kernel = [&](std::size_t file, const ProgramOp& op) {
      return op.kind == ProgramKind::task && op.task != kNoTask &&
             recording_.ranks[file].tasks[op.task].kind == RecordedKind::compute;
    };
    for (std::size_t file = 0; file < programs_.size(); ++file)
      for (const ProgramOp& op : programs_[file].ops)
        if (is_kernel(file, op)) computed[file] += op.duration;
    double mean = 0;
    for (const std::size_t file : world_.file_of)
      mean += static_cast<double>(computed[file].ns()) / static_cast<double>(world_.recorded);
    for (std::size_t file = 0; file < programs_.size(); ++file)
      for (ProgramOp& op : programs_[file].ops)
        if (is_kernel(file, op))
          op.duration =
              Time::nanoseconds(std::llround(static_cast<double>(op.duration.ns()) * mean /
                                             static_cast<double>(std::max(computed[file], Time::nanoseconds(1)).ns())));
  }

  void find_calls() {
    calls_.resize(rank_index(world_.ranks));
    for (std::int64_t rank = 0; rank < world_.ranks; ++rank) {
      std::map<std::size_t, std::size_t> numbers;
      const std::vector<ProgramOp>& ops = program_of(rank).ops;
      for (std::uint32_t op = 0; op < ops.size(); ++op) {
        if (ops[op].kind != ProgramKind::collective) continue;
        const std::size_t group = groups_.of(rank, transfer_of(rank, op));
        calls_[rank_index(rank)].push_back({op, group, numbers[group]++});
      }
      for (const auto& [group, count] : numbers) {
        if (std::ranges::find(groups_.ranks(group), rank) == groups_.ranks(group).end())
          refuse_recording(
              "recording",
              fmt::format("{}: rank {} communicates in group \"{}\", which has only the ranks [{}]", file_of(rank).file,
                          rank, groups_.name(group), fmt::join(groups_.ranks(group), ", ")));
        if (counts_.size() <= group) counts_.resize(group + 1);
        counts_[group].emplace(rank, count);
      }
    }
    compare_counts();
  }

  /// All ranks of a group have as many collectives in it.
  void compare_counts() const {
    for (std::size_t group = 0; group < groups_.count(); ++group) {
      const auto& [first, expected] = *counts_[group].begin();
      for (const std::int64_t rank : groups_.ranks(group)) {
        const auto own = counts_[group].find(rank);
        const std::size_t count = own == counts_[group].end() ? 0 : own->second;
        if (count != expected)
          refuse_recording("recording",
                           fmt::format("group \"{}\": rank {} has {} collectives in the iteration, and rank {} has {}",
                                       groups_.name(group), first, expected, rank, count),
                           "another iteration, or files of one run");
      }
    }
  }

  /// Ranks do the same if their programs are equal and so are the ranks of their groups, in turn. Ranks that follow
  /// each other are a role.
  void find_roles() {
    std::vector<std::size_t> colour(rank_index(world_.ranks));
    for (std::int64_t rank = 0; rank < world_.ranks; ++rank) colour[rank_index(rank)] = first_alike(world_.file(rank));
    for (std::int64_t rank = 0; rank < world_.ranks; ++rank)
      if (sends(rank)) colour[rank_index(rank)] = programs_.size() + rank_index(rank);
    for (std::size_t colours = 0;;) {
      using Signature = std::pair<std::size_t, std::vector<std::vector<std::size_t>>>;
      std::map<std::size_t, std::vector<std::size_t>> of_group;
      for (std::size_t group = 0; group < groups_.count(); ++group) {
        std::set<std::size_t> members;  // how many there are of each is of no interest: they come together
        for (const std::int64_t rank : groups_.ranks(group)) members.insert(colour[rank_index(rank)]);
        of_group[group].assign(members.begin(), members.end());
      }
      std::map<Signature, std::size_t> numbers;
      std::vector<std::size_t> refined;
      for (std::size_t rank = 0; rank < colour.size(); ++rank) {
        Signature signature{colour[rank], {}};
        std::set<std::size_t> seen;
        for (const Call& call : calls_[rank])
          if (seen.insert(call.group).second) signature.second.push_back(of_group[call.group]);
        refined.push_back(numbers.try_emplace(std::move(signature), numbers.size()).first->second);
      }
      colour = std::move(refined);
      if (std::exchange(colours, numbers.size()) == numbers.size()) break;
    }
    role_of_.resize(colour.size());
    for (std::size_t rank = 0; rank < colour.size(); ++rank) {
      if (rank == 0 || colour[rank] != colour[rank - 1]) first_rank_.push_back(static_cast<std::int64_t>(rank));
      role_of_[rank] = first_rank_.size() - 1;
    }
    for (std::size_t role = 0; role < first_rank_.size(); ++role) {
      const std::int64_t end = role + 1 < first_rank_.size() ? first_rank_[role + 1] : world_.ranks;
      graph_.add_role(fmt::format("rank {}", first_rank_[role]), static_cast<int>(end - first_rank_[role]));
    }
    ids_.resize(first_rank_.size());
  }

  /// The first file with a program like the one of this file.
  [[nodiscard]] std::size_t first_alike(std::size_t file) const {
    const auto alike = [&](const ProgramOp& a, const ProgramOp& b, std::size_t other) {
      const auto essence = [](const ProgramOp& op) {
        return std::tie(op.kind, op.lane, op.duration, op.needs, op.before);
      };
      return essence(a) == essence(b) && what_is_sent(file, a) == what_is_sent(other, b);
    };
    for (std::size_t other = 0; other < file; ++other)
      if (std::ranges::equal(programs_[file].ops, programs_[other].ops,
                             [&](const ProgramOp& a, const ProgramOp& b) { return alike(a, b, other); }))
        return other;
    return file;
  }

  [[nodiscard]] std::pair<RecordedCollective, std::optional<Bytes>> what_is_sent(std::size_t file,
                                                                                 const ProgramOp& op) const {
    if (op.kind == ProgramKind::task || op.kind == ProgramKind::pause) return {};
    const RecordedTransfer& transfer = *recording_.ranks[file].transfer_of(recording_.ranks[file].tasks[op.task]);
    return {transfer.kind, transfer.largest()};
  }

  [[nodiscard]] bool sends(std::int64_t rank) const {
    return std::ranges::any_of(program_of(rank).ops, [](const ProgramOp& op) {
      return op.kind == ProgramKind::send || op.kind == ProgramKind::receive;
    });
  }

  void add_tasks() {
    for (std::size_t role = 0; role < first_rank_.size(); ++role) {
      const RecordedRank& file = file_of(first_rank_[role]);
      for (const ProgramOp& op : program_of(first_rank_[role]).ops) {
        OpId id;
        const RoleId of{role};
        const std::string name = op.task != kNoTask ? file.name_of(file.tasks[op.task]) : "";
        if (op.kind == ProgramKind::task)
          id = graph_.add_task(name.empty() ? "launch" : name, of, op.duration, op.lane);
        else if (op.kind == ProgramKind::pause)
          id = graph_.add_timer(name.empty() ? "pause" : name, of, op.duration);
        ids_[role].push_back(id);
      }
    }
  }

  /// The collectives of a role at one place of its program are one operation, with the collectives of other roles in
  /// which they meet.
  void add_collectives() {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> numbers;  // instances by group and number
    for (std::size_t rank = 0; rank < calls_.size(); ++rank) {
      for (std::size_t i = 0; i < calls_[rank].size(); ++i) {
        const Call& call = calls_[rank][i];
        const auto [known, is_new] = numbers.try_emplace({call.group, call.number}, meetings_.size());
        if (is_new) meetings_.push_back({call.group, known->second, {}});
        meetings_[known->second].come.emplace_back(rank, call.op);
        const auto first = rank_index(first_rank_[role_of_[rank]]);
        join(known->second, numbers.at({calls_[first][i].group, calls_[first][i].number}));
      }
    }
    std::map<std::size_t, std::vector<std::size_t>> joined;
    for (std::size_t i = 0; i < meetings_.size(); ++i) joined[root_of(i)].push_back(i);
    for (const auto& [root, meetings] : joined) add_collective(meetings);
  }

  struct Meeting {
    std::size_t group = 0, parent = 0;
    std::vector<std::pair<std::size_t, std::uint32_t>> come;  ///< ranks with their operations
  };

  std::size_t root_of(std::size_t meeting) {
    while (meetings_[meeting].parent != meeting)
      meeting = meetings_[meeting].parent = meetings_[meetings_[meeting].parent].parent;
    return meeting;
  }
  void join(std::size_t a, std::size_t b) { meetings_[root_of(a)].parent = root_of(b); }

  void add_collective(const std::vector<std::size_t>& meetings) {
    std::size_t first = SIZE_MAX, last = 0;
    Time recorded;
    for (const std::size_t meeting : meetings) {
      Time shortest = Time::never();
      for (const auto& [rank, op] : meetings_[meeting].come) {
        first = std::min(first, role_of_[rank]);
        last = std::max(last, role_of_[rank]);
        shortest = std::min(shortest, program_of(static_cast<std::int64_t>(rank)).ops[op].duration);
      }
      recorded = std::max(recorded, shortest);
    }
    const auto [rank, op] = meetings_[meetings.front()].come.front();
    const RecordedRank& file = file_of(static_cast<std::int64_t>(rank));
    const std::string& name = file.name_of(file.tasks[program_of(static_cast<std::int64_t>(rank)).ops[op].task]);
    OpId id;
    if (options_.recorded_communication) {
      id = graph_.add_timer(name, RoleId{first}, recorded);
    } else {
      const auto [kind, bytes] = carried(meetings);
      id = graph_.add_collective(name, kind, RoleId{first}, bytes);
      graph_.join_roles(id, static_cast<std::int32_t>(last - first + 1));
      put_into_groups(id, meetings, first, last);
    }
    for (const std::size_t meeting : meetings)
      for (const auto& [each, call] : meetings_[meeting].come) ids_[role_of_[each]][call] = id;
  }

  void put_into_groups(OpId id, const std::vector<std::size_t>& meetings, std::size_t first, std::size_t last) {
    const std::int64_t begin = first_rank_[first];
    const std::int64_t end = last + 1 < first_rank_.size() ? first_rank_[last + 1] : world_.ranks;
    std::vector<std::vector<int>> lists;
    for (const std::size_t meeting : meetings) {
      std::vector<int>& list = lists.emplace_back();
      for (const std::int64_t rank : groups_.ranks(meetings_[meeting].group))
        list.push_back(static_cast<int>(rank - begin));
    }
    if (lists.size() == 1 && static_cast<std::int64_t>(lists.front().size()) == end - begin) return;
    std::shared_ptr<const RankLists>& known = lists_[lists];
    if (!known) known = std::make_shared<const RankLists>(std::move(lists));
    graph_.put_into_groups(id, {.lists = known});
  }

  /// What ranks that meet send; they have to agree.
  std::pair<CollectiveKind, Bytes> carried(const std::vector<std::size_t>& meetings) const {
    std::optional<std::pair<CollectiveKind, Bytes>> all;
    for (const std::size_t meeting : meetings) {
      const auto& come = meetings_[meeting].come;
      for (const auto& [rank, op] : come) {
        const auto number = static_cast<std::int64_t>(rank);
        const RecordedTransfer& transfer = transfer_of(number, op);
        const auto [kind, bytes] = carried_by_network(transfer, groups_.ranks(meetings_[meeting].group).size());
        if (!kind || !bytes)
          refuse_recording(
              "recording",
              fmt::format("{}: nobody has recorded {} of a communication ({})", place_of(number, op),
                          kind ? "how many bytes it has" : "the kind", to_string(transfer.kind)),
              "communication: recorded, or a profile of PyTorch 2.2 or later, whose record_param_comms says it");
        if (!all) all = {*kind, *bytes};
        if (*all == std::pair{*kind, *bytes}) continue;
        if (*kind == CollectiveKind::all_to_all && all->first == *kind) {  // ranks may send unequal parts
          all->second = std::max(all->second, *bytes);
          continue;
        }
        const auto [other, other_op] = come.front();
        refuse_recording(
            "recording",
            fmt::format("group \"{}\": {} of {} B ({}) meets {} of {} B ({})", groups_.name(meetings_[meeting].group),
                        name_of(all->first), all->second.count(), place_of(static_cast<std::int64_t>(other), other_op),
                        name_of(*kind), bytes->count(), place_of(number, op)));
      }
    }
    return *all;
  }

  /// Messages: a send and a receive that match in order.
  void add_messages() {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>,
             std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>>
        messages;  // sends and receives by source, destination, tag
    for (std::int64_t rank = 0; rank < world_.ranks; ++rank) {
      const std::int64_t copy = rank / world_.recorded * world_.recorded;
      const std::vector<ProgramOp>& ops = program_of(rank).ops;
      for (std::uint32_t op = 0; op < ops.size(); ++op) {
        if (ops[op].kind != ProgramKind::send && ops[op].kind != ProgramKind::receive) continue;
        const RecordedTransfer& transfer = transfer_of(rank, op);
        if (rank - copy != file_of(rank).rank)
          refuse_recording("recording.copy",
                           fmt::format("{}: a message to one rank can't be sent by all copies", place_of(rank, op)),
                           "files of all ranks");
        const std::int64_t peer = copy + transfer.peer.value_or(rank - copy);
        if (peer < copy || peer >= copy + world_.recorded)
          refuse_recording("recording", fmt::format("{}: there is no rank {}", place_of(rank, op), peer - copy));
        if (ops[op].kind == ProgramKind::send)
          messages[{rank, peer, transfer.tag}].first.push_back(op);
        else
          messages[{peer, rank, transfer.tag}].second.push_back(op);
      }
    }
    for (const auto& [key, ends] : messages) {
      const auto& [from, to, tag] = key;
      if (ends.first.size() != ends.second.size())
        refuse_recording("recording", fmt::format("rank {} sends {} messages with tag {} to rank {}, which receives {}",
                                                  from, ends.first.size(), tag, to, ends.second.size()));
      for (std::size_t i = 0; i < ends.first.size(); ++i) add_message(from, to, ends.first[i], ends.second[i]);
    }
  }

  void add_message(std::int64_t from, std::int64_t to, std::uint32_t send, std::uint32_t receive) {
    const std::size_t sender = role_of_[rank_index(from)], receiver = role_of_[rank_index(to)];
    const RecordedRank& file = file_of(from);
    const std::string& name = file.name_of(file.tasks[program_of(from).ops[send].task]);
    const std::optional<Bytes> bytes = transfer_of(from, send).largest();
    OpId message;
    if (options_.recorded_communication) {
      message = graph_.add_timer(name, RoleId{sender}, program_of(from).ops[send].duration);
    } else {
      if (!bytes)
        refuse_recording("recording",
                         fmt::format("{}: nobody has recorded how many bytes it has", place_of(from, send)));
      message = graph_.add_message(name, RoleId{sender}, RoleId{receiver}, *bytes);
    }
    ids_[sender][send] = message;
    const OpId arrived = graph_.add_timer("receive", RoleId{receiver}, Time{});
    ids_[receiver][receive] = arrived;
    graph_.add_dependency(message, arrived);
  }

  void add_dependencies() {
    std::set<std::tuple<OpId, OpId, int>> known;
    for (std::size_t role = 0; role < first_rank_.size(); ++role) {
      const std::vector<ProgramOp>& ops = program_of(first_rank_[role]).ops;
      const auto depend = [&](std::uint32_t before, std::size_t after, int lag) {
        const OpId from = ids_[role][before], to = ids_[role][after];
        if (known.emplace(from, to, lag).second) graph_.add_dependency(from, to, lag);
      };
      for (std::size_t op = 0; op < ops.size(); ++op) {
        for (const std::uint32_t needed : ops[op].needs) depend(needed, op, 0);
        for (const std::uint32_t before : ops[op].before) depend(before, op, 1);
      }
    }
  }

  const Recording& recording_;
  const RecordingOptions& options_;
  RankFiles world_;
  JobGroups groups_;
  std::vector<RecordedProgram> programs_;                    ///< by file
  std::vector<std::vector<Call>> calls_;                     ///< by rank
  std::vector<std::map<std::int64_t, std::size_t>> counts_;  ///< by group: collectives of its ranks
  std::vector<std::size_t> role_of_;                         ///< by rank
  std::vector<std::int64_t> first_rank_;                     ///< by role
  std::vector<std::vector<OpId>> ids_;                       ///< by role and operation of its program
  std::vector<Meeting> meetings_;
  std::map<std::vector<std::vector<int>>, std::shared_ptr<const RankLists>> lists_;
  IterationGraph graph_;
};

}  // namespace

CarriedCollective carried_by_network(const RecordedTransfer& transfer, std::size_t ranks) {
  CarriedCollective carried{carried_as(transfer.kind), transfer.largest()};
  const bool gathers = carried.kind == CollectiveKind::all_gather,
             scatters = carried.kind == CollectiveKind::reduce_scatter;
  const std::optional<Bytes> part = gathers && !transfer.out   ? transfer.in
                                    : scatters && !transfer.in ? transfer.out
                                                               : std::nullopt;
  const auto count = static_cast<std::int64_t>(ranks);
  if (part && part->count() <= INT64_MAX / std::max(count, std::int64_t{1})) carried.bytes = *part * count;
  if (transfer.kind == RecordedCollective::barrier && !carried.bytes) carried.bytes = Bytes{1};
  return carried;
}

RecordingGraph recording_graph(const Recording& recording, int gpus, const RecordingOptions& options) {
  std::vector<Complaint> faults;
  for (const Complaint& each : recording.faults)
    if (!each.reason.ends_with(kHasNoFile)) faults.push_back(as_complaint(each));  // rank_files() says so of all ranks
  if (!faults.empty()) throw InputError{std::move(faults)};
  return GraphMaker{recording, gpus, options}.make();
}

}  // namespace contend
