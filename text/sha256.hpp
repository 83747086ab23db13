#pragma once
// Computes SHA-256 (FIPS 180-4), by which the manifest identifies input files.

#include <string>
#include <string_view>

namespace contend {

/// The digest of the bytes as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace contend
