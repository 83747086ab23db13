#pragma once
// An AtomicFile is either complete or absent: it is written under a temporary name in the same folder, then renamed. A
// crash, a full disk or an interrupt never leaves half a result under the name that a script waits for.

#include <string>
#include <string_view>

namespace contend {

/// A file being written. Write to path(), then call commit(); without commit() the destructor removes the file.
class AtomicFile {
 public:
  /// Throws InputError for a folder and for a symbolic link. A device or pipe, as /dev/stdout, is written in place.
  explicit AtomicFile(std::string target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::string& path() const { return temporary_; }
  [[nodiscard]] const std::string& target() const { return target_; }
  /// Renames the closed file to target(). Throws InputError if that fails.
  void commit();

 private:
  std::string target_;
  std::string temporary_;  ///< equal to target_ if that is not a regular file
  bool committed_ = false;
};

/// True for what the caller of the program has opened or named as a stream, such as /dev/stdout: it leads to whatever
/// the caller has connected it to.
[[nodiscard]] bool is_stream(const std::string& path);
/// Throws InputError if the path is a symbolic link or a folder, which no file is to replace. To write through a link
/// would change a file of another folder, and to replace the link would not change the file that readers of the link
/// see.
void refuse_link_or_folder(const std::string& path);

/// Writes `content` to the file at `path`, in place. Throws InputError with `name`, under which the user knows the
/// file, and the reason.
void write_text(const std::string& path, const std::string& name, std::string_view content);
/// Writes a whole file as an AtomicFile. Throws InputError with the path and the reason.
void write_file(const std::string& path, std::string_view content);
/// Returns the bytes of a file. Throws InputError with the path and the reason.
[[nodiscard]] std::string read_file(const std::string& path);

/// The reason that `error_number` (an errno) stands for, in words for users.
[[nodiscard]] std::string system_reason(int error_number);

/// Throws InputError `PATH: what`, with the text of `error_number` (an errno) appended if it is not 0.
[[noreturn]] void throw_file_error(const std::string& path, std::string_view what, int error_number);

}  // namespace contend
