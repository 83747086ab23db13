#pragma once
// Files that are either whole or not there: written under a temporary name in the same folder, then renamed. A crash,
// a full disk or an interrupt never leaves half a result under the name that a script waits for.

#include <string>
#include <string_view>

namespace contend {

/// A file in the making. Write to path(), then commit(); without commit() the temporary file is removed.
class AtomicFile {
 public:
  /// Throws InputError if the target is a folder. A device or pipe such as /dev/stdout is written in place.
  explicit AtomicFile(std::string target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::string& path() const { return temporary_; }
  [[nodiscard]] const std::string& target() const { return target_; }
  /// Renames; the file must be closed. Throws InputError.
  void commit();

 private:
  std::string target_;
  std::string temporary_;  ///< equal to target_ if that is no regular file
  bool committed_ = false;
};

/// Throws InputError that names the path and the reason.
void write_file(const std::string& path, std::string_view content);
/// The bytes of a file. Throws InputError that names the path and the reason.
[[nodiscard]] std::string read_file(const std::string& path);

/// `PATH: reason` as an InputError, with the text of errno appended if it is not 0.
[[noreturn]] void throw_file_error(const std::string& path, std::string_view what, int error_number);

}  // namespace contend
