#include "scenarios/yaml/shipped.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace contend {
namespace {

constexpr std::string_view kShippedFolder = "scenarios/";

bool is_shipped(std::string_view path) {
  return path.starts_with(kShippedFolder) || path.starts_with(kProfileFolder) || path.starts_with(kSheetFolder);
}

std::vector<std::string> profiles_in(const std::filesystem::path& folder) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator{folder, ignored})
    if (each.path().extension() == ".yaml") found.push_back(each.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

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
  if (!is_shipped(path) || std::filesystem::exists(path, ignored)) return path;
  const std::filesystem::path installed = std::filesystem::path{shared_folder()} / path;
  return std::filesystem::is_regular_file(installed, ignored) ? installed.string() : path;
}

std::string shipped_path_beside(const std::string& folder, const std::string& text) {
  const std::string beside = (std::filesystem::path{folder} / text).lexically_normal().string();
  std::error_code ignored;
  return is_shipped(text) && !std::filesystem::exists(beside, ignored) ? shipped_path(text) : beside;
}

std::vector<std::string> shipped_profiles() {
  std::vector<std::string> here = profiles_in(kProfileFolder);
  return here.empty() ? profiles_in(std::filesystem::path{shared_folder()} / kProfileFolder) : here;
}

std::string missing_scenarios(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path folder{shared_folder()};
  if (!path.starts_with(kShippedFolder) || std::filesystem::is_directory(folder / kShippedFolder, ignored)) return {};
  return "; shipped scenarios are looked for in " + folder.string() +
         ", which has none: install the package contend, or let CONTEND_SHARE name its folder";
}

}  // namespace contend
