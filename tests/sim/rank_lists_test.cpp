// Groups of ranks that are listed: which ranks they have, which servers they touch, and that those which follow a rule
// run as the rule does.

#include "sim/graph_plan.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

std::string listed(int ranks, const std::string& lists) {
  return fmt::format("role w {} | compute f w 10 | all-reduce g w 5 | f -> g | g => f | lists g {}", ranks, lists);
}

/// {stride, size} as lists.
std::string lists_of(const RankGroups& groups, int ranks) {
  std::string text;
  for (int group = 0; group < groups.count(ranks); ++group) {
    std::string line;
    for (int rank = 0; rank < ranks; ++rank)
      if (groups.of(rank) == group) line += fmt::format("{}{}", line.empty() ? "" : ",", rank);
    text += (text.empty() ? "" : " ") + line;
  }
  return text;
}

}  // namespace

TEST_CASE("listed groups know their ranks, and ranks in none of them") {
  const IterationGraph graph = graph_from_text(listed(7, "5,0 2,3,1"));
  const RankGroups& groups = graph.ops()[1].groups;
  CHECK(graph.ops()[1].scope == CollectiveScope::groups);
  CHECK(groups.count(7) == 2);
  CHECK(groups.most() == 3);
  CHECK(groups.size_of(0) == 2);
  std::vector<int> of;
  for (int rank = 0; rank < 7; ++rank) of.push_back(groups.of(rank));
  CHECK(of == std::vector<int>{0, 1, 1, 1, -1, 0, -1});
  CHECK(groups == graph_from_text(listed(9, "5,0 2,3,1")).ops()[1].groups);
  CHECK_FALSE(groups == graph_from_text(listed(9, "0,5 2,3,1")).ops()[1].groups);  // another order
  CHECK_FALSE(groups == RankGroups{1, 3});
  CHECK(lists_of({2, 2}, 8) == "0,2 1,3 4,6 5,7");
}

TEST_CASE("lists that name a rank twice, one that isn't there, or none are refused") {
  CHECK_THROWS_WITH(graph_from_text(listed(4, "0,1 1,2")), doctest::Contains("rank 1 is in two groups"));
  CHECK_THROWS_WITH(graph_from_text(listed(4, "0,0")), doctest::Contains("or in one twice"));
  CHECK_THROWS_WITH(graph_from_text(listed(4, "0,-1")), doctest::Contains("has rank -1"));
  CHECK_THROWS_WITH(graph_from_text(listed(4, "0,4")), doctest::Contains("rank 4 of the 4 ranks"));
  CHECK_THROWS_WITH(graph_from_text(listed(4, "0,,1")), doctest::Contains("can't read"));
  IterationGraph graph = graph_from_text(listed(4, "0,1"));
  graph.put_into_groups(OpId{1U}, {.lists = std::make_shared<const RankLists>(std::vector<std::vector<int>>{})});
  CHECK_THROWS_WITH(graph.validate(), doctest::Contains("lists no group"));
}

TEST_CASE("a collective touches the servers of the lists that leave a server, and no others") {
  // Two GPUs a server: ranks 0 and 1 on server 0, and so on.
  const Setup setup{4, 2};
  const std::vector<std::uint32_t> gpus{0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(simulate(setup, {{listed(8, "0,1 4,5"), gpus}}).seen.network().empty());
  const Run run = simulate(setup, {{listed(8, "0,1 3,4 6,7"), gpus, 3}});
  CHECK(run.seen.network() == "A.g#0 10-15 | A.g#1 25-30 | A.g#2 40-45");
  std::vector<std::int64_t> transfers;
  for (const LinkResult& link : run.result.links) transfers.push_back(link.transfers);
  CHECK(transfers == std::vector<std::int64_t>{0, 3, 3, 0});
  // A rank in none waits as the others do.
  CHECK(run.seen.gpu(0) == "A.f#0 0-10 | A.f#1 15-25 | A.f#2 30-40");
  CHECK(simulate(setup, {{listed(8, "0 1 2,6"), gpus}}).seen.network() == "A.g#0 10-15");
}

TEST_CASE("operations with equal lists join the same servers") {
  const Plan plan{
      graph_from_text("role w 4 | all-reduce a w 5 | all-reduce b w 5 | all-reduce c w 5 | all-reduce d w 5 | a -> b | "
                      "b -> c | c -> d | "
                      "lists a 0,1 2,3 | lists b 0,2 1,3 | lists c 0,1 2,3 | groups d 1 2")};
  std::vector<int> lists;
  for (const Plan::PlannedOp& op : plan.ops) lists.push_back(op.lists);
  CHECK(lists == std::vector<int>{0, 1, 0, -1});
  CHECK(plan.foldable);
}

TEST_CASE("groups that follow a rule run the same as lists") {
  std::uint64_t carried = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{60}); ++seed) {
    RandomStream random{seed, "lists"};
    const auto in = [&](std::int64_t low, std::int64_t high) {
      return static_cast<int>(random.uniform_integer(low, high));
    };
    const int sizes[] = {1, 2, 3, 4, 6}, strides[] = {1, 2, 3};
    const RankGroups groups{strides[in(0, 2)], sizes[in(0, 4)]};
    const int ranks = groups.stride * groups.size * in(1, 3);
    std::vector<std::uint32_t> gpus;
    for (int rank = 0; rank < ranks; ++rank) gpus.push_back(static_cast<std::uint32_t>(rank));
    const std::string graph =
        fmt::format("role w {} | compute f w {} | all-reduce g w {} | f -> g | g => f | ", ranks, in(1, 9), in(1, 9));
    const Setup setup{.servers = (ranks + 1) / 2, .gpus_per_server = 2};
    const auto run = [&](const std::string& how) { return simulate(setup, {{graph + how, gpus, in(1, 40)}}).result; };
    RandomStream before = random;
    const RunResult by_rule = run(fmt::format("groups g {} {}", groups.stride, groups.size));
    random = before;
    const RunResult by_list = run("lists g " + lists_of(groups, ranks));
    // A rule touches all servers of the job where any group leaves one, lists touch the servers of such groups.
    CHECK(by_rule.jobs[0].finish == by_list.jobs[0].finish);
    CHECK(by_rule.jobs[0].communication == by_list.jobs[0].communication);
    if (by_list.jobs[0].communication > Time{}) ++carried;
  }
  CHECK(carried * 4 > effort(std::uint64_t{60}));
}
