#include "policies/pipeline/own_order.hpp"
#include "tests/effort.hpp"
#include "tests/policies/pipeline/pipeline_kit.hpp"
#include "tests/text_checks.hpp"

#include <map>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

PipelinePlan read(const std::string& text, int ranks, int micro_batches, int chunks = 0) {
  return pipeline({"file", {}})
      ->plan(
          {.ranks = ranks, .micro_batches = micro_batches, .chunks = chunks, .own_text = text, .own_file = "own.txt"});
}

std::string refused(const std::string& text, int ranks = 2, int micro_batches = 1, int chunks = 0) {
  try {
    static_cast<void>(read(text, ranks, micro_batches, chunks));
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("an own order is read as it stands: comments, lines that go on, chunks, merged passes") {
  const PipelinePlan plan = read(
      "# one chunk is as good as another\n"
      "layout both-ways   # two directions\n"
      "rank 1: F1.1 F0.0\n"
      "        B0.0 Bi1.1 W1.1\r\n"
      "\n"
      "rank 0: F0.0\tF1.1\n"
      "B1.1 B0.0",
      2, 2);
  CHECK(plan.stages == 2);
  CHECK(plan.path_of == std::vector<int>{0, 1});
  CHECK(plan.stage_of == std::vector<std::vector<int>>{{0, 1}, {1, 0}});
  REQUIRE(plan.order[1].size() == 5);
  CHECK(plan.order[1][3].pass[0] == PipelinePass{PassKind::backward_input, 1, 1});
  CHECK(plan.order[0][3].pass[0] == PipelinePass{PassKind::backward, 0, 0});
  // F1.1, F0.0 and its way on: 1, 1, then rank 0 F1.1 and rank 1 F0.0 until 2, B until 4, B until 6.
  CHECK(times_of(plan, 1, 1, 1).makespan == Time::nanoseconds(6));

  const PipelinePlan merged = read("rank 0: F0 F1+B0 B1", 1, 2);
  CHECK(merged.order[0][1].is_merged);
  CHECK(times_of(merged, 1, 1, 1).makespan == Time::nanoseconds(6));
}

TEST_CASE("every schedule, written as a text, reads back as the same plan") {
  RandomStream random{13, "own-order"};
  std::map<std::string_view, int> seen;
  for (int round = 0; round < effort(20); ++round) {
    for (const PolicyRow<PipelineSchedule>& row : pipeline_schedules()) {
      if (row.name == "file") continue;
      INFO(row.name, " ", round);
      const PipelinePlan plan = valid_plan({std::string{row.name}, {}}, random_shape(row.name, random, 6));
      const std::string text = own_order_text(plan);
      const PipelinePlan same = read(text, static_cast<int>(plan.ranks()), plan.micro_batches);
      CHECK(same.stage_of == plan.stage_of);
      CHECK(same.paths == plan.paths);
      CHECK(same.path_of == plan.path_of);
      CHECK(own_order_text(same) == text);
      CHECK(times_of(same, 7, 5, 3, 2).end == times_of(plan, 7, 5, 3, 2).end);
      ++seen[row.name];
    }
  }
  CHECK(seen.size() + 1 == pipeline_schedules().size());
}

TEST_CASE("faults of an own order have their line and column, and say what would be right") {
  CHECK(refused("rank 0: F0 B0\nrank 1: F0 B0") == "none");
  struct Case {
    std::string text, says;
  };
  const std::vector<Case> cases{
      {"rank 0: F0 B0\nrank 1: F0 X0", "own.txt:2:12: 'X0' is no step; F3, B3"},
      {"rank 0: F0 B0\nrank 1: F0 B", "own.txt:2:12: 'B' is no step"},
      {"rank 0: F0 B0\nrank 1: F0 B-1", "own.txt:2:12: 'B-1' is no step"},
      {"rank 0: F0 B0\nrank 1: F0 B0.", "own.txt:2:12: 'B0.' is no step"},
      {"rank 0: F0 B0\nrank 1: F0+", "own.txt:2:9: 'F0+' is no step"},
      {"rank 0: F0 B0\nrank 1: F99999999999 B0", "own.txt:2:9: 'F99999999999' is no step"},
      {"rank 0: F0 B0\nrank 1: F0 B1", "own.txt:2:12: there is no micro-batch 1: the pipeline has 1; 0 to 0"},
      {"rank 0: F0 B0\nrank 2: F0 B0", "own.txt:2:6: there is no rank 2: the pipeline has 2 ranks; 0 to 1"},
      {"rank 0: F0 B0\nrank 0: F0 B0", "own.txt:2:6: rank 0 is there twice"},
      {"rank 0: F0 B0",
       "own.txt: rank 1: the schedule doesn't say what this rank does; a line that begins with `rank 1:`"},
      {"rank 0 F0 B0", "own.txt:1:6: a rank's steps begin with its number and a colon"},
      {"rank\nrank 1: F0 B0", "own.txt:1:1: a rank's steps begin with its number and a colon"},
      {"F0 B0\nrank 1: F0 B0", "own.txt:1:1: 'F0' belongs to no rank"},
      {"layout W\nrank 0: F0 B0\nrank 1: F0 B0", "own.txt:1:8: this is no layout; loop, v or both-ways"},
      {"layout\nrank 0: F0 B0\nrank 1: F0 B0", "own.txt:1:1: this is no layout"},
      {"rank 0: F0 B0\nlayout loop\nrank 1: F0 B0", "own.txt:2:1: the layout comes after the first rank"},
      {"layout v\nrank 0: F0.2\nrank 1: F0",
       "own.txt: a rank has 3 chunks, which the layout v doesn't allow; chunks 0 to 1"},
      {"rank 0: F0 B0 F0\nrank 1: F0 B0", "own.txt:1:15: rank 0, step 2: F0.0 stage 0 is computed twice"},
      {"rank 0: F0 B0\nrank 1: F0", "own.txt: rank 1: B0.0 stage 1 is missing"},
      {"rank 0: F0 B0\nrank 1: B0 F0", "own.txt:2:9: rank 1, step 0: B0.0 stage 1 comes before its forward pass"},
      {"rank 0: F0 B0\nrank 1: F0+W0 Bi0", "own.txt:2:9: rank 1, step 0: F0.0 and W0.0 can't be merged"},
  };
  for (const Case& each : cases) {
    const std::string said = refused(each.text);
    CAPTURE(each.text);
    CAPTURE(said);
    CHECK(contains(said, each.says));
  }
  CHECK(contains(refused("rank 0: F0 F1 B0 B1\nrank 1: F1 B1 F0 B0\n", 2, 2), "none"));  // in another order, and fine
  CHECK(contains(refused("rank 0: F0 B0 F1 B1\nrank 1: F1 B1 F0 B0\n", 2, 2),
                 "own.txt:1:12: rank 0, step 1: B0.0 stage 0 waits for the gradient of micro-batch 0"));
  CHECK(contains(refused("rank 0: F0 B0\nrank 1: F0 B0", 2, 1, 2), "virtual: the schedule file can't hold 2 stages"));
  CHECK(contains(refused(std::string(3000, 'x')), "own.txt:1:1: "));
  PipelineShape nothing{.ranks = 2, .micro_batches = 2};
  CHECK_THROWS_AS(static_cast<void>(pipeline({"file", {}})->plan(nothing)), InputError);
}

TEST_CASE("whatever is wrong in a text, it is a complaint") {
  RandomStream random{17, "own-order-mutants"};
  const std::string pieces = "FBWi0123456789.+:# \n\trankloutvb-";
  int refusals = 0, plans = 0;
  for (int round = 0; round < effort(3000); ++round) {
    const char* const name = round % 3 == 0 ? "zb-v" : round % 3 == 1 ? "dualpipe" : "1f1b";
    const PipelinePlan plan = valid_plan({name, {}}, {.ranks = 2, .micro_batches = 4});
    std::string text = own_order_text(plan);
    for (std::int64_t edits = random.uniform_integer(1, 3); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(random.uniform_integer(0, static_cast<std::int64_t>(text.size()) - 1));
      const char piece =
          pieces[static_cast<std::size_t>(random.uniform_integer(0, static_cast<std::int64_t>(pieces.size()) - 1))];
      switch (random.uniform_integer(0, 2)) {
        case 0:
          text[at] = piece;
          break;
        case 1:
          text.insert(at, 1, piece);
          break;
        default:
          text.erase(at, 1);
      }
    }
    try {
      const PipelinePlan read_plan = read(text, 2, 4);
      CHECK_NOTHROW(validate(read_plan));
      ++plans;
    } catch (const InputError& error) {
      CHECK(error.complaints()[0].file == "own.txt");
      ++refusals;
    }
  }
  CHECK(refusals > effort(3000) / 2);
  CHECK(plans > 0);  // a blank or a comment more, or two passes that may change places
}

TEST_CASE("PyTorch's table of a schedule is an own order") {
  // Two stages a rank, rank 1 waits in its first step.
  const PipelinePlan loop = read(
      "0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1\r\n"
      ",1F0,1F1,3F0,3B0,3F1,3I1,3W1,1B0,1B1\r\n",
      2, 2);
  CHECK(loop.stage_of == std::vector<std::vector<int>>{{0, 2}, {1, 3}});
  REQUIRE(loop.order[1].size() == 9);
  CHECK(loop.order[1][5].pass[0] == PipelinePass{PassKind::backward_input, 1, 1});
  CHECK(own_order_text(loop) ==
        "layout loop\nrank 0: F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0\n"
        "rank 1: F0.0 F1.0 F0.1 B0.1 F1.1 Bi1.1 W1.1 B0.0 B1.0\n");
  // The V, cells that only move data, and two passes as one.
  const PipelinePlan v = read(
      "0UNSHARD,0F0,0SEND_F0,3RECV_F0,3F0,(0F1;3B0)OVERLAP_F_B,3F1,3B1,0B0,0B1,0RESHARD,0REDUCE_GRAD\n"
      ",1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\n\n",
      2, 2);
  CHECK(own_order_text(v) ==
        "layout v\nrank 0: F0.0 F0.1 F1.0+B0.1 F1.1 B1.1 B0.0 B1.0\n"
        "rank 1: F0.0 F0.1 F1.0 F1.1 B0.1 B0.0 B1.1 B1.0\n");
  CHECK(contains(refused("0F0,0Q1\n1F0,1B0\n"), "own.txt:1:5: '0Q1' is no step; 0F3, 0B3, 0I3 or 0W3"));
  CHECK(contains(refused("0F0,1B0\n1F0,1B0\n"), "own.txt:1:5: '1B0' is no step"));
  CHECK(contains(refused("0F0,0B0\n"), "rank 1: the schedule doesn't say what this rank does; a row for each rank"));
  CHECK(contains(refused("0F0,0B0\n1F0,1B7\n"), "own.txt:2:5: there is no micro-batch 7"));
  CHECK(contains(refused("(0F0;)OVERLAP_F_B\n1F0\n"), "'(0F0;)OVERLAP_F_B' is no step"));
}
