#pragma once
// Folders that a verb makes for the files that it writes.

#include <string>
#include <vector>

namespace contend {

/// Makes the folder and its parents if needed, and returns those that it has made, the innermost first. A symbolic link
/// to a folder counts as that folder. Throws InputError if the folder can't be made, such as where a file or a link
/// that leads nowhere has its name.
std::vector<std::string> make_folder(const std::string& folder);

/// Folders, made as make_folder() does. The destructor removes the folders that are empty and were not there before,
/// so that a command that is refused leaves no folder behind.
class NewFolders {
 public:
  NewFolders() = default;
  explicit NewFolders(const std::string& folder) { make(folder); }
  ~NewFolders();
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  NewFolders(NewFolders&&) = default;
  NewFolders& operator=(NewFolders&&) = delete;

  void make(const std::string& folder);

 private:
  std::vector<std::string> made_;  ///< a folder stands before those that it is in
};

}  // namespace contend
