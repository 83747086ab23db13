#include "validate/checked_table.hpp"
#include "tests/near.hpp"
#include "validate/verdict.hpp"

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

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
  CHECK_FALSE(holds(table));  // nothing says by how much
  table.checks.back().stated = 0.11;
  CHECK(holds(table));
  table.checks.back().stated = 0.139;
  CHECK(holds(table));
  table.checks.back().stated = 0.141;  // more than three points away
  CHECK_FALSE(holds(table));
  table.checks.back().stated = 0.079;
  CHECK_FALSE(holds(table));
  table.checks.back().stated = 0.11;
  table.checks.front().why = "listed as outside, but within";
  CHECK_FALSE(holds(table));
  CHECK_FALSE(CheckedFigure{"below", 100, 89, 0.1, {}}.is_within());
  CHECK(CheckedFigure{"below", 100, 91, 0.1, {}}.deviation() == near(-0.09));
}

TEST_CASE("reasons: given by name, useless ones fail") {
  CheckedTable table;
  table.checks = {{"near", 100, 109, 0.1, {}}, {"far", 100, 150, 0.1, {}}};
  CHECK(verdict(table) == 1);
  CHECK(verdict(table, {{"far", 0.5, "known"}}) == 0);
  CHECK(verdict(table, {{"far", 0.46, "known"}}) == 1);
  CHECK(verdict(table, {{"far", 0.5, "known"}, {"near", 0.09, "not so"}}) == 1);
  CHECK(verdict(table, {{"far", 0.5, "known"}, {"nowhere", 0.5, "no such figure"}}) == 1);
  table.skipped = "no data";  // then its figures can't be missed
  table.checks.clear();
  CHECK(verdict(table, {{"far", 0.5, "known"}}) == kSuiteComparedNothing);
}

TEST_CASE("a suite without a figure that is judged has compared nothing, and so has not passed") {
  CheckedTable table;
  table.checks = {{"far", 1, 1000, kOnlyShown, {}}};
  CHECK(verdict(table) == kSuiteComparedNothing);
  table.checks.push_back({"near", 100, 109, 0.1, {}});
  CHECK(verdict(table) == kSuiteHeld);
  CHECK(suite_verdict(true, false) == kSuiteComparedNothing);
  CHECK(suite_verdict(false, true) == kSuiteFailed);
}

TEST_CASE("a table says its median and worst deviation, in seconds too, and leaves out what is only shown") {
  CheckedTable table;
  table.title = "title";
  table.checks = {{"a", 100, 101, 0.1, {}, 2.0, 1.5},
                  {"b", 100, 97, 0.1, {}, 1.0, 1.1},
                  {"fitted on", 100, 150, kOnlyShown, {}, 1.0, 9.0}};
  const auto text_of = [](const CheckedTable& printed, SuiteVerdict expected = kSuiteHeld) {
    std::FILE* out = std::tmpfile();
    REQUIRE(out != nullptr);
    CHECK(report_tables(out, "suite", "page", {printed}, {}) == expected);
    std::string text(static_cast<std::size_t>(std::ftell(out)), ' ');
    std::rewind(out);
    CHECK(std::fread(text.data(), 1, text.size(), out) == text.size());
    std::fclose(out);
    return text;
  };
  const std::string text = text_of(table);
  CHECK(text.find("2 figures: median 2.0%, worst 3.0%; in seconds: median 17.5%, worst 25.0%") != std::string::npos);
  CHECK(text.find("2 of 2 figures within tolerance") != std::string::npos);
  table.shown_only = true;
  for (CheckedFigure& each : table.checks) each.tolerance = kOnlyShown;
  const std::string shown = text_of(table, kSuiteComparedNothing);
  CHECK(shown.find("3 figures, not judged: median 3.0%, worst 50.0%") != std::string::npos);
  CHECK(shown.find("suite: compared nothing: 0 of 0 figures within tolerance") != std::string::npos);
}
