#pragma once
// Values of the JSON that schedulers print. Slurm writes numbers in two ways: 5, and {set: true, infinite: false,
// number: 5}; and states as a word or as a list of words.

#include "text/json_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace contend {

/// An object of a document and where it stands, for messages: `jobs[3]`.
struct JsonItem {
  const JsonValue* value;
  std::string path;
  const std::string* file;

  /// Throws InputError about the member of that name, or about the object itself.
  [[noreturn]] void fail(std::string_view name, std::string reason, std::string hint = {}) const;
  /// The text of a member; empty if it is missing or null. Throws InputError if it is no string.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// The words of a member that is a word or a list of words, in capital letters, joined by `+`.
  [[nodiscard]] std::string words(std::string_view name) const;
  /// A whole number >= 0; nothing if it is missing, null or not set. Throws InputError for anything else.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name) const;
  /// The elements of a list; none if it is missing. Throws InputError if it is no list.
  [[nodiscard]] std::vector<JsonItem> list(std::string_view name) const;
  /// A member that is an object; nothing if it is missing. Throws InputError if it is no object.
  [[nodiscard]] std::optional<JsonItem> object(std::string_view name) const;
};

/// What JsonItem::whole() gives for a number that is infinite.
inline constexpr std::int64_t kInfinite = INT64_MAX;

/// True for null, 0, false, empty texts and lists, and numbers that aren't set: values that say nothing.
[[nodiscard]] bool says_nothing(const JsonValue& value);

}  // namespace contend
