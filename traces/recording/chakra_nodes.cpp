#include "traces/recording/chakra_nodes.hpp"

#include "traces/recording/communication_names.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

namespace contend {
namespace {

using Type = ChakraNode::Type;

/// In order of the schema's CollectiveCommType.
constexpr RecordedCollective kCollectives[] = {RecordedCollective::all_reduce,     RecordedCollective::reduce,
                                               RecordedCollective::all_gather,     RecordedCollective::gather,
                                               RecordedCollective::scatter,        RecordedCollective::broadcast,
                                               RecordedCollective::all_to_all,     RecordedCollective::reduce_scatter,
                                               RecordedCollective::reduce_scatter, RecordedCollective::barrier};
constexpr std::string_view kTypeNames[] = {"invalid", "metadata", "load", "store", "comp", "send", "recv", "coll"};

RecordedKind kind_of(Type type, bool on_host) {
  if (on_host) return RecordedKind::host;
  switch (type) {
    case Type::load:
      return RecordedKind::load;
    case Type::store:
      return RecordedKind::store;
    case Type::send:
      return RecordedKind::send;
    case Type::receive:
      return RecordedKind::receive;
    case Type::collective:
      return RecordedKind::collective;
    default:
      return RecordedKind::compute;
  }
}

}  // namespace

std::optional<std::int64_t> chakra_collective(RecordedCollective kind) {
  const auto* const found = std::ranges::find(kCollectives, kind);
  return found == std::end(kCollectives) ? std::nullopt : std::optional{found - std::begin(kCollectives)};
}

void ChakraNode::set(std::string_view attribute, std::int64_t value) {
  const std::pair<std::string_view, std::optional<std::int64_t>*> numbers[] = {
      {"comm_type", &collective},   {"comm_size", &bytes}, {"comm_src", &source}, {"comm_dst", &destination},
      {"comm_tag", &tag},           {"stream", &stream},   {"tid", &thread},      {"duration_ns", &duration_ns},
      {"comm_out_size", &out_bytes}};
  if (attribute == "is_cpu_op") on_host = value != 0;
  for (const auto& [known, number] : numbers)
    if (attribute == known) *number = value;
}

void ChakraNode::set(std::string_view attribute, std::string_view value) {
  if (attribute == "pg_name") group = value;
}

void ChakraNodes::refuse(std::uint64_t node, std::string reason) const {
  throw InputError{Complaint{.file = file_, .key = fmt::format("node {}", node), .reason = std::move(reason)}};
}

void ChakraNodes::add(const ChakraNode& node, const NodePlace& place) {
  if (node.type == 0 || node.type >= std::size(kTypeNames))
    refuse(node.id, fmt::format("{} has the type {}, expected 1 to {}", place(), node.type, std::size(kTypeNames) - 1));
  const auto type = static_cast<Type>(node.type);
  ++rank().counts[std::string{kTypeNames[node.type]}];
  if (type == Type::metadata) {
    if (node.name == kChakraGroups) builder_.add_groups(node.values);
    return;
  }
  if (!by_id_.emplace(node.id, static_cast<std::uint32_t>(rank().tasks.size())).second)
    refuse(node.id, fmt::format("{} has the id of an earlier node", place()));
  constexpr std::uint64_t kMost_us = std::uint64_t{1} << 52;
  if (node.duration_us > kMost_us) refuse(node.id, fmt::format("{} takes {} us", place(), node.duration_us));
  RecordedTask task;
  task.node = static_cast<std::int64_t>(node.id);
  if (node.duration_ns && (*node.duration_ns < 0 || *node.duration_ns / 1000 > static_cast<std::int64_t>(kMost_us)))
    refuse(node.id, fmt::format("{} takes {} ns", place(), *node.duration_ns));
  task.duration = node.duration_ns ? Time::nanoseconds(*node.duration_ns)
                                   : Time::microseconds(static_cast<std::int64_t>(node.duration_us));
  task.name = builder_.name(node.name);
  // Without `is_cpu_op` a node is one of the GPU: converters that write none have no nodes of hosts.
  task.kind = kind_of(type, node.on_host.value_or(false));
  if (task.kind == RecordedKind::host)
    task.lane = builder_.thread(std::to_string(node.thread.value_or(0)));
  else  // the converter of PyTorch's traces once wrote the stream as thread
    task.lane = builder_.stream(0, std::to_string(node.stream.value_or(node.thread.value_or(0))));
  if (is_communication(task.kind)) task.transfer = builder_.add(transfer_of(node, place));
  task.needs = static_cast<std::uint32_t>(node.data_needs.size());
  builder_.add(task);
  needs_.insert(needs_.end(), node.data_needs.begin(), node.data_needs.end());
}

RecordedTransfer ChakraNodes::transfer_of(const ChakraNode& node, const NodePlace& place) {
  RecordedTransfer transfer;
  const auto type = static_cast<Type>(node.type);
  if (node.bytes && *node.bytes < 0) refuse(node.id, fmt::format("{} moves {} bytes", place(), *node.bytes));
  if (node.bytes) transfer.in = Bytes{*node.bytes};
  if (node.out_bytes && *node.out_bytes < 0) refuse(node.id, fmt::format("{} gets {} bytes", place(), *node.out_bytes));
  if (node.out_bytes && type == Type::collective) transfer.out = Bytes{*node.out_bytes};
  transfer.tag = node.tag.value_or(0);
  if (!node.group.empty()) transfer.group = builder_.group(node.group, {}, 0);
  if (type == Type::send) {
    transfer.kind = RecordedCollective::send;
    transfer.peer = node.destination;
  } else if (type == Type::receive) {
    transfer.kind = RecordedCollective::receive;
    transfer.peer = node.source;
    std::swap(transfer.in, transfer.out);
  } else if (node.collective) {
    if (*node.collective < 0 || *node.collective >= std::ssize(kCollectives))
      refuse(node.id, fmt::format("{} has the collective {}, expected 0 to {}", place(), *node.collective,
                                  std::size(kCollectives) - 1));
    transfer.kind = kCollectives[static_cast<std::size_t>(*node.collective)];
  } else {
    transfer.kind = collective_of_kernel(node.name);
  }
  return transfer;
}

void ChakraNodes::link_needs() {
  rank().needs.reserve(needs_.size());
  auto id = needs_.begin();
  for (const RecordedTask& task : rank().tasks) {
    for (const auto end = id + task.needs; id != end; ++id) {
      const auto found = by_id_.find(*id);
      if (found == by_id_.end())
        refuse(static_cast<std::uint64_t>(task.node), fmt::format("needs node {}, which isn't in the file", *id));
      rank().needs.push_back(found->second);
    }
  }
}

RecordedRank ChakraNodes::take() {
  link_needs();
  RecordedRank made = builder_.take();
  refuse_cycles(made);
  return made;
}

void refuse_cycles(const RecordedRank& rank) {
  enum class State : std::uint8_t { unseen, open, done };
  std::vector<State> states(rank.tasks.size(), State::unseen);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path;  // tasks, and how many of their needs have been followed
  for (std::uint32_t root = 0; root < rank.tasks.size(); ++root) {
    if (states[root] != State::unseen) continue;
    path.emplace_back(root, 0);
    states[root] = State::open;
    while (!path.empty()) {
      auto& [task, followed] = path.back();
      if (followed == rank.tasks[task].needs) {
        states[task] = State::done;
        path.pop_back();
        continue;
      }
      const std::uint32_t needed = rank.needs[rank.tasks[task].first_need + followed++];
      if (states[needed] == State::unseen) {
        states[needed] = State::open;
        path.emplace_back(needed, 0);
      } else if (states[needed] == State::open) {
        std::string cycle = fmt::format("{}", rank.tasks[needed].node);
        const auto first = std::ranges::find(path, needed, [](const auto& each) { return each.first; });
        for (auto each = std::next(first); each != path.end(); ++each)
          cycle += fmt::format(" -> {}", rank.tasks[each->first].node);
        throw InputError{
            Complaint{.file = rank.file,
                      .key = fmt::format("node {}", rank.tasks[needed].node),
                      .reason = fmt::format("nodes need each other: {} -> {}", cycle, rank.tasks[needed].node)}};
      }
    }
  }
}

}  // namespace contend
