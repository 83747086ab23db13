#pragma once
// JsonWriter writes JSON, with the same bytes for the same values on every machine. A double has the shortest form that
// reads back unchanged; NaN and infinity, which JSON has no numbers for, become null.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Appends `text` with quotes and escapes. Bytes that are not UTF-8 become U+FFFD, so that the result is valid.
void append_json_string(std::string& out, std::string_view text);

/// Writes one value, indented by two blanks a level or on one line. The calls must form a valid value, with key()
/// before each value of an object.
class JsonWriter {
 public:
  enum class Layout { indented, line };
  JsonWriter() = default;
  explicit JsonWriter(Layout layout) : on_one_line_{layout == Layout::line} {}

  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view{text}); }
  JsonWriter& value(const std::string& text) { return value(std::string_view{text}); }
  JsonWriter& value(double number);
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::uint64_t number);
  JsonWriter& value(int number) { return value(std::int64_t{number}); }
  JsonWriter& value(bool truth);
  JsonWriter& null();
  /// Writes text that is already JSON, e.g. a number with an exact decimal fraction.
  JsonWriter& raw(std::string_view json);
  /// A list on one line. A number that is not finite becomes null.
  JsonWriter& numbers(std::span<const double> values);

  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  /// Returns the finished text with a newline at its end. Every object and array must have ended.
  [[nodiscard]] std::string take();

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  void before_value();
  void new_line();

  std::string out_;
  std::vector<bool> has_items_;  ///< one entry for each open bracket
  bool after_key_ = false;
  bool on_one_line_ = false;
};

}  // namespace contend
