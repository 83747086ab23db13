#pragma once
// Bytes that come piece by piece, so that a trace of gigabytes is read in little memory.

#include "sim/units.hpp"
#include "text/sha256.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace contend {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills up to `size` bytes and says how many; 0 means the end. Throws InputError.
  [[nodiscard]] virtual std::size_t read(char* buffer, std::size_t size) = 0;
};

/// Why a path is no input file; empty if it is one, or if opening it will say why it can't be read. A folder, a device
/// and a named pipe are none: a device may never end, and nobody may ever write to the pipe. A pipe that the caller has
/// opened already, such as /dev/stdin or what the shell makes of `<(command)`, is an input file.
[[nodiscard]] std::string why_no_input_file(const std::string& path);

/// The most that the data of one compressed file may inflate to: CONTEND_MAX_INFLATED of the environment, by default
/// 4 GiB. A small file can inflate to any size, and would fill the memory. Throws InputError if the variable is no
/// number of bytes.
[[nodiscard]] Bytes inflate_limit();

/// A file, inflated on the way if it is gzip, whatever its name. Throws InputError if it can't be opened; read() throws
/// InputError if it can't be read, is damaged, ends within the compressed data, or inflates to more than the limit.
[[nodiscard]] std::unique_ptr<ByteSource> open_file(const std::string& path);

/// The bytes of a file as they are. Throws InputError if it can't be opened, as read() does if it can't be read.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// Another source, inflated if it is gzip: its members one after the other, without what may stand behind the last.
/// At its end the other source, which must outlive it, has been read to its end. `name` is the name of the file in
/// messages; read() throws as the source of open_file() does.
[[nodiscard]] std::unique_ptr<ByteSource> inflated(ByteSource& packed, const std::string& name,
                                                   Bytes limit = inflate_limit());

/// source.read(), whose errors then say that they came up at this line of the text, if they don't say more.
[[nodiscard]] std::size_t read_at_line(ByteSource& source, char* buffer, std::size_t size, int line);

/// All that is left of a source.
[[nodiscard]] std::string read_all(ByteSource& source);

/// A text in memory, which must outlive the source.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_{text} {}
  [[nodiscard]] std::size_t read(char* buffer, std::size_t size) override;

 private:
  std::string_view rest_;
};

/// Another source, and the digest of what was read from it. That source must outlive this one.
class HashedSource final : public ByteSource {
 public:
  explicit HashedSource(ByteSource& source) : source_{source} {}
  [[nodiscard]] std::size_t read(char* buffer, std::size_t size) override;
  /// SHA-256 of all bytes so far.
  [[nodiscard]] std::string sha256() const { return digest_.hex(); }

 private:
  ByteSource& source_;
  Sha256 digest_;
};

/// SHA-256 of the bytes of a file. Throws InputError.
[[nodiscard]] std::string sha256_of_file(const std::string& path);

/// Throws InputError for the beginning of an archive with the wanted file in it, of a pointer to it, and of an empty
/// file.
void refuse_wrapped(std::string_view head, const std::string& file);

/// Another source, whose beginning may be looked at first. That source must outlive this one.
class PeekedSource final : public ByteSource {
 public:
  static constexpr std::size_t kHead = std::size_t{1} << 16;
  /// What goes wrong while the beginning is read is thrown by read(), behind the bytes that could be read; if there are
  /// none, by the constructor.
  explicit PeekedSource(ByteSource& rest);
  /// The first kHead bytes, fewer if there are no more.
  [[nodiscard]] std::string_view head() const { return head_; }
  [[nodiscard]] std::size_t read(char* buffer, std::size_t size) override;

 private:
  std::string head_;
  std::size_t at_ = 0;
  std::exception_ptr error_;
  ByteSource& rest_;
};

}  // namespace contend
