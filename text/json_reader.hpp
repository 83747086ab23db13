#pragma once
// Reads JSON (RFC 8259) strictly: no comments, no NaN, no text after the document, at most 64 levels of nesting. Every
// value keeps its place in the file, so that complaints can point at it.

#include "text/byte_source.hpp"
#include "text/file_complaints.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A value of a document with the values in it.
struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  std::string text;                ///< of a string, decoded; the digits of a number, for exact reading
  std::vector<std::string> names;  ///< of the members of an object, in order of the file; as many as items
  std::vector<JsonValue> items;    ///< elements of an array, values of an object
  TextPlace place;                 ///< where the value begins

  [[nodiscard]] bool is(Kind wanted) const { return kind == wanted; }
  /// The first member of that name; nullptr if there is none or this is not an object.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
  /// The number of members with that name.
  [[nodiscard]] std::size_t count(std::string_view name) const;
  /// A whole number >= 0 of up to 64 bits; nothing for any other value.
  [[nodiscard]] std::optional<std::uint64_t> whole() const;
};

/// The kind with its article, such as `an array`, for messages.
[[nodiscard]] std::string_view kind_name(JsonValue::Kind kind);

/// Reads a whole document. Throws InputError if it is invalid or a name appears twice in an object. `file` is the name
/// for messages.
[[nodiscard]] JsonValue read_json(ByteSource& source, const std::string& file);

/// Reads a document too large for memory: an object with a long array under the name `array`. Calls `element` with each
/// element of the array and then drops it. Returns the document with that array empty. A name may appear twice within
/// an element; the caller sees both. Throws InputError if the document is invalid or has no such array.
[[nodiscard]] JsonValue stream_json(ByteSource& source, const std::string& file, std::string_view array,
                                    const std::function<void(const JsonValue&)>& element);

/// Does the same for a document that is one long array.
void stream_json_array(ByteSource& source, const std::string& file,
                       const std::function<void(const JsonValue&)>& element);

}  // namespace contend
