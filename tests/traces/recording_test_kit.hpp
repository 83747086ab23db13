#pragma once
// Recordings written by hand: events of a profile, and messages of Chakra as they are on the wire.

#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "traces/recording/recording_reader.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace contend::recorded {

inline RecordedRank read(std::string_view text, const std::string& file = "test") {
  TextSource source{text};
  return read_recorded_rank(source, file);
}

/// The message with which a text is refused; empty if it isn't.
inline std::string refusal(std::string_view text) {
  try {
    static_cast<void>(read(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

inline std::string profile(std::initializer_list<std::string> events) {
  std::string text = R"({"schemaVersion":1,"traceEvents":[)";
  for (const std::string& each : events) text += (text.ends_with('[') ? "" : ",") + each;
  return text + "]}";
}

/// An event with times as decimal text, in us.
inline std::string event(std::string_view category, std::string_view name, std::string_view start,
                         std::string_view duration, std::string_view args) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","ts":{},"dur":{},"pid":0,"tid":7,"args":{{{}}}}})", category,
                     name, start, duration, args);
}

inline std::string on_stream(int stream, std::string_view more = {}) {
  return fmt::format(R"("device":0,"stream":{}{}{})", stream, more.empty() ? "" : ",", more);
}

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7f; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
  return bytes + static_cast<char>(value);
}
inline std::string field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3U) + varint(value);
}
inline std::string field(std::uint64_t number, std::string_view bytes) {
  return varint(number << 3U | 2U) + varint(bytes.size()) + std::string{bytes};
}
inline std::string message(const std::string& bytes) {
  return varint(bytes.size()) + bytes;
}
inline std::string number(std::string_view name, std::uint64_t value, std::uint64_t type = 9) {
  return field(10, field(1, name) + field(type, value));
}
inline std::string text(std::string_view name, std::string_view value) {
  return field(10, field(1, name) + field(29, value));
}

struct HandNode {
  std::uint64_t id = 0, type = 4, us = 0;
  std::string more{};
  std::initializer_list<std::uint64_t> needs{};
};

/// A node as a message.
inline std::string node(const HandNode& each) {
  std::string needs;
  for (const std::uint64_t need : each.needs) needs += varint(need);
  return message(field(1, each.id) + field(2, fmt::format("n{}", each.id)) + field(3, each.type) +
                 (needs.empty() ? "" : field(5, needs)) + field(7, each.us) + number("is_cpu_op", 0, 27) + each.more);
}

inline std::string metadata() {
  return message(field(1, "0.0.4"));
}

/// The node that lists one process group.
inline std::string group(std::string_view name, std::string_view ranks) {
  return message(field(1, 100) + field(2, "## process_group:init ##") + field(3, 1) +
                 field(8, field(1, fmt::format(R"(["[{{\"pg_name\": \"{}\", \"ranks\": {}, \"group_size\": 0}}]"])",
                                               name, ranks))));
}

inline std::string collective(std::uint64_t kind, std::uint64_t bytes, std::string_view of = "0") {
  return number("comm_type", kind) + number("comm_size", bytes) + text("pg_name", of);
}

}  // namespace contend::recorded
