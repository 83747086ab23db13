// Lengths of documents from a text: what is read, and what is refused.

#include "tests/traces/layer_test_kit.hpp"
#include "traces/layers/document_lengths.hpp"

#include <cstdint>
#include <utility>
#include <vector>

using namespace contend;

namespace {

std::string length_complaints(std::string_view text) {
  try {
    (void)parse_document_lengths(text, "lengths.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("document lengths: numbers are added up, lengths without documents are left out") {
  const std::vector<std::pair<std::int64_t, double>> expected{{100, 4}, {300, 9}};
  CHECK(parse_document_lengths("documents,tokens\n4,100\n0,200\n5,300\n", "x") == expected);
}

TEST_CASE("document lengths: what is refused") {
  check_says(length_complaints("tokens,documents\n100,4\n100,5\n"), "100 is not more than 100 in the row before");
  check_says(length_complaints("tokens,documents\n100,4\n0,5\n"), "lengths.csv:3");
  check_says(length_complaints("tokens,documents\n100,0\n"), "there is no document");
  check_says(length_complaints("tokens,number\n100,4\n"), "documents");
}
