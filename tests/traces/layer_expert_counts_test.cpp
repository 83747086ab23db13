// Tokens of experts from a text: what is read, and what is refused.

#include "tests/traces/layer_test_kit.hpp"
#include "traces/layers/expert_counts.hpp"

#include <vector>

using namespace contend;

namespace {

std::string expert_complaints(std::string_view text, std::int64_t experts) {
  try {
    (void)parse_expert_counts(text, "counts.csv", experts);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("expert counts: rows in any order") {
  CHECK(parse_expert_counts("tokens,expert\n7,1\n0,0\n12,2\n", "x", 3) == std::vector<double>{0, 7, 12});
}

TEST_CASE("expert counts: what is refused") {
  check_says(expert_complaints("expert,tokens\n0,4\n0,5\n1,1\n", 2), "expert 0 has a row already");
  check_says(expert_complaints("expert,tokens\n0,4\n", 2), "no row for expert 1: the model has 2 experts");
  check_says(expert_complaints("expert,tokens\n0,0\n1,0\n", 2), "every expert has 0 tokens");
  check_says(expert_complaints("expert,tokens\n0,4\n2,5\n", 2), "counts.csv:3");
  check_says(expert_complaints("expert,tokens\n0,-4\n1,5\n", 2), "counts.csv:2");
  check_says(expert_complaints("expert,token\n0,4\n", 1), "tokens");
  // A row with a fault says nothing about others.
  const std::string faulty = expert_complaints("expert,tokens\n0,1\nx,2\n", 2);
  CHECK(faulty.find("expert: expected a whole number, got \"x\"") != std::string::npos);
  CHECK(faulty.find("has a row already") == std::string::npos);
}
