#include "text/new_folder.hpp"

#include "text/atomic_file.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace contend {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& why) {
  throw_file_error(folder, "can't be made a folder: " + why, 0);
}

}  // namespace

std::vector<std::string> make_folder(const std::string& folder) {
  std::vector<std::string> missing;
  std::error_code ignored;
  fs::path at = fs::path{folder}.lexically_normal();
  if (!at.has_filename()) at = at.parent_path();  // behind a slash at the end
  for (; !at.empty() && !fs::is_directory(at, ignored); at = at.parent_path()) {
    const fs::file_status status = fs::symlink_status(at, ignored);
    if (fs::is_symlink(status) && !fs::exists(at, ignored))
      refuse_folder(at.string(),
                    fmt::format("it is a symbolic link to \"{}\", which doesn't exist; make that folder, or remove "
                                "the link",
                                fs::read_symlink(at, ignored).string()));
    if (fs::exists(status)) refuse_folder(at.string(), "there is a file of this name");
    missing.push_back(at.string());
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw_file_error(folder, "can't be made a folder", error.value());
  return missing;
}

void NewFolders::make(const std::string& folder) {
  const std::vector<std::string> made = make_folder(folder);
  made_.insert(made_.begin(), made.begin(), made.end());
}

NewFolders::~NewFolders() {
  for (const std::string& each : made_) {
    std::error_code not_empty;
    fs::remove(each, not_empty);
  }
}

}  // namespace contend
