#include "validate/overlap.hpp"

#include <cstdio>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a table of published figures can fail") {
  OverlapTable table;
  table.checks = {{"near", 100, 109, 0.1, {}}};
  CHECK(holds(table));
  table.checks.push_back({"far", 100, 111, 0.1, {}});
  CHECK_FALSE(holds(table));
  table.checks.back().why = "known";
  CHECK(holds(table));
  table.checks.front().why = "listed as outside, but within";
  CHECK_FALSE(holds(table));
  CHECK_FALSE(OverlapCheck{"below", 100, 89, 0.1, {}}.is_within());
  CHECK(OverlapCheck{"below", 100, 91, 0.1, {}}.deviation() == doctest::Approx(-0.09));
}

TEST_CASE("the suite holds, with the trace or without") {
  std::FILE* out = std::tmpfile();
  REQUIRE(out != nullptr);
  CHECK(validate_overlap(out) == 0);
  CHECK(std::ftell(out) > 1000);
  std::fclose(out);
}
