// What a scenario may not contain although YAML may, and the places of complaints.
#include "tests/scenarios/scenario_text.hpp"

#include "scenarios/keys/print.hpp"

#include <doctest/doctest.h>

namespace contend {
namespace {

TEST_CASE("duplicate keys, which yaml-cpp accepts") {
  CHECK(errors_of("cluster:\n  servers: 2\n  servers: 3\n") ==
        "a.yaml:4:3: cluster.servers: duplicate key, first at line 3");
  CHECK(errors_of("seed: 1\n\"seed\": 2\n") == "a.yaml:3:1: seed: duplicate key, first at line 2");
}

TEST_CASE("anchors, aliases, tags, directives and merge keys") {
  CHECK(errors_of("cluster: &c {servers: 2}\n") == "a.yaml:2:10: cluster: anchors are not allowed here");
  CHECK(errors_of("seed: !!int 2\n") == "a.yaml:2:7: seed: tags are not allowed here");
  CHECK(errors_of("cluster: !{servers: 2}\n") == "a.yaml:2:10: cluster: tags are not allowed here");
  CHECK(errors_of("% seed: 2\n") == "a.yaml:2:1: directives are not allowed here");
  CHECK(errors_of("name: ! 'a'\n") == "a.yaml:2:7: name: tags are not allowed here");
  CHECK(errors_of("cluster:\n  <<: {servers: 2}\n") ==
        "a.yaml:3:3: cluster.<<: merge keys are not allowed here; use `include`");
}

TEST_CASE("keys that are no names") {
  CHECK(errors_of("? [a]\n: 1\n") == "a.yaml:2:3: expected a key, got a list or map (is a bracket not closed?)");
  CHECK(errors_of("~: 1\n") == "a.yaml:2:1: expected a key, got nothing");
  CHECK(errors_of(std::string(200, 'k') + ": 1\n") == "a.yaml:2:1: a key of more than 128 bytes");
}

TEST_CASE("one document, and that a map") {
  CHECK(errors_of_file("") == "a.yaml: expected a map of keys, got nothing");
  CHECK(errors_of_file("# only a comment\n") == "a.yaml: expected a map of keys, got nothing");
  CHECK(errors_of_file("- a\n") == "a.yaml:1:1: expected a map of keys, got a list");
  CHECK(errors_of_file("scenario\n") == "a.yaml:1:1: expected a map of keys, got \"scenario\"");
  CHECK(errors_of("---\nseed: 1\n") == "a.yaml:3:1: a second document; put it into a file of its own");
}

TEST_CASE("syntax errors have a place") {
  CHECK(errors_of("cluster:\n   servers: 2\n  gpu_memory: 1GB\n") == "a.yaml:4:3: not YAML: end of map not found");
  CHECK(errors_of("cluster:\n\tservers: 2\n") == "a.yaml:3:9: not YAML: illegal map value");
}

TEST_CASE("quotes that are not closed, which yaml-cpp takes for the rest of the file") {
  CHECK(errors_of("name: \"open\nseed: x\n") == "a.yaml:2:7: name: the quote is not closed");
  CHECK(errors_of("name: 'it''s\n") == "a.yaml:2:7: name: the quote is not closed");
  CHECK(errors_of("name: \"a\\\"\n") == "a.yaml:2:7: name: the quote is not closed");
  CHECK(errors_of("description: '\xe2\x82\xac'\r\nname: 'a\r\n") == "a.yaml:3:7: name: the quote is not closed");
  CHECK(errors_of_file("\xef\xbb\xbf'name': 'a").starts_with("a.yaml:1:"));
  CHECK(parsed("name: 'a''b'\r\ndescription: \"\xe2\x82\xac\\\\\"\r\n").description == "\xe2\x82\xac\\");
  CHECK(errors_of("", {"name='a"}) == "--set: not YAML: illegal EOF in scalar");
}

TEST_CASE("bytes that yaml-cpp swallows") {
  // 0x04 ends its input: without this complaint the seed would be ignored.
  CHECK(errors_of("name: a\x04\nseed: x\n") == "a.yaml:2:8: control character 0x04");
  CHECK(errors_of("name: caf\xe9\n") == "a.yaml:2:10: not UTF-8 text");
  CHECK(errors_of("name: \xed\xa0\x80\n") == "a.yaml:2:7: not UTF-8 text");  // a surrogate
  CHECK(parsed("name: caf\xc3\xa9\n").name == "caf\xc3\xa9");
  CHECK(errors_of_file("\xef\xbb\xbfschema_version: 1\n").empty());
}

TEST_CASE("bombs") {
  const std::string lists = "name: " + std::string(150, '[') + std::string(150, ']') + "\n";
  CHECK(errors_of(lists) == "a.yaml:2:106: name: nested more than 100 deep");
  CHECK_FALSE(errors_of("name: " + std::string(20'000, '[') + "\n").empty());
  CHECK(errors_of("# " + std::string(kMaxSourceBytes, 'x') + "\n") ==
        "a.yaml: larger than 1048576 bytes; put long job lists into a CSV file (workload.jobs)");
  // An error at every word of one very long line: neither quadratic time nor a page for each of them.
  std::string words = "{schema_version: 1";
  for (int i = 0; i < 5'000; ++i) words += ", k" + std::to_string(i) + ": 1";
  CHECK(errors_of_file(words + "}").size() < 5'000 * 80);
}

TEST_CASE("the caret stands below what is wrong") {
  try {
    static_cast<void>(parsed("cluster: {servers: eight}\r\n"));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string{error.what()} ==
          "a.yaml:2:20: cluster.servers: expected an integer >= 1, got \"eight\"\n"
          "  cluster: {servers: eight}\n"
          "                     ^");
  }
}

TEST_CASE("texts keep what they say") {
  CHECK(parsed("name: no\n").name == "no");
  CHECK(parsed("name: 010\n").name == "010");
  CHECK(parsed("name: 'it''s'\n").name == "it's");
  CHECK(parsed("description: |\n  two\n  lines\n").description == "two\nlines\n");
  const std::string odd = "description: \"\\0 \\x7f \\t \\\\ \\\" \\u20ac \\u2028\"\n";
  CHECK(parse_scenario(to_yaml(parsed(odd)), "b.yaml").description == parsed(odd).description);
}

}  // namespace
}  // namespace contend
