#include "scenarios/yaml/shipped.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace contend {
namespace {

constexpr std::string_view kShippedFolder = "scenarios/";

std::string& given_shared_folder() {
  static std::string folder;
  return folder;
}

}  // namespace

void set_shared_folder(const std::string& folder) {
  given_shared_folder() = folder;
}

std::string shared_folder() {
  if (const char* const given = std::getenv("CONTEND_SHARE"); given != nullptr && *given != '\0') return given;
  if (!given_shared_folder().empty()) return given_shared_folder();
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : (program.parent_path().parent_path() / "share" / "contend").string();
}

std::string shipped_path(const std::string& path) {
  std::error_code ignored;
  if (!path.starts_with(kShippedFolder) || std::filesystem::exists(path, ignored)) return path;
  const std::filesystem::path installed = std::filesystem::path{shared_folder()} / path;
  return std::filesystem::is_regular_file(installed, ignored) ? installed.string() : path;
}

std::string missing_scenarios(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path folder{shared_folder()};
  if (!path.starts_with(kShippedFolder) || std::filesystem::is_directory(folder / kShippedFolder, ignored)) return {};
  return "; shipped scenarios are looked for in " + folder.string() +
         ", which has none: install the package contend, or let CONTEND_SHARE name its folder";
}

}  // namespace contend
