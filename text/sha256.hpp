#pragma once
// Computes SHA-256 (FIPS 180-4), by which the manifest identifies input files.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace contend {

/// The digest of bytes that come piece by piece.
class Sha256 {
 public:
  void update(std::string_view bytes);
  /// Of all bytes so far, as 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::uint64_t bytes_ = 0;
  std::string rest_;  // less than a block
};

/// The digest of the bytes as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace contend
