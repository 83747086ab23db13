#include "traces/recording/chakra.hpp"

#include "text/json_reader.hpp"
#include "traces/recording/chakra_nodes.hpp"
#include "traces/recording/json_fields.hpp"
#include "traces/recording/wire_reader.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// Messages with their lengths before them.
class Messages {
 public:
  Messages(ByteSource& source, const std::string& file) : source_{source}, file_{file} {}

  /// The next message, which lasts until the call after; nothing at the end of the file, or at a length of 0 that is
  /// followed by nothing but further ones, as the reference reader ends there.
  std::optional<std::string_view> next() {
    at_ += size_;
    const std::optional<std::uint64_t> size = length();
    if (!size) return std::nullopt;
    ++number_;
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 31;  // of any message of Protocol Buffers
    if (*size >= kLongest) fail(fmt::format("a message of {} bytes; Protocol Buffers end below 2 GiB", *size));
    size_ = static_cast<std::size_t>(*size);
    while (filled() < size_ && fill()) continue;
    if (filled() < size_) fail(fmt::format("the file ends within a message: {} of {} bytes", filled(), size_));
    return std::string_view{buffer_}.substr(at_, size_);
  }
  [[nodiscard]] std::int64_t number() const { return number_; }
  /// `message 3 at offset 70`, where its first byte is.
  [[nodiscard]] std::string place() const {
    return fmt::format("message {} at offset {}", number_, dropped_ + static_cast<std::int64_t>(at_));
  }
  [[noreturn]] void fail(const std::string& reason) const {
    throw InputError{Complaint{.file = file_, .reason = fmt::format("{}: {}", place(), reason)}};
  }

 private:
  [[nodiscard]] std::size_t filled() const { return buffer_.size() - at_; }

  std::optional<std::uint64_t> length() {
    constexpr std::size_t kLongestNumber = 10;
    size_ = 0;
    while (filled() < kLongestNumber && fill()) continue;
    if (filled() == 0) return std::nullopt;
    WireReader reader{std::string_view{buffer_}.substr(at_)};
    const std::optional<std::uint64_t> size = reader.varint();
    if (!size) {
      ++number_;
      fail(fmt::format("its length is {}", reader.damage()));
    }
    at_ += reader.at();
    return size;
  }

  /// More bytes behind those that are left; false at the end of the file.
  bool fill() {
    constexpr std::size_t kAtOnce = std::size_t{1} << 18;
    dropped_ += static_cast<std::int64_t>(at_);
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kAtOnce);
    buffer_.resize(had + source_.read(buffer_.data() + had, kAtOnce));
    return buffer_.size() > had;
  }

  ByteSource& source_;
  const std::string& file_;
  std::string buffer_;
  std::size_t at_ = 0;    ///< of the message in the buffer
  std::size_t size_ = 0;  ///< of the message
  std::int64_t dropped_ = 0;
  std::int64_t number_ = -1;
};

// Numbers of fields, of et_def.proto.
enum NodeField : std::uint32_t {
  kId = 1,
  kName = 2,
  kType = 3,
  kData = 5,
  kDuration = 7,
  kInputs = 8,
  kAttribute = 10
};
constexpr std::uint32_t kVersion = 1, kMetadataAttribute = 2, kAttributeName = 1, kInputValues = 1;
constexpr std::uint32_t kSigned32 = 15, kSigned64 = 17, kFixedSigned32 = 23, kText = 29;

void need_intact(const WireReader& reader, const Messages& messages) {
  if (!reader.damage().empty()) messages.fail(fmt::format("{} at its byte {}", reader.damage(), reader.at()));
}

std::int64_t attribute_number(const WireField& field) {
  if (field.number == kSigned32 || field.number == kSigned64)  // zigzag: 0, -1, 1, -2
    return static_cast<std::int64_t>((field.value >> 1U) ^ (~(field.value & 1U) + 1));
  if (field.number == kFixedSigned32) return static_cast<std::int32_t>(field.value);
  return std::bit_cast<std::int64_t>(field.value);
}

struct WireAttribute {
  std::string_view name, text;
  std::optional<std::int64_t> number;
};

WireAttribute read_attribute(std::string_view bytes, const Messages& messages) {
  WireAttribute attribute;
  WireReader reader{bytes};
  while (const std::optional<WireField> field = reader.next()) {
    if (field->number == kAttributeName)
      attribute.name = field->bytes;
    else if (field->number == kText)
      attribute.text = field->bytes;
    else if (field->number > kAttributeName + 1 && field->type != WireField::Type::bytes)
      attribute.number = attribute_number(*field);
  }
  need_intact(reader, messages);
  return attribute;
}

void take_attribute(std::string_view bytes, const Messages& messages, ChakraNode& node) {
  const WireAttribute attribute = read_attribute(bytes, messages);
  if (attribute.number)
    node.set(attribute.name, *attribute.number);
  else
    node.set(attribute.name, attribute.text);
}

void take_needs(const WireField& field, const Messages& messages, ChakraNode& node) {
  if (field.type != WireField::Type::bytes) return node.data_needs.push_back(field.value);
  WireReader packed{field.bytes};
  while (const std::optional<std::uint64_t> id = packed.varint()) node.data_needs.push_back(*id);
  need_intact(packed, messages);
}

void read_node(std::string_view message, const Messages& messages, ChakraNode& node) {
  WireReader reader{message};
  while (const std::optional<WireField> field = reader.next()) {
    switch (field->number) {
      case kId:
        node.id = field->value;
        break;
      case kName:
        node.name = field->bytes;
        break;
      case kType:
        node.type = field->value;
        break;
      case kData:
        take_needs(*field, messages, node);
        break;
      case kDuration:
        node.duration_us = field->value;
        break;
      case kInputs:
        for (WireReader inputs{field->bytes}; const std::optional<WireField> each = inputs.next();)
          if (each->number == kInputValues) node.values = each->bytes;
        break;
      case kAttribute:
        take_attribute(field->bytes, messages, node);
        break;
      default:  // times of start, which no converter writes, call tree, outputs
        break;
    }
  }
  need_intact(reader, messages);
}

void read_metadata(std::string_view message, const Messages& messages, RecordedRank& rank) {
  WireReader reader{message};
  while (const std::optional<WireField> field = reader.next()) {
    if (field->number == kVersion) rank.version = field->bytes;
    if (field->number != kMetadataAttribute || !rank.version.empty()) continue;
    if (const WireAttribute attribute = read_attribute(field->bytes, messages); attribute.name == "schema")
      rank.version = fmt::format("{} of PyTorch", attribute.text);
  }
  need_intact(reader, messages);
}

/// The first of these members that the object has.
const JsonValue* any_of(const JsonValue& object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const JsonValue* const found = object.find(name)) return found;
  return nullptr;
}

std::optional<std::int64_t> whole(const JsonValue* value) {
  if (value == nullptr || value->text.empty()) return std::nullopt;
  return whole_value(value->text);
}

constexpr std::string_view kCollectiveWords[] = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

/// A number, or one of these words.
template <std::size_t size>
std::optional<std::int64_t> number_or_word(const JsonValue* value, const std::string_view (&words)[size]) {
  if (value == nullptr) return std::nullopt;
  const auto* const word = std::ranges::find(words, value->text);
  return word == std::end(words) ? whole(value) : std::optional{static_cast<std::int64_t>(word - std::begin(words))};
}

void take_json_attribute(const JsonValue& attribute, ChakraNode& node) {
  const std::string_view name = text_of(&attribute, "name");
  for (std::size_t i = 0; i < attribute.items.size(); ++i) {
    const std::string& member = attribute.names[i];
    if (member == "name" || member == "docString" || member == "doc_string") continue;
    const JsonValue& value = attribute.items[i];
    if (value.is(JsonValue::Kind::boolean))
      node.set(name, std::int64_t{value.boolean});
    else if (name == "comm_type" && number_or_word(&value, kCollectiveWords))
      node.set(name, *number_or_word(&value, kCollectiveWords));
    else if (const auto number = whole(&value); number && member != "stringVal" && member != "string_val")
      node.set(name, *number);
    else
      node.set(name, std::string_view{value.text});
  }
}

/// A node of any of the forms as JSON.
void add_json_node(const JsonValue& object, const std::string& file, ChakraNodes& nodes) {
  ChakraNode node;
  const JsonValue* const name = any_of(object, {"name", "Name"});
  if (name != nullptr) node.name = name->text;
  node.id = static_cast<std::uint64_t>(whole(any_of(object, {"id", "Id"})).value_or(0));
  node.type =
      static_cast<std::uint64_t>(number_or_word(any_of(object, {"type", "NodeType"}), kChakraTypeWords).value_or(0));
  const auto duration = whole(any_of(object, {"durationMicros", "duration_micros", "runtime"}));
  node.duration_us = static_cast<std::uint64_t>(duration.value_or(0));
  if (const JsonValue* const needs = any_of(object, {"dataDeps", "data_deps"}))
    for (const JsonValue& each : needs->items) {
      const auto id = whole(&each);
      if (!id)
        throw InputError{Complaint{.file = file,
                                   .line = each.place.line,
                                   .reason = fmt::format("node {}: a dependency is no number of a node", node.id)}};
      node.data_needs.push_back(static_cast<std::uint64_t>(*id));
    }
  if (const JsonValue* const on_host = object.find("is_cpu_op")) node.on_host = on_host->boolean;
  const std::string_view values = text_of(object.find("inputs"), "values");
  node.values = values;
  if (const JsonValue* const attributes = object.find("attr"))
    for (const JsonValue& each : attributes->items) take_json_attribute(each, node);
  nodes.add(node, [&] { return fmt::format("the node in line {}", object.place.line); });
}

}  // namespace

RecordedRank read_chakra(ByteSource& source, const std::string& file) {
  Messages messages{source, file};
  ChakraNodes nodes{file};
  ChakraNode node;
  bool ended = false;
  while (const std::optional<std::string_view> message = messages.next()) {
    if (messages.number() == 0) {
      read_metadata(*message, messages, nodes.rank());
    } else if (ended || message->empty()) {  // the reference reader ends at a length of 0
      if (ended) ++nodes.rank().not_understood["message behind one of 0 bytes, which ends the file"];
      ended = true;
    } else {
      std::vector<std::uint64_t> needs = std::move(node.data_needs);
      needs.clear();
      node = ChakraNode{};
      node.data_needs = std::move(needs);
      read_node(*message, messages, node);
      nodes.add(node, [&] { return messages.place(); });
    }
  }
  if (messages.number() < 0) throw InputError{Complaint{.file = file, .reason = "an empty file"}};
  return nodes.take();
}

RecordedRank read_chakra_graph(ByteSource& source, const std::string& file) {
  TidiedJson tidied{source, false};
  ChakraNodes nodes{file};
  static_cast<void>(stream_json(tidied, file, "workload_graph",
                                [&](const JsonValue& object) { add_json_node(object, file, nodes); }));
  return nodes.take();
}

RecordedRank read_chakra_messages(ByteSource& source, const std::string& file) {
  TidiedJson tidied{source, true};
  ChakraNodes nodes{file};
  const auto add = [&](const JsonValue& object) {
    if (object.find("id") != nullptr || object.find("type") != nullptr)
      add_json_node(object, file, nodes);
    else
      nodes.rank().version = text_of(&object, "version");
  };
  stream_json_array(tidied, file, add);
  RecordedRank rank = nodes.take();
  if (rank.tasks.empty())
    throw InputError{
        Complaint{.file = file, .reason = "there are neither events of a profile nor nodes of a trace in it"}};
  return rank;
}

}  // namespace contend
