#pragma once
// The wire format of Protocol Buffers (protobuf.dev/programming-guides/encoding), as far as reading needs it: varints,
// fixed and length-delimited fields. Bytes are read where they lie.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace contend {

/// A field of a message: its number, and a number or bytes.
struct WireField {
  enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint32_t number = 0;
  Type type = Type::varint;
  std::uint64_t value = 0;  ///< unless it is bytes
  std::string_view bytes;
};

/// The fields of a message, one by one. At damaged bytes it stops, and damage() says where and why.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : message_{message} {}
  /// The next field; nothing at the end and at damage.
  [[nodiscard]] std::optional<WireField> next();
  /// The next varint, for packed lists; nothing at the end and at damage.
  [[nodiscard]] std::optional<std::uint64_t> varint();
  [[nodiscard]] std::size_t at() const { return at_; }
  /// What is wrong with the bytes at at(); empty if nothing is.
  [[nodiscard]] std::string_view damage() const { return damage_; }

 private:
  [[nodiscard]] std::optional<std::uint64_t> fixed(std::size_t size);

  std::string_view message_;
  std::size_t at_ = 0;
  std::string_view damage_;
};

}  // namespace contend
