#include "traces/recording/execution_trace.hpp"

#include "text/json_reader.hpp"
#include "traces/recording/communication_names.hpp"
#include "traces/recording/json_fields.hpp"
#include "traces/recording/recording_builder.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace contend {
namespace {

/// A member of a node: since schema 1.0.2 an object in the list `attrs`, before a member of the node itself.
const JsonValue* member_of(const JsonValue& node, std::string_view name) {
  if (const JsonValue* const attributes = node.find("attrs"))
    for (const JsonValue& each : attributes->items)
      if (text_of(&each, "name") == name) return each.find("value");
  return node.find(name);
}

std::string_view member_text(const JsonValue& node, std::string_view name) {
  const JsonValue* const member = member_of(node, name);
  return member == nullptr ? std::string_view{} : std::string_view{member->text};
}

std::optional<std::int64_t> member_number(const JsonValue& node, std::string_view name) {
  const std::string_view text = member_text(node, name);
  return text.empty() ? std::nullopt : whole_value(text);
}

/// The values of the inputs or outputs.
const JsonValue* values_of(const JsonValue& node, std::string_view name) {
  const JsonValue* const found = node.find(name);
  return found == nullptr || found->is(JsonValue::Kind::array) ? found : found->find("values");
}

/// The bytes of the tensors in a value: [id, storage, offset, elements, bytes of an element, device], or lists of
/// these.
Bytes bytes_in(const JsonValue& value) {
  constexpr std::size_t kMembers = 6, kElements = 3, kEach = 4;
  if (value.items.size() == kMembers && value.items.back().is(JsonValue::Kind::string)) {
    const auto elements = whole_value(value.items[kElements].text), each = whole_value(value.items[kEach].text);
    if (elements && each && *elements >= 0 && *each >= 0) return Bytes{*elements} * *each;
  }
  Bytes sum;
  for (const JsonValue& item : value.items) sum += bytes_in(item);
  return sum;
}

class ExecutionTrace {
 public:
  explicit ExecutionTrace(const std::string& file) : builder_{file} {
    builder_.rank().format = "PyTorch execution trace";
  }

  void add(const JsonValue& node) {
    RecordedTask task;
    const std::optional<std::int64_t> id = whole_of(&node, "id");
    if (!id) return builder_.not_understood("node without a whole number \"id\"");
    const std::string_view name = text_of(&node, "name");
    ++builder_.rank().counts["node"];
    task.node = *id;
    task.name = builder_.name(name);
    task.lane = builder_.thread(std::to_string(member_number(node, "tid").value_or(0)));
    if (name == "## process_group:init ##") add_groups(node);
    if (name == "record_param_comms") {
      ++builder_.rank().annotations[std::string{name}];
      if (const std::optional<RecordedTransfer> transfer = transfer_of(node)) {
        task.kind = transfer->kind == RecordedCollective::send      ? RecordedKind::send
                    : transfer->kind == RecordedCollective::receive ? RecordedKind::receive
                                                                    : RecordedKind::collective;
        task.transfer = builder_.add(*transfer);
      }
    }
    builder_.add(task);
  }

  RecordedRank take(const JsonValue& rest) {
    builder_.rank().version = text_of(&rest, "schema");
    RecordedRank rank = builder_.take();
    // Nodes are written in order of their end; ids are in order of start.
    std::ranges::stable_sort(rank.tasks, {}, &RecordedTask::node);
    return rank;
  }

 private:
  std::optional<RecordedTransfer> transfer_of(const JsonValue& node) {
    const JsonValue* const inputs = values_of(node, "inputs");
    std::string_view name = member_text(node, "collective_name"), group = member_text(node, "pg_name");
    if (inputs != nullptr && name.empty()) {  // before schema 1.1.0: among the inputs
      for (const JsonValue& each : inputs->items) {
        if (each.is(JsonValue::Kind::string)) name = each.text;
        if (each.items.size() == 2 && each.items.front().is(JsonValue::Kind::string)) group = each.items.front().text;
      }
    }
    const std::optional<RecordedCollective> kind = collective_named(name);
    if (!kind) return std::nullopt;
    RecordedTransfer transfer;
    transfer.kind = *kind;
    transfer.in = bytes_of(node, "in_msg_nelems", inputs);
    transfer.out = bytes_of(node, "out_msg_nelems", values_of(node, "outputs"));
    if (!group.empty())
      transfer.group = builder_.group(group, {}, std::max(std::int64_t{0}, member_number(node, "pg_size").value_or(0)));
    return transfer;
  }

  static std::optional<Bytes> bytes_of(const JsonValue& node, std::string_view elements, const JsonValue* tensors) {
    const auto count = member_number(node, elements), size = bytes_of_type(member_text(node, "dtype"));
    if (count && size && *count >= 0) return Bytes{*count} * *size;
    return tensors == nullptr || tensors->items.empty() ? std::nullopt : std::optional{bytes_in(*tensors)};
  }

  void add_groups(const JsonValue& node) {
    const JsonValue* const values = values_of(node, "inputs");
    if (values == nullptr || values->items.empty()) return;
    builder_.add_groups(values->items.front().text);
  }

  RecordedRankBuilder builder_;
};

}  // namespace

RecordedRank read_execution_trace(ByteSource& source, const std::string& file) {
  TidiedJson tidied{source, false};
  ExecutionTrace trace{file};
  const JsonValue rest = stream_json(tidied, file, "nodes", [&](const JsonValue& node) { trace.add(node); });
  return trace.take(rest);
}

}  // namespace contend
