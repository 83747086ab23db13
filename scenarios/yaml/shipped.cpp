#include "scenarios/yaml/shipped.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace contend {

std::string shared_folder() {
  if (const char* const given = std::getenv("CONTEND_SHARE"); given != nullptr && *given != '\0') return given;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : (program.parent_path().parent_path() / "share" / "contend").string();
}

std::string shipped_path(const std::string& path) {
  std::error_code ignored;
  if (!path.starts_with("scenarios/") || std::filesystem::exists(path, ignored)) return path;
  const std::filesystem::path installed = std::filesystem::path{shared_folder()} / path;
  return std::filesystem::is_regular_file(installed, ignored) ? installed.string() : path;
}

}  // namespace contend
