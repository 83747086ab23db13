#pragma once
// Files that a verb writes where the user says: pages, figures, tables, job lists, timelines. A verb replaces such a
// file only if contend has written the file and nobody has changed the file since. `.contend-written` in the folder of
// the file says so: a line for each content that contend has written there, with the SHA-256 and the name, as
// `sha256sum` prints them. A folder of results has its manifest for that (results/result_digests.hpp).

#include "sim/error.hpp"
#include "text/atomic_file.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace contend {

/// Throws InputError if a verb must not write this file: somebody else has written it, it was changed after contend has
/// written it, it is a symbolic link, a folder, or the list itself, or somebody else's file has the name of the list. A
/// device or pipe may always be written. Verbs ask before they begin to work.
void refuse_foreign_file(const std::string& path);

/// The complaint about what has the name of the list in this folder ("" is the working directory), so that the list
/// can't be there: somebody else's file, a link, a folder or a device. Nothing if the list can be there.
[[nodiscard]] std::optional<Complaint> foreign_list(const std::string& folder);

/// An AtomicFile that replaces only files for which refuse_foreign_file() permits it. commit() asks again, because the
/// work may have taken hours.
class OwnFile {
 public:
  explicit OwnFile(const std::string& target);

  [[nodiscard]] const std::string& path() const { return file_.path(); }  ///< to which the content is written
  [[nodiscard]] const std::string& target() const { return file_.target(); }
  /// Lists the closed file and gives it its name. Throws InputError.
  void commit();

 private:
  std::string name_;  ///< as the user gave it
  AtomicFile file_;
};

/// A file and its content.
struct WrittenFile {
  std::string path;
  std::string text;
};
/// Writes whole files, each as an OwnFile; none of them if one must not be written. Throws InputError.
void write_own_files(std::span<const WrittenFile> files);
void write_own_file(const std::string& path, std::string_view content);

}  // namespace contend
