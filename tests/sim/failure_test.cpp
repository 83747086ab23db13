#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/error.hpp"

using contend::Complaint;
using contend::InputError;
using contend::nearest_name;

namespace {

Complaint complaint() {
  return {.file = "scenario.yaml",
          .line = 14,
          .column = 12,
          .key = "cluster.servers",
          .reason = "expected an integer >= 1, got \"eight\"",
          .source_line = "  servers: eight"};
}

}  // namespace

TEST_CASE("a complaint shows place, key, reason and a caret below the column") {
  // Column 12 is the e of eight: two spaces of indentation, then eleven characters, then the caret.
  CHECK(complaint().format() ==
        "scenario.yaml:14:12: cluster.servers: expected an integer >= 1, got \"eight\"\n"
        "    servers: eight\n"
        "             ^");
}

TEST_CASE("the caret stands under the first column") {
  Complaint d = complaint();
  d.column = 1;
  d.source_line = "eight";
  CHECK(d.format() ==
        "scenario.yaml:14:1: cluster.servers: expected an integer >= 1, got \"eight\"\n"
        "  eight\n"
        "  ^");
}

TEST_CASE("unknown parts of a complaint are left out") {
  Complaint d = complaint();
  SUBCASE("no column: no caret") {
    d.column = 0;
    CHECK(d.format() ==
          "scenario.yaml:14: cluster.servers: expected an integer >= 1, got \"eight\"\n"
          "    servers: eight");
  }
  SUBCASE("no line: no column either, it would mean nothing") {
    d.line = 0;
    d.source_line.clear();
    CHECK(d.format() == "scenario.yaml: cluster.servers: expected an integer >= 1, got \"eight\"");
  }
  SUBCASE("only a reason") {
    CHECK(Complaint{.reason = "no jobs"}.format() == "no jobs");
  }
  SUBCASE("a hint follows the reason") {
    d.source_line.clear();
    d.hint = "did you mean 8?";
    CHECK(d.format() ==
          "scenario.yaml:14:12: cluster.servers: expected an integer >= 1, got \"eight\"; did you mean 8?");
  }
}

TEST_CASE("an input error carries every complaint, one per line") {
  const InputError error{std::vector<Complaint>{{.reason = "first"}, {.reason = "second"}}};
  CHECK(std::string{error.what()} == "first\nsecond");
  CHECK(error.complaints().size() == 2);
  CHECK(InputError{"alone"}.complaints().front().reason == "alone");
  CHECK(std::string{InputError{{.file = "jobs.csv", .line = 2, .reason = "one"}}.what()} == "jobs.csv:2: one");
}

TEST_CASE("the nearest name is offered only if it is near enough") {
  const std::vector<std::string> names{"scheduling", "placement", "seed", "servers"};
  CHECK(nearest_name("schedulin", names) == "scheduling");  // one letter missing
  CHECK(nearest_name("plaecment", names) == "placement");   // two neighbours swapped count once
  CHECK(nearest_name("sede", names) == "seed");
  CHECK(nearest_name("esde", names) == "");  // distance 2 of at most 1
  CHECK(nearest_name("sed", names) == "seed");
  CHECK(nearest_name("topology", names) == "");
  CHECK(nearest_name("seed", names) == "seed");
  CHECK(nearest_name("", names) == "");
  CHECK(nearest_name("seed", {}) == "");
}

TEST_CASE("of equally near names the first is offered") {
  CHECK(nearest_name("cat", {"bat", "rat"}) == "bat");
}

TEST_CASE("only two neighbours that are exchanged with each other count once") {
  CHECK(nearest_name("ba", {"ab"}) == "ab");
  CHECK(nearest_name("xa", {"ay"}) == "");
  CHECK(nearest_name("ax", {"ya"}) == "");
  CHECK(nearest_name("badc", {"abcd"}) == "");  // two exchanges, of one that is allowed
  CHECK(nearest_name("badcef", {"abcdef"}) == "abcdef");
}
