#pragma once
// Encodes bytes as text that a page can carry and a browser can decode without a library.

#include <cstdint>
#include <string>
#include <string_view>

namespace contend {

/// Compresses as RFC 1952, without name and time in the header.
[[nodiscard]] std::string gzip(std::string_view bytes);
/// Encodes as RFC 4648, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

/// A signed number as an unsigned one: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...
[[nodiscard]] std::uint64_t zigzag(std::int64_t number);
/// Appends an unsigned number in groups of seven bits, lowest first; every group but the last has its top bit set.
void append_varint(std::string& out, std::uint64_t number);
/// Appends zigzag(number).
void append_signed_varint(std::string& out, std::int64_t number);

}  // namespace contend
