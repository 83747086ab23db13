#pragma once
// Reading JSON (RFC 8259), strictly: no comments, no NaN, no text behind the document, at most 64 levels deep. Every
// value knows its place, so that a reader can point at what it does not understand.

#include "text/byte_source.hpp"
#include "text/file_complaints.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  std::string text;                ///< of a string, decoded; the digits of a number, for exact reading
  std::vector<std::string> names;  ///< of the members of an object, in order of the file; as many as items
  std::vector<JsonValue> items;    ///< elements of an array, values of an object
  TextPlace place;                 ///< where the value begins

  [[nodiscard]] bool is(Kind wanted) const { return kind == wanted; }
  /// The first member of that name, or nullptr if there is none or this is no object.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
  /// How many members have that name.
  [[nodiscard]] std::size_t count(std::string_view name) const;
};

/// `an array`, `a string`, ... for messages.
[[nodiscard]] std::string_view kind_name(JsonValue::Kind kind);

/// The whole document. Throws InputError, also for a name that appears twice in an object. `file` is for messages.
[[nodiscard]] JsonValue read_json(ByteSource& source, const std::string& file);

/// A document too large for memory: an object that holds a long array under the name `array`. Each element of it is
/// handed to `element` and forgotten. Returns the document with that array empty. A name may appear twice within an
/// element; the caller sees both. Throws InputError, also if there is no such array.
[[nodiscard]] JsonValue stream_json(ByteSource& source, const std::string& file, std::string_view array,
                                    const std::function<void(const JsonValue&)>& element);

/// The same for a document that is one long array.
void stream_json_array(ByteSource& source, const std::string& file,
                       const std::function<void(const JsonValue&)>& element);

}  // namespace contend
