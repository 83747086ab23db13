#include "validate/checked_table.hpp"
#include "tests/near.hpp"

#include <cstdio>

#include <doctest/doctest.h>

using namespace contend;

namespace {

int verdict(const CheckedTable& table, std::vector<KnownReason> reasons = {}) {
  std::FILE* out = std::tmpfile();
  REQUIRE(out != nullptr);
  const int code = report_tables(out, "suite", "page", {table}, reasons);
  CHECK(std::ftell(out) > 0);
  std::fclose(out);
  return code;
}

}  // namespace

TEST_CASE("a table of published figures can fail") {
  CheckedTable table;
  table.checks = {{"near", 100, 109, 0.1, {}}};
  CHECK(holds(table));
  table.checks.push_back({"far", 100, 111, 0.1, {}});
  CHECK_FALSE(holds(table));
  table.checks.back().why = "known";
  CHECK(holds(table));
  table.checks.front().why = "listed as outside, but within";
  CHECK_FALSE(holds(table));
  CHECK_FALSE(CheckedFigure{"below", 100, 89, 0.1, {}}.is_within());
  CHECK(CheckedFigure{"below", 100, 91, 0.1, {}}.deviation() == near(-0.09));
}

TEST_CASE("reasons: given by name, useless ones fail") {
  CheckedTable table;
  table.checks = {{"near", 100, 109, 0.1, {}}, {"far", 100, 150, 0.1, {}}};
  CHECK(verdict(table) == 1);
  CHECK(verdict(table, {{"far", "known"}}) == 0);
  CHECK(verdict(table, {{"far", "known"}, {"near", "not so"}}) == 1);
  CHECK(verdict(table, {{"far", "known"}, {"nowhere", "no such figure"}}) == 1);
  table.skipped = "no data";  // then its figures can't be missed
  table.checks.clear();
  CHECK(verdict(table, {{"far", "known"}}) == 0);
}

TEST_CASE("a figure that is only shown is not judged") {
  CheckedTable table;
  table.checks = {{"far", 1, 1000, kOnlyShown, {}}};
  CHECK(verdict(table) == 0);
}
