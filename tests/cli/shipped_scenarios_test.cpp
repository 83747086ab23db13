// Every scenario that ships is valid and says how editors can check it.

#include "tests/cli/program.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("shipped scenarios are valid" * doctest::skip(!has_program())) {
  const Workplace here;
  const auto root = std::filesystem::current_path();
  std::string files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{root / "scenarios"}) {
    if (entry.path().extension() != ".yaml") continue;
    files += " '" + entry.path().string() + "'";
    CHECK(read_file(entry.path().string()).starts_with("# yaml-language-server: $schema="));
  }
  REQUIRE_FALSE(files.empty());
  const Outcome outcome = here.contend("check" + files);
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
}
