// Every scenario that ships is valid and says how editors can check it.

#include "tests/cli/program.hpp"
#include "tests/effort.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("shipped scenarios are valid" * doctest::skip(!has_program())) {
  const Workplace here;
  const auto root = std::filesystem::current_path();
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{root / "scenarios"}) {
    if (entry.path().extension() != ".yaml") continue;
    paths.push_back(entry.path().string());
    CHECK(read_file(entry.path().string()).starts_with("# yaml-language-server: $schema="));
  }
  REQUIRE(paths.size() >= 8);
  std::sort(paths.begin(), paths.end());
  std::string files;
  for (std::size_t i = 0; i < paths.size(); i += kSanitized ? 8 : 1) files += " '" + paths[i] + "'";
  const Outcome outcome = here.contend("check" + files);
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
}
