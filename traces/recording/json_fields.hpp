#pragma once
// Members of JSON objects as recordings have them: whole numbers come as numbers, texts or with a fraction, and any
// member may be missing.

#include "sim/units.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace contend {

/// The text of a string or the digits of a number; empty if there is no such member.
[[nodiscard]] std::string_view text_of(const JsonValue* object, std::string_view name);

/// A whole number of up to 64 bits with a sign, also with a fraction or an exponent; nothing for anything else.
[[nodiscard]] std::optional<std::int64_t> whole_value(std::string_view text);

/// The same of a member that is a number or a text.
[[nodiscard]] std::optional<std::int64_t> whole_of(const JsonValue* object, std::string_view name);

/// A number of microseconds, exact to the nanosecond; nothing if it is missing, negative or beyond 146 years.
[[nodiscard]] std::optional<Time> microseconds_of(const JsonValue& object, std::string_view name);

/// The numbers in a text such as `[0, 1, 2]`; nothing if it is cut, as PyTorch cuts long lists (`[0, 1, ...`).
[[nodiscard]] std::optional<std::vector<std::int64_t>> listed_numbers(std::string_view text);

/// What other programs write as JSON, made JSON: NaN and infinities become null, and values one after the other become
/// the elements of an array. The other source must outlive this one.
class TidiedJson final : public ByteSource {
 public:
  /// `several`: the source may hold several values.
  TidiedJson(ByteSource& source, bool several) : source_{source}, several_{several} {}
  [[nodiscard]] std::size_t read(char* buffer, std::size_t size) override;

 private:
  void take(char c);
  void end_word();
  void begin_value();
  void finish();

  ByteSource& source_;
  bool several_;
  std::string ready_;  ///< from at_ on to be handed out
  std::size_t at_ = 0;
  std::string word_;  ///< a number, true, false, null or NaN that may go on
  int depth_ = 0;
  std::int64_t values_ = 0;  ///< at the outermost level
  bool in_string_ = false;
  bool escaped_ = false;
  bool ended_ = false;
};

}  // namespace contend
