#include "sim/fields.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("named texts: a text is what stands behind the first colon") {
  const NamedTexts texts{"# a comment\n\nzero: with zero: 3\ntraining.*.model:   a network  \n"};
  CHECK(texts.all().size() == 2);
  CHECK(texts.of("zero") == "with zero: 3");
  CHECK(texts.of("training.*.model") == "a network");
}

TEST_CASE("entries: a comment begins its line, and a # elsewhere is part of a value") {
  const auto entries =
      read_entries("# two\nverb run\n  # of run\n  example contend run s.yaml   # a folder\nverb man\n");
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].kind == "verb");
  CHECK(entries[0].text("example") == "contend run s.yaml   # a folder");
  CHECK(entries[0].lines.size() == 1);
  CHECK(entries[1].name == "man");
}
