#pragma once
// Bytes as text that a page can carry and a browser can unpack by itself.

#include <cstdint>
#include <string>
#include <string_view>

namespace contend {

/// RFC 1952, without a name or a time in its header.
[[nodiscard]] std::string gzip(std::string_view bytes);
/// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

/// Appends an unsigned number in groups of seven bits, the lowest first; all but the last have their top bit set.
void append_varint(std::string& out, std::uint64_t number);
/// Appends a signed number, mapped to 0, -1, 1, -2, ... -> 0, 1, 2, 3, ...
void append_signed_varint(std::string& out, std::int64_t number);

}  // namespace contend
