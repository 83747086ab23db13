#pragma once
// Helpers of these tests: scenarios as inline text, files in memory, complaints as text.

#include "scenarios/keys/reader.hpp"
#include "sim/error.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

using MemoryFiles = std::map<std::string, std::string>;

inline FileReader reader_of(MemoryFiles files) {
  return [files = std::move(files)](const std::string& path) -> FileText {
    const auto file = files.find(path);
    if (file == files.end()) return {std::nullopt, "no such file"};
    return {file->second, {}};
  };
}

/// The text with the line that every file needs in front, so that its own first line is line 2.
inline std::string versioned(std::string_view text) {
  return "schema_version: 1\n" + std::string{text};
}

inline Scenario parsed(std::string_view text, std::vector<std::string> overrides = {}, MemoryFiles files = {}) {
  return parse_scenario(versioned(text), "a.yaml", {std::move(overrides)}, reader_of(std::move(files)));
}

/// All that a text is refused for, without the quoted source lines; empty if it is accepted.
inline std::string errors_of_file(std::string_view text, std::vector<std::string> overrides = {},
                                  MemoryFiles files = {}) {
  try {
    static_cast<void>(parse_scenario(text, "a.yaml", {std::move(overrides)}, reader_of(std::move(files))));
  } catch (const InputError& error) {
    std::string all;
    for (Complaint d : error.complaints()) {
      d.source_line.clear();
      if (!all.empty()) all += '\n';
      all += d.format();
    }
    return all;
  }
  return {};
}

inline std::string errors_of(std::string_view text, std::vector<std::string> overrides = {}, MemoryFiles files = {}) {
  return errors_of_file(versioned(text), std::move(overrides), std::move(files));
}

/// For what a call is refused: a line of key, reason and hint for each complaint; empty if the call is not refused.
template <class Call>
std::string refusal_of_call(const Call& call) {
  std::string text;
  try {
    call();
  } catch (const InputError& error) {
    for (const Complaint& each : error.complaints()) text += each.key + ": " + each.reason + "; " + each.hint + "\n";
  }
  return text;
}

}  // namespace contend
