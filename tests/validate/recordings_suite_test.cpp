// The suite of recordings: public files, where they are, and the suite's text where they aren't.

#include "validate/recordings/recordings_suite.hpp"

#include "sim/fields.hpp"
#include "tests/test_data.hpp"
#include "validate/verdict.hpp"

#include <cstdio>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("public recordings have the figures of the independent reader") {
  CHECK(read_entries(recorded_samples_text()).size() == 56);
  if (!test_data("et/SOURCES.txt")) return;
  std::FILE* const out = std::tmpfile();
  REQUIRE(out != nullptr);
  CHECK(validate_recordings(out) == kSuiteHeld);
  static_cast<void>(std::fclose(out));
}
