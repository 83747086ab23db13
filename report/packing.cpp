#include "report/packing.hpp"

#include "sim/check.hpp"

#include <zlib.h>

namespace contend {

std::string gzip(std::string_view bytes) {
  constexpr int kGzipHeader = 16;
  constexpr int kMemoryLevel = 9;
  // Of the page of 100,000 jobs (38.8 MB) level 6 makes 3.51 MB in 0.67 s, and the best one, 9, 3.44 MB in 2.9 s.
  constexpr int kLevel = 6;
  z_stream stream{};
  CONTEND_CHECK(
      ::deflateInit2(&stream, kLevel, Z_DEFLATED, MAX_WBITS + kGzipHeader, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK,
      "zlib has memory");
  std::string out(::deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  CONTEND_CHECK(bytes.size() <= UINT32_MAX && out.size() <= UINT32_MAX, "the data of a page fit into 4 GiB");
  // zlib only reads the input, but says so in its type only where ZLIB_CONST is defined.
  std::string input{bytes};
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CONTEND_CHECK(::deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflateBound leaves room for all");
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) : 0U;
  };
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    out += kDigits[group >> 18U];
    out += kDigits[group >> 12U & 63U];
    out += i + 1 < bytes.size() ? kDigits[group >> 6U & 63U] : '=';
    out += i + 2 < bytes.size() ? kDigits[group & 63U] : '=';
  }
  return out;
}

void append_varint(std::string& out, std::uint64_t number) {
  while (number >= 128) {
    out += static_cast<char>(number % 128 + 128);
    number /= 128;
  }
  out += static_cast<char>(number);
}

std::uint64_t zigzag(std::int64_t number) {
  return number >= 0 ? 2 * static_cast<std::uint64_t>(number) : 2 * (static_cast<std::uint64_t>(-(number + 1))) + 1;
}

void append_signed_varint(std::string& out, std::int64_t number) {
  append_varint(out, zigzag(number));
}

}  // namespace contend
