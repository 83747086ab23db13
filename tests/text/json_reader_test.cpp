#include "tests/traces/layer_test_kit.hpp"

#include "text/byte_source.hpp"
#include "text/json_reader.hpp"

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <zlib.h>

using namespace contend;

namespace {

JsonValue parse(const std::string& text) {
  TextSource source{text};
  return read_json(source, "t.json");
}

std::string complaint(const std::string& text) {
  try {
    static_cast<void>(parse(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// A source that never ends: `[[[[...`.
class Brackets final : public ByteSource {
 public:
  std::size_t read(char* buffer, std::size_t size) override {
    std::fill_n(buffer, size, '[');
    given_ += size;
    return size;
  }
  [[nodiscard]] std::size_t given() const { return given_; }

 private:
  std::size_t given_ = 0;
};

std::string compressed(const std::string& path, const std::string& text) {
  gzFile file = ::gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
  return path;
}

std::string temporary_file(const std::string& name) {
  return (std::filesystem::temp_directory_path() / name).string();
}

}  // namespace

TEST_CASE("json: values, their text and their places") {
  const JsonValue value = parse("{\"a\": [1, -2.50, 1e-5,\n  true, null, \"x\\u00e9\\\"\"],\n \"b\": {}}");
  REQUIRE(value.is(JsonValue::Kind::object));
  const JsonValue* list = value.find("a");
  REQUIRE(list != nullptr);
  REQUIRE(list->items.size() == 6);
  CHECK(list->place.line == 1);
  CHECK(list->place.column == 7);
  CHECK(list->items[0].text == "1");
  CHECK(list->items[1].text == "-2.50");
  CHECK(list->items[1].place.column == 11);
  CHECK(list->items[2].text == "1e-5");
  CHECK(list->items[3].boolean);
  CHECK(list->items[3].place.line == 2);
  CHECK(list->items[3].place.column == 3);
  CHECK(list->items[4].is(JsonValue::Kind::null));
  CHECK(list->items[5].text == "x\xC3\xA9\"");
  CHECK(value.find("b")->items.empty());
  CHECK(value.find("c") == nullptr);
  CHECK(parse("18446744073709551615").text == "18446744073709551615");
}

TEST_CASE("json: invalid JSON is refused with its place") {
  check_says(complaint(""), "t.json:1:1: not valid JSON");
  check_says(complaint("{\"a\": 1,\n \"b\": }"), "t.json:2:");
  check_says(complaint("{\"a\": NaN}"), "JSON has no NaN and no infinity");
  check_says(complaint("{\"a\": -Infinity}"), "t.json:1:7: not valid JSON");
  check_says(complaint("[1, 2"), "t.json:1:6: not valid JSON");
  check_says(complaint("[1] 2"), "not valid JSON");
  check_says(complaint("[1e999]"), "t.json:1:2: not valid JSON");
  check_says(complaint("[\"\xFF\"]"), "not valid JSON");
  check_says(complaint("[1, // no comments\n2]"), "t.json:1:");
  check_says(complaint("{\"a\": 1,\n\"a\": 1}"), "t.json:2:1: \"a\" appears twice in one object");
}

TEST_CASE("json: endless nesting is refused at once") {
  Brackets brackets;
  CHECK_THROWS_WITH_AS(static_cast<void>(read_json(brackets, "deep.json")),
                       "deep.json:1:65: nested deeper than 64 levels", InputError);
  CHECK(brackets.given() <= 1 << 17);
  const std::string deep(64, '[');
  CHECK(complaint(deep + std::string(64, ']')).empty());
  CHECK(!complaint("[" + deep + std::string(65, ']')).empty());
}

TEST_CASE("json: a stream of elements is not kept in memory") {
  const std::string text = "{\"x\": {\"list\": [1]}, \"list\": [{\"k\": 1, \"k\": 2}, [3], 4], \"y\": [5, 6]}";
  TextSource source{text};
  std::vector<JsonValue> seen;
  const JsonValue rest =
      stream_json(source, "t.json", "list", [&](const JsonValue& element) { seen.push_back(element); });
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].count("k") == 2);
  CHECK(seen[1].items[0].text == "3");
  CHECK(seen[2].text == "4");
  CHECK(rest.find("list")->items.empty());
  CHECK(rest.find("x")->find("list")->items.size() == 1);
  CHECK(rest.find("y")->items.size() == 2);

  const auto fails = [](const std::string& bad) {
    TextSource bad_source{bad};
    try {
      static_cast<void>(stream_json(bad_source, "t.json", "list", [](const JsonValue&) {}));
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(fails("[{}]") == "t.json:1:1: expected an object with an array \"list\"");
  CHECK(fails("{\"list\": {}}") == "t.json:1:10: list: expected an array");
  CHECK(fails("{\"list\": 1}") == "t.json:1:1: list: expected an array \"list\"");
  CHECK(fails("{}") == "t.json:1:1: list: expected an array \"list\"");
}

TEST_CASE("files: plain, compressed, cut off, damaged, missing") {
  const std::string text = "layer,parameters,backward_us\na,1,1\nb,2,2.5\n";
  const std::string path = compressed(temporary_file("contend_layers.csv.gz"), text);
  CHECK(read_timed_model(path).gradient_elements() == 3);

  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 5);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_timed_model(path)),
                       (path + ": the file ends within its compressed data").c_str(), InputError);
  compressed(path, text);
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  std::fseek(file, 14, SEEK_SET);
  std::fputs("\xFF\xFF\xFF\xFF", file);
  std::fclose(file);
  CHECK_THROWS_AS(static_cast<void>(read_timed_model(path)), InputError);
  std::filesystem::remove(path);

  CHECK_THROWS_WITH_AS(static_cast<void>(read_timed_model("no/such.csv")),
                       "no/such.csv: can't be read: No such file or directory", InputError);
  CHECK_THROWS_AS(static_cast<void>(read_timed_model("tests")), InputError);
}
