#include "traces/recording/chakra_writer.hpp"

#include "text/json_writer.hpp"
#include "traces/recording/chakra_nodes.hpp"
#include "traces/recording/json_fields.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

/// A node of the schema, with what this writer gives it.
struct OutNode {
  std::uint64_t id = 0;
  ChakraNode::Type type = ChakraNode::Type::compute;
  std::string_view name;
  std::vector<std::uint64_t> needs{};
  std::uint64_t duration_us = 0;
  std::string values{};
  std::vector<std::pair<std::string_view, std::variant<bool, std::int64_t, std::string>>> attributes{};
};

// Of et_def.proto: numbers of fields, and of the types of attributes.
constexpr std::uint64_t kBoolValue = 27, kInt32Value = 7, kInt64Value = 9, kTextValue = 29;

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value > 0x7f; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
  bytes += static_cast<char>(value);
}
/// A number of 0 isn't written, as the encoding of proto3 has it.
void append_number(std::string& bytes, std::uint64_t field, std::uint64_t value) {
  if (value == 0) return;
  append_varint(bytes, field << 3U);
  append_varint(bytes, value);
}
void append_bytes(std::string& bytes, std::uint64_t field, std::string_view value) {
  append_varint(bytes, field << 3U | 2U);
  append_varint(bytes, value.size());
  bytes += value;
}

/// Ranks and tags are of 32 bits in the files of others.
bool is_short(std::string_view attribute) {
  return attribute == "comm_src" || attribute == "comm_dst" || attribute == "comm_tag";
}

std::string on_wire(const OutNode& node) {
  std::string bytes, needs;
  append_number(bytes, 1, node.id);
  append_bytes(bytes, 2, node.name);
  append_number(bytes, 3, static_cast<std::uint64_t>(node.type));
  for (const std::uint64_t need : node.needs) append_varint(needs, need);
  if (!needs.empty()) append_bytes(bytes, 5, needs);
  append_number(bytes, 7, node.duration_us);
  if (!node.values.empty()) {
    std::string inputs;
    append_bytes(inputs, 1, node.values);
    append_bytes(bytes, 8, inputs);
  }
  for (const auto& [name, value] : node.attributes) {
    std::string attribute;
    append_bytes(attribute, 1, name);
    if (const auto* const text = std::get_if<std::string>(&value)) {
      append_bytes(attribute, kTextValue, *text);
    } else {  // the value of an attribute is written even if it is 0, as it is one of several
      const bool* const truth = std::get_if<bool>(&value);
      append_varint(attribute, (truth != nullptr ? kBoolValue : is_short(name) ? kInt32Value : kInt64Value) << 3U);
      append_varint(attribute, truth != nullptr ? std::uint64_t{*truth}
                                                : static_cast<std::uint64_t>(std::get<std::int64_t>(value)));
    }
    append_bytes(bytes, 10, attribute);
  }
  return bytes;
}

std::string as_json(const OutNode& node) {
  JsonWriter json{JsonWriter::Layout::line};
  json.begin_object().member("id", std::to_string(node.id)).member("name", node.name);
  json.member("type", kChakraTypeWords[static_cast<std::size_t>(node.type)]);
  if (!node.needs.empty()) {
    json.key("dataDeps").begin_array();
    for (const std::uint64_t need : node.needs) json.value(std::to_string(need));
    json.end_array();
  }
  if (node.duration_us > 0) json.member("durationMicros", std::to_string(node.duration_us));
  if (!node.values.empty()) json.key("inputs").begin_object().member("values", node.values).end_object();
  json.key("attr").begin_array();
  for (const auto& [name, value] : node.attributes) {
    json.begin_object().member("name", name);
    if (const bool* const truth = std::get_if<bool>(&value))
      json.member("boolVal", *truth);
    else if (const auto* const number = std::get_if<std::int64_t>(&value))
      json.member(is_short(name) ? "int32Val" : "int64Val", std::to_string(*number));
    else
      json.member("stringVal", std::get<std::string>(value));
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

/// A name of a group within the lists of a text, which readers search for brackets and free of backslashes.
std::string group_name(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\' || c == '[' || c == ']') c = '_';
  return name;
}

/// The process groups as PyTorch's traces have them: JSON as a text, in a list of one text.
OutNode groups_node(const RecordedRank& rank, std::uint64_t id) {
  OutNode node{.id = id, .type = ChakraNode::Type::metadata, .name = kChakraGroups};
  std::string list;
  for (const RecordedGroup& group : rank.groups)
    list += fmt::format(R"({}{{\"pg_name\": \"{}\", \"ranks\": [{}], \"group_size\": {}}})", list.empty() ? "" : ", ",
                        group_name(group.name), fmt::join(group.ranks, ", "), group.size);
  node.values = fmt::format(R"(["[{}]"])", list);
  return node;
}

ChakraNode::Type type_of(RecordedKind kind) {
  switch (kind) {
    case RecordedKind::load:
      return ChakraNode::Type::load;
    case RecordedKind::store:
      return ChakraNode::Type::store;
    case RecordedKind::send:
      return ChakraNode::Type::send;
    case RecordedKind::receive:
      return ChakraNode::Type::receive;
    case RecordedKind::collective:
      return ChakraNode::Type::collective;
    default:
      return ChakraNode::Type::compute;
  }
}

void add_transfer(const RecordedRank& rank, const RecordedTransfer& transfer, RecordedKind kind, OutNode& node) {
  auto& attributes = node.attributes;
  const std::optional<Bytes> bytes = kind == RecordedKind::receive && !transfer.in ? transfer.out : transfer.in;
  if (kind == RecordedKind::collective)
    if (const auto number = chakra_collective(transfer.kind)) attributes.emplace_back("comm_type", *number);
  if (bytes) attributes.emplace_back("comm_size", bytes->count());
  if (kind == RecordedKind::collective && transfer.out) attributes.emplace_back("comm_out_size", transfer.out->count());
  if (transfer.peer) attributes.emplace_back(kind == RecordedKind::receive ? "comm_src" : "comm_dst", *transfer.peer);
  if (kind != RecordedKind::collective) attributes.emplace_back("comm_tag", transfer.tag);
  if (transfer.group) attributes.emplace_back("pg_name", group_name(rank.groups[*transfer.group].name));
}

OutNode node_of(const RecordedRank& rank, const RecordedTask& task, std::int64_t lane) {
  OutNode node{.id = static_cast<std::uint64_t>(task.node), .type = type_of(task.kind), .name = rank.name_of(task)};
  for (std::uint32_t n = 0; n < task.needs; ++n)
    node.needs.push_back(static_cast<std::uint64_t>(rank.tasks[rank.needs[task.first_need + n]].node));
  constexpr std::int64_t kNsPerUs = 1000;
  const std::int64_t ns = task.duration.ns();
  node.duration_us = static_cast<std::uint64_t>((ns + kNsPerUs / 2) / kNsPerUs);
  node.attributes.emplace_back("is_cpu_op", !on_device(task.kind));
  node.attributes.emplace_back(on_device(task.kind) ? "stream" : "tid", lane);
  if (ns % kNsPerUs != 0) node.attributes.emplace_back("duration_ns", ns);
  if (const RecordedTransfer* const transfer = rank.transfer_of(task)) add_transfer(rank, *transfer, task.kind, node);
  return node;
}

}  // namespace

std::string chakra_file(const RecordedRank& rank, ChakraForm form) {
  std::string text, metadata;
  const auto add = [&](const OutNode& node) {
    if (form == ChakraForm::json) {
      text += as_json(node);
      return;
    }
    const std::string bytes = on_wire(node);
    append_varint(text, bytes.size());
    text += bytes;
  };
  const std::string version = rank.version.empty() ? std::string{kChakraVersion} : rank.version;
  if (form == ChakraForm::json) {
    JsonWriter json{JsonWriter::Layout::line};
    text = json.begin_object().member("version", version).end_object().take();
  } else {
    append_bytes(metadata, 1, version);
    append_varint(text, metadata.size());
    text += metadata;
  }
  std::int64_t free_id = 0;
  for (const RecordedTask& task : rank.tasks) free_id = std::max(free_id, std::min(task.node, INT64_MAX - 1) + 1);
  if (!rank.groups.empty()) add(groups_node(rank, static_cast<std::uint64_t>(free_id)));
  const std::vector<std::int64_t> lanes = lane_numbers(rank, true);
  for (const RecordedTask& task : rank.tasks) add(node_of(rank, task, lanes[task.lane]));
  return text;
}

std::vector<std::string> lost_in_chakra(const Recording& recording) {
  std::map<std::string, std::int64_t> lost;
  for (const RecordedRank& rank : recording.ranks) {
    if (rank.timed) ++lost["starts of tasks"];
    if (!rank.steps.empty()) ++lost["marks of iterations"];
    for (const RecordedLane& lane : rank.lanes) {
      if (!whole_value(lane.name)) ++lost["names of lanes that are no numbers"];
      if (lane.gpu != 0) ++lost["numbers of GPUs"];
    }
    for (const RecordedTask& task : rank.tasks) {
      if (task.launch != kNoTask) ++lost["which call launched a task"];
      if (task.kind == RecordedKind::launch) ++lost["that an operation of the host launches"];
      if (task.kind == RecordedKind::copy || task.kind == RecordedKind::fill)
        ++lost["that a task copies or fills, and doesn't compute"];
      if (on_device(task.kind) && !rank.lanes[task.lane].device)
        ++lost["that communication is on a thread of the host"];
      const RecordedTransfer* const transfer = rank.transfer_of(task);
      if (transfer != nullptr && task.kind == RecordedKind::collective && !chakra_collective(transfer->kind))
        ++lost[fmt::format("that communication is of the kind {}", to_string(transfer->kind))];
    }
  }
  return in_words(lost);
}

}  // namespace contend
