#include "validate/schedulers/tar_member.hpp"

#include "sim/error.hpp"
#include "text/byte_source.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <fmt/core.h>

namespace contend {

namespace {

// POSIX.1-1988 ustar: blocks of 512 bytes; a header holds the name at 0 and the size, in octal, at 124.
constexpr std::size_t kBlock = 512;
constexpr std::size_t kNameSize = 100;
constexpr std::size_t kSizeOffset = 124;
constexpr std::size_t kSizeSize = 12;

std::string_view text_field(std::string_view header, std::size_t offset, std::size_t size) {
  const std::string_view field = header.substr(offset, size);
  return field.substr(0, field.find('\0'));
}

}  // namespace

std::string read_tar_member(ByteSource& archive, std::string_view file, std::string_view member) {
  const std::string text = read_all(archive);
  std::string_view rest{text};
  while (rest.size() >= kBlock && rest.front() != '\0') {
    const std::string_view name = text_field(rest, 0, kNameSize);
    std::string_view octal = text_field(rest, kSizeOffset, kSizeSize);
    octal = octal.substr(0, octal.find(' '));
    std::size_t size = 0;
    const auto [stop, error] = std::from_chars(octal.data(), octal.data() + octal.size(), size, 8);
    rest.remove_prefix(kBlock);
    if (error != std::errc{} || stop != octal.data() + octal.size() || size > rest.size()) {
      throw InputError{fmt::format("{}: not a tar archive, or damaged", file)};
    }
    if (name == member) return std::string{rest.substr(0, size)};
    rest.remove_prefix(std::min(rest.size(), (size + kBlock - 1) / kBlock * kBlock));
  }
  throw InputError{fmt::format("{}: the archive has no member \"{}\"", file, member)};
}

}  // namespace contend
