// Copies of a SharedFunction share its captured values, so the start of the program stays short as keys nest deeper.

#include "scenarios/yaml/shared_function.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <memory>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct Inner {
  std::shared_ptr<int> captured;
  int operator()(int x) const { return *captured + x; }
};

struct Leaf {
  int value = 0;
  friend bool operator==(const Leaf&, const Leaf&) = default;
};
struct Tree {
  Leaf leaf;
};

}  // namespace

TEST_CASE("a shared function is called as a function and can be empty") {
  SharedFunction<int(int)> none;
  CHECK_FALSE(none);
  const SharedFunction<int(int)> add = Inner{std::make_shared<int>(3)};
  REQUIRE(add);
  CHECK(add(4) == 7);
}

TEST_CASE("copies of a shared function don't copy the captured values") {
  auto captured = std::make_shared<int>(1);
  const SharedFunction<int(int)> first = Inner{captured};
  const long owners = captured.use_count();
  const auto second = first;
  const auto third = second;
  CHECK(captured.use_count() == owners);
  CHECK(third(1) == 2);
}

TEST_CASE("a codec that is nested in maps is not copied with them") {
  auto captured = std::make_shared<int>(1);
  Codec<int> number = integer_codec<int>(0, 9);
  number.print = [captured](const int& value) { return fmt::format("{}", value + *captured); };
  const long owners = captured.use_count();
  const auto leaf = map_codec<Leaf>({field("value", &Leaf::value, number)}, "{value: 1}");
  const auto tree = map_codec<Tree>({field("leaf", &Tree::leaf, leaf)}, "{leaf: {value: 1}}");
  const auto list = list_codec(tree, "trees");
  CHECK(captured.use_count() == owners);
  CHECK(list.print({Tree{Leaf{4}}}) == "[{leaf: {value: 5}}]");
}
