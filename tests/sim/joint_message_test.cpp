// Joint messages and collectives in groups: when they begin and end, which servers they touch, and that ranks which do
// the same are simulated as one, also in graphs of several roles.

#include "tests/near.hpp"
#include "tests/sim/test_kit.hpp"

#include "sim/graph_plan.hpp"
#include "sim/random_stream.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// A pipeline of three stages of `ranks` ranks: forward and backward of two micro-batches, messages of 5 bytes each
/// way, and a reduce-scatter of the gradients in groups of two.
std::string pipeline(int ranks, const std::vector<std::int64_t>& times, const std::string& kind) {
  std::string graph;
  for (const char* role : {"s", "t", "u"}) graph += fmt::format("role {} {} | ", role, ranks);
  const char* const roles[] = {"s", "t", "u"};
  for (int stage = 0; stage < 3; ++stage) {
    for (int batch = 0; batch < 2; ++batch) {
      for (const char pass : {'F', 'B'})
        graph += fmt::format("compute {}{}{} {} {} | ", pass, stage, batch, roles[stage],
                             times[static_cast<std::size_t>(stage)] * (pass == 'F' ? 1 : 2));
    }
    graph += fmt::format("F{0}0 -> F{0}1 | F{0}1 -> B{0}0 | B{0}0 -> B{0}1 | B{0}1 => F{0}0 | ", stage);
  }
  for (int stage = 0; stage < 2; ++stage) {
    for (int batch = 0; batch < 2; ++batch) {
      graph += fmt::format("{0} a{1}{3} {4} {5} 5 | F{1}{3} -> a{1}{3} | a{1}{3} -> F{2}{3} | ", kind, stage, stage + 1,
                           batch, roles[stage], roles[stage + 1]);
      graph += fmt::format("{0} g{2}{3} {5} {4} 5 | B{2}{3} -> g{2}{3} | g{2}{3} -> B{1}{3} | ", kind, stage, stage + 1,
                           batch, roles[stage], roles[stage + 1]);
    }
  }
  return graph + "reduce-scatter R0 s 30 | B01 -> R0 | R0 => F00";
}

std::vector<std::uint32_t> first_gpus(int count) {
  std::vector<std::uint32_t> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(static_cast<std::uint32_t>(i));
  return gpus;
}

}  // namespace

TEST_CASE("joint messages: they begin when all ranks are ready and end together") {
  // Rank 0 of s shares GPU 0 with B, whose task comes first and takes 7: its f ends at 17, the f of rank 1 at 10.
  const Run run =
      simulate({.servers = 4}, {{"role b 1 | compute x b 7", {0}},
                                {"role s 2 | role t 2 | compute f s 10 | joint-message m s t 5 | compute x t 1\n"
                                 "f -> m | m -> x",
                                 {0, 1, 2, 3}}});
  CHECK(run.seen.network() == "B.m#0 17-22");
  CHECK(run.seen.gpu(2) == "B.x#0 22-23");
  CHECK(run.seen.gpu(3) == "B.x#0 22-23");
  CHECK(run.result.jobs[1].communication.ns() == 5);
}

TEST_CASE("joint messages touch the servers between which they pass, and no others") {
  // Ranks 0 and 1 of s are on servers 0 and 1, the ranks of t on servers 0 and 2: the first message stays inside server
  // 0.
  const std::string graph =
      "role s 2 | role t 2 | compute f s 10 | joint-message m s t 5 | compute x t 1 | f -> m | m -> x";
  const Run run = simulate({3, 2}, {{graph, {0, 2, 1, 4}}});
  CHECK(run.seen.network() == "A.m#0 10-15");
  CHECK(run.result.links[0].transfers == 0);
  CHECK(run.result.links[1].transfers == 1);
  CHECK(run.result.links[2].transfers == 1);
  // Pairs inside servers alone: no message passes the network.
  CHECK(simulate({2, 2}, {{graph, {0, 2, 1, 3}}}).seen.network().empty());
}

TEST_CASE("groups: a collective whose groups stay inside servers passes no interface") {
  const std::string graph = "role w 4 | compute f w 10 | all-reduce g w 5 | f -> g | g => f | groups g ";
  CHECK(simulate({2, 2}, {{graph + "1 2", {0, 1, 2, 3}}}).seen.network().empty());
  CHECK(simulate({2, 2}, {{graph + "2 2", {0, 1, 2, 3}}}).seen.network() == "A.g#0 10-15");
  CHECK(RankGroups{2, 2}.of(0) == 0);
  CHECK(RankGroups{2, 2}.of(1) == 1);
  CHECK(RankGroups{2, 2}.of(2) == 0);
  CHECK(RankGroups{2, 2}.of(5) == 3);
  CHECK(RankGroups{2, 2}.count(8) == 4);
}

TEST_CASE("groups that no whole number of fills the role are refused") {
  CHECK_THROWS_WITH(graph_from_text("role w 6 | all-reduce g w 5 | groups g 2 2"),
                    doctest::Contains("has groups of 2 ranks, 2 apart, of which no whole number fills the 6 ranks"));
  CHECK_THROWS_WITH(graph_from_text("role w 6 | all-reduce g w 5 | groups g 0 2"), doctest::Contains("0 apart"));
}

TEST_CASE("ranks of several roles fold if no message goes from rank to rank") {
  CHECK(Plan{graph_from_text(pipeline(2, {3, 3, 3}, "joint-message"))}.foldable);
  CHECK_FALSE(Plan{graph_from_text(pipeline(2, {3, 3, 3}, "message"))}.foldable);
  CHECK_FALSE(Plan{graph_from_text("role s 2 | role t 2 | compute f s 1 | compute x t 1 | f -> x")}.foldable);
}

TEST_CASE("a folded pipeline takes as long as one of single ranks, event by event and with leaps") {
  RandomStream draws{7, "joint messages"};
  int compared = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<std::int64_t> times;
    for (int stage = 0; stage < 3; ++stage) times.push_back(draws.uniform_integer(1, 30));
    const Setup setup{6, 2};
    const std::int64_t iterations = draws.uniform_integer(1, 40);
    const Run joint = simulate(setup, {{pipeline(4, times, "joint-message"), first_gpus(12), iterations}});
    const Run single = simulate(setup, {{pipeline(4, times, "message"), first_gpus(12), iterations}});
    REQUIRE(joint.finish(0) == single.finish(0));
    ++compared;
  }
  CHECK(compared == 40);
}

TEST_CASE("a folded pipeline needs no more events for more ranks") {
  const auto events = [](int ranks) {
    return simulate_once({6 * ranks, 2}, {{pipeline(4 * ranks, {3, 5, 4}, "joint-message"), first_gpus(12 * ranks), 5}},
                         true)
        .events;
  };
  CHECK(events(16) == events(1));
}
