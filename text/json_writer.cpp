#include "text/json_writer.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// Length of the valid UTF-8 sequence at the start of `text`, or 0. Rejects overlong forms and surrogates.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xC2 && byte(0) < 0xE0) return continues(1) ? 2 : 0;
  if (byte(0) >= 0xE0 && byte(0) < 0xF0) {
    if (!continues(1) || !continues(2)) return 0;
    const bool overlong = byte(0) == 0xE0 && byte(1) < 0xA0, surrogate = byte(0) == 0xED && byte(1) >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (byte(0) >= 0xF0 && byte(0) < 0xF5) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    const bool overlong = byte(0) == 0xF0 && byte(1) < 0x90, beyond = byte(0) == 0xF4 && byte(1) >= 0x90;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  // Most texts have nothing else.
  const auto is_plain = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
  };
  out += '"';
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text.front();
    std::size_t length = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else if (length = utf8_length(text); length > 0) {
      out += text.substr(0, length);
    } else {
      out += "\xEF\xBF\xBD";
      length = 1;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

JsonWriter& JsonWriter::key(std::string_view name) {
  CONTEND_CHECK(!has_items_.empty() && !after_key_, "a key belongs into an object");
  before_value();
  append_json_string(out_, name);
  out_ += on_one_line_ ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  append_json_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  return std::isfinite(number) ? raw(fmt::format("{}", number)) : null();
}
JsonWriter& JsonWriter::value(std::int64_t number) {
  return raw(fmt::format("{}", number));
}
JsonWriter& JsonWriter::value(std::uint64_t number) {
  return raw(fmt::format("{}", number));
}
JsonWriter& JsonWriter::value(bool truth) {
  return raw(truth ? "true" : "false");
}
JsonWriter& JsonWriter::null() {
  return raw("null");
}

JsonWriter& JsonWriter::numbers(std::span<const double> values) {
  std::string list = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) list += ',';
    list += std::isfinite(values[i]) ? fmt::format("{}", values[i]) : "null";
  }
  return raw(list + "]");
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  out_ += json;
  return *this;
}

std::string JsonWriter::take() {
  CONTEND_CHECK(has_items_.empty(), "a JSON value is not finished");
  out_ += '\n';
  return std::exchange(out_, {});
}

JsonWriter& JsonWriter::begin(char bracket) {
  before_value();
  out_ += bracket;
  has_items_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  CONTEND_CHECK(!has_items_.empty() && !after_key_, "a bracket closes that was not opened");
  const bool had_items = has_items_.back();
  has_items_.pop_back();
  if (had_items) new_line();
  out_ += bracket;
  return *this;
}

void JsonWriter::before_value() {
  if (std::exchange(after_key_, false) || has_items_.empty()) return;
  if (has_items_.back()) out_ += ',';
  has_items_.back() = true;
  new_line();
}

void JsonWriter::new_line() {
  if (on_one_line_) return;
  out_ += '\n';
  out_.append(2 * has_items_.size(), ' ');
}

}  // namespace contend
