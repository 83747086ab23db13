#pragma once
// A ByteSource delivers bytes piece by piece, so that a trace of gigabytes is read in little memory.

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace contend {

/// A stream of bytes that is read once, from its beginning to its end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Writes up to `size` bytes to `buffer` and returns their number; 0 means the end. Throws InputError.
  [[nodiscard]] virtual std::size_t read(char* buffer, std::size_t size) = 0;
};

/// Opens a file. A gzip file is recognised by its content and inflated while it is read. Throws InputError if the file
/// can't be opened; read() throws InputError if it can't be read, is damaged, or ends within the compressed data.
[[nodiscard]] std::unique_ptr<ByteSource> open_file(const std::string& path);

/// Calls source.read() and adds this line number to the complaints of its errors that have none.
[[nodiscard]] std::size_t read_at_line(ByteSource& source, char* buffer, std::size_t size, int line);

/// Returns the rest of a source.
[[nodiscard]] std::string read_all(ByteSource& source);

/// A source over a text in memory; the text must outlive the source.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_{text} {}
  [[nodiscard]] std::size_t read(char* buffer, std::size_t size) override;

 private:
  std::string_view rest_;
};

/// Delivers another source and lets the caller look at its beginning first. That source must outlive this one.
class PeekedSource final : public ByteSource {
 public:
  static constexpr std::size_t kHead = std::size_t{1} << 16;
  /// Reads the beginning. An error in it is thrown later, by read() after the bytes that could be read.
  explicit PeekedSource(ByteSource& rest);
  /// The first kHead bytes, or all if there are fewer.
  [[nodiscard]] std::string_view head() const { return head_; }
  [[nodiscard]] std::size_t read(char* buffer, std::size_t size) override;

 private:
  std::string head_;
  std::size_t at_ = 0;
  std::exception_ptr error_;
  ByteSource& rest_;
};

}  // namespace contend
