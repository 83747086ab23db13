#include "traces/recording/recording_reader.hpp"

#include "text/byte_source.hpp"
#include "text/json_reader.hpp"
#include "traces/recording/chakra.hpp"
#include "traces/recording/execution_trace.hpp"
#include "traces/recording/goal.hpp"
#include "traces/recording/kineto_recording.hpp"
#include "traces/recording/recording_checks.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const std::filesystem::directory_entry& each : std::filesystem::directory_iterator{path, error})
    if (is_recording_name(each.path().filename().string())) files.push_back(each.path().string());
  if (files.empty())
    throw InputError{
        Complaint{.file = path, .reason = "no file in this folder ends in .et, .json or .goal, plain or .gz"}};
  std::ranges::sort(files);
  return files;
}

constexpr std::string_view kBlanks = " \t\r\n";

/// A bracket, and then what may follow it. The first byte of a file of messages is a length, which may be a bracket.
bool begins_as_json(std::string_view head) {
  const std::size_t bracket = head.find_first_not_of(kBlanks);
  if (bracket == std::string_view::npos || (head[bracket] != '{' && head[bracket] != '[')) return false;
  const std::size_t next = head.find_first_not_of(kBlanks, bracket + 1);
  return next == std::string_view::npos || std::string_view{"\"{}[]"}.find(head[next]) != std::string_view::npos;
}

/// True if the beginning has no byte that texts don't have.
bool is_text(std::string_view head) {
  constexpr std::size_t kEnough = 256;
  return std::ranges::none_of(head.substr(0, kEnough), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && kBlanks.find(c) == std::string_view::npos;
  });
}

bool is_chakra_name(const std::string& file) {
  return file.ends_with(".et") || file.ends_with(".et.gz");
}

bool is_goal_name(const std::string& file) {
  return file.ends_with(".goal") || file.ends_with(".goal.gz");
}

/// Lists of ranks by names of groups, as ASTRA-sim takes them (`{"0": [0, 1]}`), for groups without a list of their
/// own.
void add_group_lists(const std::string& file, std::vector<RecordedRank>& ranks) {
  const std::unique_ptr<ByteSource> source = open_file(file);
  const JsonValue lists = read_json(*source, file);
  for (std::size_t i = 0; i < lists.names.size(); ++i) {
    std::vector<std::int64_t> members;
    for (const JsonValue& each : lists.items[i].items)
      if (const auto number = each.whole()) members.push_back(static_cast<std::int64_t>(*number));
    if (members.empty() || members.size() != lists.items[i].items.size()) continue;
    for (RecordedRank& rank : ranks)
      for (RecordedGroup& group : rank.groups)
        if (group.name == lists.names[i] && group.ranks.empty()) {
          group.ranks = members;
          group.size = static_cast<std::int64_t>(members.size());
        }
  }
}

/// Numbers the ranks whose number isn't known, and puts all in order.
void number_ranks(std::vector<RecordedRank>& ranks) {
  std::set<std::int64_t> taken;
  for (const RecordedRank& rank : ranks)
    if (rank.rank_known) taken.insert(rank.rank);
  std::int64_t next = 0;
  for (RecordedRank& rank : ranks) {
    if (rank.rank_known) continue;
    while (taken.contains(next)) ++next;
    rank.rank = next++;
  }
  std::ranges::stable_sort(ranks, {}, &RecordedRank::rank);
}

}  // namespace

bool is_recording_name(std::string name) {
  if (name.starts_with('.')) return false;  // such as the `._` members that macOS puts into archives
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".et") || name.ends_with(".json") || name.ends_with(".goal");
}

RecordedRank read_recorded_rank(ByteSource& source, const std::string& file) {
  PeekedSource peeked{source};
  const std::string_view head = peeked.head();
  refuse_wrapped(head, file);
  if (is_text(head) && !begins_as_json(head))
    throw InputError{Complaint{.file = file,
                               .reason = "this is text, and no recording",
                               .hint = "a profile or a trace as JSON, Chakra's messages (.et), or GOAL (.goal)"}};
  if (!begins_as_json(head)) return read_chakra(peeked, file);
  const bool array = head[head.find_first_not_of(kBlanks)] == '[';
  const auto position = [&](std::string_view key) { return head.find(fmt::format("\"{}\"", key)); };
  const std::size_t nodes = position("nodes"), graph = position("workload_graph");
  std::size_t events = std::string_view::npos;  // a profile may say much before its events
  for (const std::string_view key : {"traceEvents", "ph", "deviceProperties", "distributedInfo", "schemaVersion"})
    events = std::min(events, position(key));
  const std::size_t nearest = std::min({events, nodes, graph});
  if (nearest == std::string_view::npos) return read_chakra_messages(peeked, file);
  if (nearest == graph) return read_chakra_graph(peeked, file);
  return nearest == nodes ? read_execution_trace(peeked, file) : read_kineto_recording(peeked, file, array);
}

Recording read_recording(const std::string& path) {
  Recording recording;
  const std::vector<std::string> files = files_of(path);
  const bool only_chakra = std::ranges::any_of(files, is_chakra_name);  // JSON beside it are lists of groups
  const auto read = [&](const auto& reader) {
    try {
      reader();
    } catch (const InputError& error) {
      if (files.size() == 1) throw;
      recording.faults.insert(recording.faults.end(), error.complaints().begin(), error.complaints().end());
    }
  };
  for (const std::string& file : files) {
    if (only_chakra && !is_chakra_name(file)) continue;
    read([&] {
      const std::unique_ptr<ByteSource> source = open_file(file);
      if (!is_goal_name(file)) return recording.ranks.push_back(read_recorded_rank(*source, file));
      for (RecordedRank& rank : read_goal(*source, file)) recording.ranks.push_back(std::move(rank));
    });
  }
  for (const std::string& file : files)
    if (only_chakra && !is_chakra_name(file)) read([&] { add_group_lists(file, recording.ranks); });
  number_ranks(recording.ranks);
  for (Complaint& each : contradictions(recording)) recording.faults.push_back(std::move(each));
  return recording;
}

}  // namespace contend
