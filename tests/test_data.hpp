#pragma once
// Published data of other projects, which are not part of this one, for the tests that need them.

#include "tests/skip.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace contend {

/// The path of a file or folder of the data in $CONTEND_DATA, or in ../shared/data beside the project, such as
/// "traces/philly/philly_pollux.csv". Nothing where it is absent; the running case then counts as skipped and returns.
[[nodiscard]] inline std::optional<std::string> test_data(const std::string& name) {
  const char* const folder = std::getenv("CONTEND_DATA");
  std::string path = (std::filesystem::path{folder == nullptr ? "../shared/data" : folder} / name).string();
  if (std::filesystem::exists(path)) return path;
  skip_case("there is no " + path + " (set CONTEND_DATA)");
  return std::nullopt;
}

}  // namespace contend
