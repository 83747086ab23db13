// Collectives over the ranks of several roles: what they wait for, what waits for them, and which graphs are refused.

#include "sim/error.hpp"
#include "tests/sim/graph_oracle.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Two ranks that differ, and between them one that takes no part.
constexpr const char* kThreeRoles =
    "role a 1 | role b 1 | role c 1 | compute x a 10 | compute other b 100 | compute y c 50 | all-reduce g a 12 | "
    "join g 3 | lists g 0,2 | x -> g | y -> g | compute z a 5 | g -> z | compute u c 7 | g -> u | z => x | u => y";

}  // namespace

TEST_CASE("a collective of several roles waits for the ranks of all, and they wait for it") {
  const Run run = simulate({.servers = 2},
                           {{.graph = "role a 1 | role b 1 | compute x a 10 | compute y b 50 | all-reduce g a 12 | "
                                      "join g 2 | x -> g | y -> g | compute z a 5 | g -> z | compute u b 7 | g -> u",
                             .gpus = {0, 1}}});
  CHECK(run.seen.network() == "A.g#0 50-62");
  CHECK(run.seen.gpu(0) == "A.x#0 0-10 | A.z#0 62-67");
  CHECK(run.seen.gpu(1) == "A.y#0 0-50 | A.u#0 62-69");
}

TEST_CASE("a role between others that none of its ranks joins doesn't wait") {
  const Run run = simulate({.servers = 3}, {{.graph = kThreeRoles, .gpus = {0, 1, 2}, .iterations = 2}});
  CHECK(run.seen.gpu(0) == "A.x#0 0-10 | A.z#0 62-67 | A.x#1 67-77 | A.z#1 131-136");
  CHECK(run.seen.gpu(1) == "A.other#0 0-100 | A.other#1 100-200");
  std::vector<std::string> oracle = GraphOracle{graph_from_text(kThreeRoles), 2}.run();
  CHECK(std::ranges::count(oracle, "g#0 - 50-62") == 1);
  CHECK(std::ranges::count(oracle, "u#1 2 131-138") == 1);
}

TEST_CASE("roles of several ranks, on servers that they share") {
  const Run run = simulate({.servers = 2, .gpus_per_server = 2},
                           {{.graph = "role a 3 | role b 1 | compute x a 10 | compute y b 20 | all-reduce g a 5 | "
                                      "join g 2 | x -> g | y -> g | g => x | g => y",
                             .gpus = {0, 1, 2, 3},
                             .iterations = 100}});
  CHECK(run.finish(0) == 2500);
}

TEST_CASE("roles that can't be joined are refused") {
  const auto refusal = [](const char* text) {
    try {
      graph_from_text(text).validate();
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(refusal("role a 1 | role b 1 | all-reduce g a 12 | join g 2") == "");
  CHECK(refusal("role a 1 | role b 1 | all-reduce g b 12 | join g 2").find("can't join these roles") !=
        std::string::npos);
  CHECK(refusal("role a 1 | role b 1 | compute g a 12 | join g 2").find("only a collective can") != std::string::npos);
  CHECK(refusal("role a 2 | role b 1 | all-reduce g a 12 | join g 2 | lists g 0,3").find("rank 3 of the 3 ranks") !=
        std::string::npos);
  CHECK(refusal("role a 2 | role b 1 | late a 1 | compute x a 5 | all-reduce g a 12 | join g 2 | x -> g")
            .find("several roles wait") != std::string::npos);
}
