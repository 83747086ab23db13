#include "validate/overlap/overlap_suite.hpp"

#include "tests/effort.hpp"

#include <cstdio>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("the suite holds, with the trace or without") {
  if (kSanitized) return;  // other tests run its parts
  std::FILE* out = std::tmpfile();
  REQUIRE(out != nullptr);
  CHECK(validate_overlap(out) == 0);
  CHECK(std::ftell(out) > 1000);
  std::fclose(out);
}
