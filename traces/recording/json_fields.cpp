#include "traces/recording/json_fields.hpp"

#include "text/decimal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace contend {

std::string_view text_of(const JsonValue* object, std::string_view name) {
  const JsonValue* const member = object == nullptr ? nullptr : object->find(name);
  return member == nullptr ? std::string_view{} : std::string_view{member->text};
}

std::optional<std::int64_t> whole_value(std::string_view text) {
  std::int64_t read = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error == std::errc{} && stop == text.data() + text.size()) return read;
  const ScaledDecimal number = parse_scaled(text, 0);
  return number.error == DecimalError::none ? std::optional{number.value} : std::nullopt;
}

std::optional<std::int64_t> whole_of(const JsonValue* object, std::string_view name) {
  const std::string_view text = text_of(object, name);
  return text.empty() ? std::nullopt : whole_value(text);
}

std::optional<Time> microseconds_of(const JsonValue& object, std::string_view name) {
  constexpr int kNanoseconds = 3;
  constexpr std::int64_t kLatest = std::int64_t{1} << 62;  // a sum of two stays within 64 bits
  const std::string_view text = text_of(&object, name);
  if (text.empty()) return std::nullopt;
  const ScaledDecimal number = parse_scaled(text, kNanoseconds);
  if (number.error != DecimalError::none || number.value < 0 || number.value >= kLatest) return std::nullopt;
  return Time::nanoseconds(number.value);
}

std::optional<std::vector<std::int64_t>> listed_numbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    if (*at == '.') return std::nullopt;
    if (!is_digit(*at) && *at != '-') {
      ++at;
      continue;
    }
    const auto [stop, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc{}) return std::nullopt;
    at = stop;
  }
  return numbers;
}

std::size_t TidiedJson::read(char* buffer, std::size_t size) {
  while (at_ == ready_.size() && !ended_) {
    ready_.clear();
    at_ = 0;
    std::array<char, std::size_t{1} << 16> raw;
    const std::size_t count = source_.read(raw.data(), raw.size());
    for (std::size_t i = 0; i < count; ++i) take(raw[i]);
    if (count == 0) finish();
  }
  const std::size_t count = ready_.copy(buffer, size, at_);
  at_ += count;
  return count;
}

void TidiedJson::take(char c) {
  if (in_string_) {
    in_string_ = escaped_ || c != '"';
    escaped_ = !escaped_ && c == '\\';
    ready_ += c;
    return;
  }
  const bool in_word =
      is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
  if (in_word) {
    if (word_.empty()) begin_value();
    word_ += c;
    return;
  }
  end_word();
  if (c == '"' || c == '{' || c == '[') begin_value();
  in_string_ = c == '"';
  depth_ += static_cast<int>(c == '{' || c == '[') - static_cast<int>(c == '}' || c == ']');
  ready_ += c;
}

void TidiedJson::end_word() {
  const bool not_finite = word_ == "NaN" || word_ == "Infinity" || word_ == "-Infinity";
  ready_ += not_finite ? "null" : word_;
  word_.clear();
}

void TidiedJson::begin_value() {
  if (several_ && depth_ == 0) ready_ += values_++ == 0 ? '[' : ',';
}

void TidiedJson::finish() {
  end_word();
  if (several_) ready_ += values_ == 0 ? "[]" : "]";
  ended_ = true;
}

}  // namespace contend
