#include "text/byte_source.hpp"

#include "sim/complaints.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include <fmt/core.h>
#include <zlib.h>

namespace contend {
namespace {

constexpr unsigned kGzipBuffer = 1U << 17;

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : path_{path}, file_{::gzopen(path.c_str(), "rb"), &::gzclose} {
    if (!file_) throw_file_error(path, "can't be read", errno);
    ::gzbuffer(file_.get(), kGzipBuffer);
  }

  std::size_t read(char* buffer, std::size_t size) override {
    const auto wanted = static_cast<unsigned>(std::min<std::size_t>(size, INT_MAX));
    errno = 0;
    const int count = ::gzread(file_.get(), buffer, wanted);
    // A file that ends within the compressed data first delivers the bytes that it has.
    int error = Z_OK;
    const char* message = ::gzerror(file_.get(), &error);
    if (error == Z_ERRNO) throw_file_error(path_, "can't be read", errno);
    if (error == Z_BUF_ERROR && count > 0) return static_cast<std::size_t>(count);
    if (error == Z_BUF_ERROR) throw_file_error(path_, "the file ends within its compressed data", 0);
    if (count < 0 || error < 0) throw_file_error(path_, fmt::format("damaged gzip data: {}", message), 0);
    return static_cast<std::size_t>(count);
  }

 private:
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::string& path) {
  return std::make_unique<FileSource>(path);
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

}  // namespace contend
