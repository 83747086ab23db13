#include "text/byte_source.hpp"

#include "sim/check.hpp"
#include "sim/complaints.hpp"
#include "text/atomic_file.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

namespace contend {
namespace {

constexpr std::size_t kGzipBuffer = std::size_t{1} << 17;
constexpr const char* kLimitVariable = "CONTEND_MAX_INFLATED";
constexpr Bytes kInflateLimit{std::int64_t{4} << 30};

class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::string& path) : path_{path} {
    if (const std::string reason = why_no_input_file(path); !reason.empty())
      throw_file_error(path, "can't be read: " + reason, 0);
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) throw_file_error(path, "can't be read", errno);
  }
  ~FileBytes() override { ::close(file_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    ssize_t count = 0;
    do count = ::read(file_, buffer, size);
    while (count < 0 && errno == EINTR);
    if (count < 0) throw_file_error(path_, "can't be read", errno);
    return static_cast<std::size_t>(count);
  }

 private:
  std::string path_;
  int file_ = -1;
};

class InflatedSource final : public ByteSource {
 public:
  InflatedSource(ByteSource& packed, std::string name, Bytes limit)
      : packed_{packed}, name_{std::move(name)}, limit_{limit} {
    constexpr int kGzipOnly = 16;
    CONTEND_CHECK(::inflateInit2(&zlib_, MAX_WBITS + kGzipOnly) == Z_OK, "zlib starts");
  }
  ~InflatedSource() override { ::inflateEnd(&zlib_); }
  InflatedSource(const InflatedSource&) = delete;
  InflatedSource& operator=(const InflatedSource&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    if (part_ == Part::beginning) begin();
    if (part_ == Part::plain) return read_plain(buffer, size);
    while (part_ == Part::member) {
      if (const std::size_t count = inflate(buffer, size); count > 0) return count;
    }
    return 0;
  }

 private:
  enum class Part : std::uint8_t { beginning, plain, member, end };

  /// More bytes behind those that are left of the input; false at the end.
  bool refill() {
    input_.erase(0, std::exchange(at_, 0));
    const std::size_t left = input_.size();
    input_.resize(kGzipBuffer);
    input_.resize(left + packed_.read(input_.data() + left, kGzipBuffer - left));
    return input_.size() > left;
  }

  [[nodiscard]] bool at_member() {
    while (input_.size() - at_ < 2 && refill()) continue;
    return input_.compare(at_, 2, "\x1f\x8b") == 0;
  }

  void begin() { part_ = at_member() ? Part::member : Part::plain; }

  std::size_t read_plain(char* buffer, std::size_t size) {
    if (at_ == input_.size()) return packed_.read(buffer, size);
    const std::size_t count = input_.copy(buffer, size, at_);
    at_ += count;
    return count;
  }

  /// Some of a member; 0: nothing yet, or its end.
  std::size_t inflate(char* buffer, std::size_t size) {
    if (at_ == input_.size() && !refill()) throw_file_error(name_, "the file ends within its compressed data", 0);
    const auto available = static_cast<unsigned>(input_.size() - at_);
    const auto wanted = static_cast<unsigned>(std::min<std::size_t>(size, INT_MAX));
    zlib_.next_in = reinterpret_cast<Bytef*>(input_.data() + at_);
    zlib_.avail_in = available;
    zlib_.next_out = reinterpret_cast<Bytef*>(buffer);
    zlib_.avail_out = wanted;
    const int state = ::inflate(&zlib_, Z_NO_FLUSH);
    at_ += available - zlib_.avail_in;
    if (state == Z_STREAM_END)
      end_member();
    else if (state != Z_OK && state != Z_BUF_ERROR)
      throw_file_error(name_, fmt::format("damaged gzip data: {}", zlib_.msg != nullptr ? zlib_.msg : "no header"), 0);
    inflated_ += Bytes{wanted - zlib_.avail_out};
    if (inflated_ > limit_)
      throw_file_error(name_,
                       fmt::format("inflates to more than {0}, the limit for compressed files; decompress it first, or "
                                   "raise the limit: it is the environment variable {1}, which is {0} now",
                                   print_quantity(limit_), kLimitVariable),
                       0);
    return wanted - zlib_.avail_out;
  }

  void end_member() {
    ::inflateReset(&zlib_);
    if (at_member()) return;
    part_ = Part::end;
    do at_ = input_.size();
    while (refill());
  }

  ByteSource& packed_;
  std::string name_;
  Bytes limit_;
  Bytes inflated_;
  z_stream zlib_{};
  Part part_ = Part::beginning;
  std::string input_;  // from at_ on still to be read
  std::size_t at_ = 0;
};

/// A file and what inflates it.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : bytes_{path}, text_{bytes_, path, inflate_limit()} {}
  std::size_t read(char* buffer, std::size_t size) override { return text_.read(buffer, size); }

 private:
  FileBytes bytes_;
  InflatedSource text_;
};

/// The caller opened it before the program began, so that opening it again waits for nobody.
bool is_open_already(std::string_view path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

}  // namespace

std::string why_no_input_file(const std::string& path) {
  std::error_code ignored;
  switch (std::filesystem::status(path, ignored).type()) {
    case std::filesystem::file_type::directory:
      return "it is a folder";
    case std::filesystem::file_type::fifo:
      if (is_open_already(path)) return {};
      return "it is a named pipe, expected a file; `contend ... /dev/stdin <PIPE` reads from a pipe";
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::block:
      return "it is a device, expected a file";
    default:
      return {};
  }
}

Bytes inflate_limit() {
  const char* const text = std::getenv(kLimitVariable);
  if (text == nullptr || *text == '\0') return kInflateLimit;
  const Parsed<Bytes> limit = parse_quantity<Bytes>(text);
  if (!limit.value)
    throw InputError{{.key = kLimitVariable,
                      .reason = fmt::format("expected {}, got \"{}\"", limit.expected, text),
                      .hint = limit.hint}};
  return *limit.value;
}

std::unique_ptr<ByteSource> open_file(const std::string& path) {
  return std::make_unique<FileSource>(path);
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  return std::make_unique<FileBytes>(path);
}

std::unique_ptr<ByteSource> inflated(ByteSource& packed, const std::string& name, Bytes limit) {
  return std::make_unique<InflatedSource>(packed, name, limit);
}

std::size_t HashedSource::read(char* buffer, std::size_t size) {
  const std::size_t count = source_.read(buffer, size);
  digest_.update({buffer, count});
  return count;
}

std::size_t read_at_line(ByteSource& source, char* buffer, std::size_t size, int line) {
  try {
    return source.read(buffer, size);
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) {
      if (each.line == 0) each.line = line;
    });
  }
}

std::string read_all(ByteSource& source) {
  std::string text;
  std::array<char, std::size_t{1} << 16> buffer{};
  while (const std::size_t count = source.read(buffer.data(), buffer.size())) text.append(buffer.data(), count);
  return text;
}

std::size_t TextSource::read(char* buffer, std::size_t size) {
  const std::size_t count = rest_.copy(buffer, size);
  rest_.remove_prefix(count);
  return count;
}

PeekedSource::PeekedSource(ByteSource& rest) : rest_{rest} {
  head_.resize(kHead);
  std::size_t filled = 0;
  try {
    for (std::size_t count = 1; count > 0 && filled < kHead; filled += count)
      count = rest.read(head_.data() + filled, kHead - filled);
  } catch (const InputError&) {
    if (filled == 0) throw;
    error_ = std::current_exception();
  }
  head_.resize(filled);
}

std::size_t PeekedSource::read(char* buffer, std::size_t size) {
  if (at_ == head_.size()) {
    if (error_) std::rethrow_exception(error_);
    return rest_.read(buffer, size);
  }
  const std::size_t count = head_.copy(buffer, size, at_);
  at_ += count;
  return count;
}

void refuse_wrapped(std::string_view head, const std::string& file) {
  constexpr std::size_t kTarMark = 257;
  const auto refuse = [&](std::string reason, std::string hint) {
    throw InputError{Complaint{.file = file, .reason = std::move(reason), .hint = std::move(hint)}};
  };
  if (head.size() > kTarMark + 5 && head.substr(kTarMark, 5) == "ustar")
    refuse("this is a tar archive", "unpack it (tar xf) and give a file that was in it");
  if (head.starts_with("PK\x03\x04")) refuse("this is a zip archive", "unpack it and give a file that was in it");
  if (head.starts_with("version https://git-lfs"))
    refuse("this is a pointer of Git LFS to a file that was not fetched", "git lfs pull");
  if (head.empty()) refuse("the file is empty", "");
}

std::string sha256_of_file(const std::string& path) {
  const std::unique_ptr<ByteSource> bytes = open_bytes(path);
  HashedSource hashed{*bytes};
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  std::vector<char> buffer(kAtOnce);
  while (hashed.read(buffer.data(), buffer.size()) > 0) continue;
  return hashed.sha256();
}

}  // namespace contend
