#include "text/own_files.hpp"

#include "text/byte_source.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace contend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kListFile = ".contend-written";
constexpr std::string_view kBetween = "  ";  // of digest and name, as sha256sum prints them

std::string list_beside(const std::string& path) {
  return (fs::path{path}.parent_path() / kListFile).string();
}

/// The text of the list; empty if there is none that contend could have written.
std::string list_text(const std::string& list) {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(list, ignored))) return {};
  try {
    return read_file(list);
  } catch (const InputError&) {
    return {};  // of another user
  }
}

/// Whether a folder, a link or a device stands where the list has to be.
bool is_no_file(const std::string& list) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(list, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

std::string line_of(std::string_view digest, const std::string& path) {
  return fmt::format("{}{}{}\n", digest, kBetween, fs::path{path}.filename().string());
}

/// Whether contend may have written the list. A line may be cut, as by a full disk.
bool is_list(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  constexpr std::string_view kHexadecimal = "0123456789abcdef";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t digits = std::min(line.find_first_not_of(kHexadecimal), line.size());
    const std::string_view rest = line.substr(digits);
    if (digits > kDigits || (digits < kDigits && !rest.empty())) return false;
    if (!rest.starts_with(kBetween) && !kBetween.starts_with(rest)) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

bool has_line(std::string_view text, std::string_view line) {
  return text.starts_with(line) || text.find("\n" + std::string{line}) != std::string_view::npos;
}

/// Appends a line in one write, so that processes that write there at the same time lose no line. Where the list can't
/// be written, as in a folder that users share, the file is not listed, and the next verb leaves the file alone.
void add_line(const std::string& list, const std::string& line) {
  const std::string before = list_text(list);
  if (has_line(before, line)) return;
  const bool is_cut = !before.empty() && !before.ends_with('\n');
  const std::string added = (is_cut ? "\n" : "") + line;
  const int descriptor =
      ::open(list.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor < 0) return;
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    static_cast<void>(::write(descriptor, added.data(), added.size()));
  ::close(descriptor);
}

/// Why a regular file is not contend's to replace; empty if it is.
std::string why_foreign_file(const std::string& path) {
  const std::string text = list_text(list_beside(path));
  const std::string name = line_of("", path);
  if (text.find(name) == std::string::npos)
    return fmt::format("contend has not written it: {} doesn't list it", list_beside(path));
  return has_line(text, line_of(sha256_of_file(path), path)) ? "" : "it was changed after contend has written it";
}

}  // namespace

std::optional<Complaint> foreign_list(const std::string& folder) {
  const std::string list = (fs::path{folder} / kListFile).string();
  if (!is_no_file(list) && is_list(list_text(list))) return std::nullopt;
  return Complaint{.file = list,
                   .reason =
                       "is no list of the files that contend has written, which has to be at this place; move "
                       "this file away, or write to another folder"};
}

void refuse_foreign_file(const std::string& path) {
  if (is_stream(path)) return;
  refuse_link_or_folder(path);
  if (fs::path{path}.filename() == kListFile)
    throw_file_error(path, "is the list of the files that contend has written in this folder; write to another file",
                     0);
  if (std::optional<Complaint> foreign = foreign_list(fs::path{path}.parent_path().string()))
    throw InputError{std::move(*foreign)};
  std::error_code ignored;
  if (!fs::is_regular_file(fs::status(path, ignored))) return;
  if (const std::string why = why_foreign_file(path); !why.empty())
    throw_file_error(
        path, fmt::format("this file would be overwritten, and {}; write to another file, or move this one away", why),
        0);
}

OwnFile::OwnFile(const std::string& target) : name_{(refuse_foreign_file(target), target)}, file_{target} {}

void OwnFile::commit() {
  refuse_foreign_file(name_);
  // Listed before it gets its name: a file that is listed and not there does no harm.
  if (!is_stream(name_) && file_.path() != file_.target())
    add_line(list_beside(name_), line_of(sha256_of_file(file_.path()), name_));
  file_.commit();
}

void write_own_files(std::span<const WrittenFile> files) {
  for (const WrittenFile& each : files) refuse_foreign_file(each.path);
  for (const WrittenFile& each : files) write_own_file(each.path, each.text);
}

void write_own_file(const std::string& path, std::string_view content) {
  OwnFile file{path};
  write_text(file.path(), path, content);
  file.commit();
}

}  // namespace contend
