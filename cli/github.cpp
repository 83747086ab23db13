#include "cli/github.hpp"

#include "text/atomic_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace contend {
namespace {

/// As the toolkit of GitHub Actions escapes: these characters would end the text, or the property.
std::string escaped_for_github(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ',')))
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string path_in_repository(const std::string& file) {
  namespace fs = std::filesystem;
  const char* const workspace = std::getenv("GITHUB_WORKSPACE");
  const fs::path root = workspace != nullptr && *workspace != '\0' ? fs::path{workspace} : fs::current_path();
  const fs::path inside = fs::weakly_canonical(file).lexically_relative(fs::weakly_canonical(root));
  return inside.empty() || *inside.begin() == ".." ? file : inside.generic_string();
}

}  // namespace

std::string github_annotation(std::string_view level, const GithubPlace& place, std::string_view title,
                              std::string_view message) {
  std::string properties;
  if (!place.file.empty()) {
    properties = fmt::format("file={},", escaped_for_github(path_in_repository(place.file), true));
    if (place.line > 0) properties += fmt::format("line={},", place.line);
    if (place.line > 0 && place.column > 0) properties += fmt::format("col={},", place.column);
  }
  return fmt::format("::{} {}title={}::{}\n", level, properties, escaped_for_github(title, true),
                     escaped_for_github(message, false));
}

std::string comparison_annotations(const JudgedSides& report) {
  std::string out;
  for (const Check& each : report.checks())
    out += github_annotation(each.fails ? "error" : "notice", {.file = each.file},
                             fmt::format("contend compare: {}", each.fails ? each.name : each.claim()), each.reason);
  return out;
}

std::string complaint_annotations(const InputError& error) {
  std::string out;
  for (const Complaint& each : error.complaints()) {
    const bool is_file = !each.file.starts_with("--");  // as of `--set`
    out += github_annotation("error", {.file = is_file ? each.file : "", .line = each.line, .column = each.column},
                             "contend compare: wrong input", each.format());
  }
  return out;
}

void add_to_github_summary(const std::string& markdown) {
  const char* const path = std::getenv("GITHUB_STEP_SUMMARY");
  if (path == nullptr || *path == '\0') return;
  errno = 0;
  std::ofstream file{path, std::ios::app};
  file << markdown << '\n';
  file.close();
  if (!file) throw_file_error(path, "can't be written, and GITHUB_STEP_SUMMARY names it", errno);
}

std::string scenario_file(const std::string& side) {
  return std::filesystem::is_directory(side) ? "" : side;
}

}  // namespace contend
