// What is known of pipeline schedules: times and activations as formulas, over grids of shapes and costs, to the
// nanosecond.

#include "tests/effort.hpp"
#include "tests/models/parallel/equal_costs.hpp"
#include "tests/policies/pipeline/pipeline_kit.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Ranks, micro-batches, and times of forward passes and of gradients of inputs and weights.
struct Setting {
  int p = 1, m = 1;
  std::int64_t f = 0, bi = 0, w = 0;
  [[nodiscard]] std::int64_t b() const { return bi + w; }
  [[nodiscard]] std::int64_t makespan(const Choice& schedule, int v = 0) const {
    return times(schedule, v).makespan.ns();
  }
  [[nodiscard]] PipelineTimes times(const Choice& schedule, int v = 0) const {
    return times_of(valid_plan(schedule, {.ranks = p, .micro_batches = m, .chunks = v}), f, bi, w);
  }
};

constexpr std::array<std::array<std::int64_t, 3>, 8> kCosts = {
    {{10, 10, 10}, {7, 10, 10}, {13, 12, 6}, {10, 9, 12}, {12, 12, 7}, {5, 9, 6}, {20, 11, 10}, {9, 5, 3}}};

/// Calls `check` for every setting of the grid.
template <class Check>
int over_grid(int most_ranks, int most_batches, const Check& check) {
  int settings = 0;
  for (int p = 1; p <= most_ranks; ++p) {
    for (int m = 1; m <= most_batches; ++m) {
      for (const auto& cost : kCosts) {
        const Setting at{p, m, cost[0], cost[1], cost[2]};
        INFO(at.p, " ", at.m, " ", at.f, " ", at.bi, " ", at.w);
        check(at);
        ++settings;
      }
    }
  }
  return settings;
}

int largest(const std::vector<int>& numbers) {
  return *std::max_element(numbers.begin(), numbers.end());
}

std::string refusal(const Choice& schedule, const PipelineShape& shape) {
  try {
    static_cast<void>(pipeline(schedule)->plan(shape));
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("four ranks, eight micro-batches: times and activations worked by hand") {
  const Setting thirds{4, 8, 10, 10, 10};
  CHECK(thirds.makespan({"gpipe", {}}) == 330);
  CHECK(thirds.makespan({"1f1b", {}}) == 330);
  CHECK(Setting{4, 8, 5, 5, 5}.makespan({"interleaved", {}}, 2) == 285);  // half a stage a chunk
  CHECK(thirds.makespan({"zb-h1", {}}) == 270);
  CHECK(thirds.makespan({"dualpipe", {}}) == 260);
  CHECK(thirds.times({"gpipe", {}}).most_held == std::vector<int>{8, 8, 8, 8});
  CHECK(thirds.times({"1f1b", {}}).most_held == std::vector<int>{4, 3, 2, 1});
  CHECK(thirds.times({"interleaved", {}}, 2).most_held == std::vector<int>{11, 9, 7, 5});
  CHECK(thirds.times({"zb-h1", {}}).most_held == std::vector<int>{4, 4, 4, 4});
  CHECK(thirds.times({"zb-h2", {}}).most_held == std::vector<int>{7, 7, 7, 7});
  CHECK(thirds.times({"zb-v", {}}).most_held == std::vector<int>{8, 8, 8, 8});  // chunks of half a stage
  CHECK(thirds.times({"dualpipe", {}}).most_held == std::vector<int>{5, 5, 5, 5});
}

TEST_CASE("GPipe and 1F1B: the same bubble, other activations") {
  const int settings = over_grid(8, 20, [](const Setting& at) {
    const PipelineTimes gpipe = at.times({"gpipe", {}}), one = at.times({"1f1b", {}});
    const std::int64_t known = (at.m + at.p - 1) * (at.f + at.b());
    CHECK(gpipe.makespan.ns() == known);
    CHECK(one.makespan.ns() == known);
    for (int r = 0; r < at.p; ++r) {
      const auto rank = static_cast<std::size_t>(r);
      CHECK(gpipe.most_held[rank] == at.m);
      CHECK(one.most_held[rank] == std::min(at.m, at.p - r));
      CHECK(one.bubble[rank].ns() == (at.p - 1) * (at.f + at.b()));
    }
  });
  CHECK(settings == 8 * 20 * 8);
}

TEST_CASE("a latency costs GPipe a trip there and back, and 1F1B one for every p micro-batches") {
  for (int p = 2; p <= 8; ++p) {
    for (int groups = 1; groups <= 4; ++groups) {
      for (const std::int64_t y : {1, 2}) {
        INFO(p, " ", groups, " ", y);
        const PipelineShape shape{.ranks = p, .micro_batches = groups * p};
        const std::int64_t at_once = (shape.micro_batches + p - 1) * 300;
        CHECK(times_of(valid_plan({"gpipe", {}}, shape), 100, 100, 100, y).makespan.ns() == at_once + 2 * (p - 1) * y);
        CHECK(times_of(valid_plan({"1f1b", {}}, shape), 100, 100, 100, y).makespan.ns() ==
              at_once + y * (2 * (p - 1) * groups + 2 * (p - 2)));
      }
    }
  }
}

TEST_CASE("interleaved: a v-th of the bubble, and its memory, for every size of group that is allowed") {
  int settings = 0, other_groups = 0, rests = 0;
  for (int p = 2; p <= 6; ++p) {
    for (int m = p; m <= 20; ++m) {
      for (int group = p; group <= m; ++group) {
        if (m % group != 0 && m % group < p) continue;
        for (int v = 2; v <= 4; ++v) {
          INFO(p, " ", m, " ", v, " ", group);
          const Choice schedule{"interleaved", {{"group", std::int64_t{group}}}};
          const PipelineTimes times = Setting{p, m, 7, 9, 5}.times(schedule, v);
          CHECK(times.makespan.ns() == v * m * 21 + (p - 1) * 21);
          for (int r = 0; r < p; ++r)
            CHECK(times.most_held[static_cast<std::size_t>(r)] ==
                  std::min(v * m, 2 * (p - r - 1) + (v - 1) * group + 1));
          ++settings;
          other_groups += group != p ? 1 : 0;
          rests += m % group != 0 ? 1 : 0;
        }
      }
    }
  }
  CHECK(settings > 500);
  CHECK(other_groups > 400);
  CHECK(rests > 300);
}

TEST_CASE("interleaved with one chunk is 1F1B, with any number of micro-batches") {
  for (int p = 1; p <= 6; ++p) {
    for (int m = 1; m <= 15; ++m) {
      const PipelineShape shape{.ranks = p, .micro_batches = m, .chunks = 1};
      const PipelinePlan one = valid_plan({"1f1b", {}}, shape), same = valid_plan({"interleaved", {}}, shape);
      REQUIRE(one.order.size() == same.order.size());
      for (std::size_t rank = 0; rank < one.ranks(); ++rank) {
        REQUIRE(one.order[rank].size() == same.order[rank].size());
        for (std::size_t i = 0; i < one.order[rank].size(); ++i)
          CHECK(one.order[rank][i].pass[0] == same.order[rank][i].pass[0]);
      }
      CHECK(one.stage_of == same.stage_of);
    }
  }
}

TEST_CASE("interleaved with merged steps: a plan that can be executed, without a gap in the main part") {
  for (const int ranks : {1, 2, 3, 4, 8}) {
    for (const int chunks : {1, 2, 3}) {
      for (const int batches : {4 * ranks, 6 * ranks}) {
        const PipelinePlan plan = valid_plan({"interleaved", {{"merge", true}}},
                                             {.ranks = ranks, .micro_batches = batches, .chunks = chunks});
        std::size_t merged = 0;
        for (const PipelineStep& step : plan.order.back()) merged += step.is_merged ? 1 : 0;
        CHECK(merged + static_cast<std::size_t>((chunks - 1) * ranks + 1) ==
              static_cast<std::size_t>(chunks * batches));
        // Passes of 1 that take 1 together: every rank is busy for at most the passes of its micro-batches, the passes
        // of its warm-up again, and the way there and back.
        const auto stages = static_cast<std::size_t>(plan.stages);
        PipelineCosts costs;
        const Time one = Time::nanoseconds(1);
        costs.forward.assign(stages, one);
        costs.backward.assign(stages, one);
        costs.backward_input = costs.backward;
        costs.backward_weight.assign(stages, Time{});
        costs.merged.assign(stages, one);
        CHECK(evaluate(plan, costs).makespan <= one * (chunks * batches + 2 * (chunks + 1) * ranks));
      }
    }
  }
}

TEST_CASE("ZB-H1 takes gradients of weights out of the bubble, and never takes longer than 1F1B") {
  int exact = 0;
  over_grid(8, 20, [&](const Setting& at) {
    const PipelineTimes times = at.times({"zb-h1", {}});
    CHECK(times.makespan <= at.times({"1f1b", {}}).makespan);
    CHECK(largest(times.most_held) == std::min(at.p, at.m));
    if (at.m < at.p || at.f < at.w || at.bi < at.w) return;
    CHECK(times.makespan.ns() == at.m * (at.f + at.b()) + (at.p - 1) * (at.f + at.bi - at.w));
    ++exact;
  });
  CHECK(exact > 500);
}

TEST_CASE("ZB-H2: no gap between the first and the last pass of a rank if gradients of weights are long enough") {
  int exact = 0, without_gap = 0;
  over_grid(6, 20, [&](const Setting& at) {
    const PipelineTimes times = at.times({"zb-h2", {}});
    CHECK(largest(times.most_held) == std::min(2 * at.p - 1, at.m));
    if (at.m < 2 * at.p - 1 || at.f < at.w) return;
    const std::int64_t gap = std::max<std::int64_t>(0, at.f + at.bi - 2 * at.w);
    CHECK(test::longest_span(times).ns() == at.m * (at.f + at.b()) + (at.p - 1) * gap);
    ++exact;
    without_gap += gap == 0 ? 1 : 0;
  });
  CHECK(exact > 300);
  CHECK(without_gap > 60);
}

TEST_CASE("ZB-V: no gap on a rank if all passes are equal, with the activations of 1F1B's first rank") {
  for (int p = 1; p <= 8; ++p) {
    for (int m = 1; m <= 24; ++m) {
      INFO(p, " ", m);
      const PipelineTimes times = Setting{p, m, 10, 10, 10}.times({"zb-v", {}});
      CHECK(largest(times.most_held) == std::min(2 * p, 2 * m));  // chunks are half as large
      if (m >= 2 * p - 1) CHECK(test::longest_span(times).ns() == 2 * m * 30);
    }
  }
}

TEST_CASE("V-Half and V-Min: about a half and a third of 1F1B's activations, for 1/2 and 2/3 of its bubble") {
  for (int p = 2; p <= 32; ++p) {
    for (const int m : {p, 2 * p, 3 * p + 1}) {
      INFO(p, " ", m);
      const Setting at{p, m, 10, 10, 10};
      const PipelineTimes half = at.times({"v-half", {}}), least = at.times({"v-min", {}});
      // In units of a pass through half a stage; 1F1B's bubble is 6(p-1) of them, and its first rank holds 2p.
      CHECK(half.makespan.ns() == 10 * (6 * m + (p % 2 == 1 ? 3 * p - 4 : 3 * (p - 1))));
      CHECK(least.makespan.ns() == 10 * (6 * m + (p % 3 == 0 ? 4 * p - 3 : 4 * p - 5)));
      CHECK(largest(half.most_held) == 2 * (p / 2) + 2);
      CHECK(largest(least.most_held) == 2 * ((p + 4) / 3));
    }
  }
}

TEST_CASE("DualPipe and DualPipeV: half the bubble of ZB-H1, one micro-batch more than 1F1B") {
  int exact = 0;
  over_grid(8, 22, [&](const Setting& at) {
    const bool is_known = at.f == at.bi && at.f >= at.w;
    const std::int64_t gap = at.f + at.b() + at.b() - 3 * at.w;  // a merged step is as long as its passes
    if (at.p % 2 == 0 && at.m % 2 == 0 && at.m >= 2 * at.p) {
      const PipelineTimes times = at.times({"dualpipe", {}});
      for (const int held : times.most_held) CHECK(held == at.p + 1);
      if (is_known) CHECK(times.makespan.ns() == at.m * (at.f + at.b()) + (at.p / 2 - 1) * gap);
      exact += is_known ? 1 : 0;
    }
    if (at.m >= 2 * at.p) {
      const PipelineTimes times = at.times({"dualpipe-v", {}});
      for (const int held : times.most_held) CHECK(held == 2 * at.p + 1);
      if (is_known) CHECK(times.makespan.ns() == 2 * at.m * (at.f + at.b()) + (at.p - 1) * gap);
      exact += is_known ? 1 : 0;
    }
  });
  CHECK(exact > 150);
}

TEST_CASE("DualPipe's steps on an outer and a middle rank, in the order of its repository") {
  const PipelinePlan plan = valid_plan({"dualpipe", {}}, {.ranks = 4, .micro_batches = 8});
  const auto line = [&](std::size_t rank) {
    std::string text;
    for (const PipelineStep& step : plan.order[rank]) {
      std::string names;
      for (const PipelinePass& pass : step.passes()) names += (names.empty() ? "" : "+") + pass_name(pass);
      text += (text.empty() ? "" : " ") + names;
    }
    return text;
  };
  CHECK(line(0) == "F0.0 F1.0 F2.0 F4.1 Bi4.1 W4.1 F5.1 F3.0+B5.1 F6.1+B0.0 B6.1 F7.1+B1.0 B7.1 Bi2.0 W2.0 Bi3.0 W3.0");
  CHECK(line(1) == "F0.0 F4.1 F1.0 F5.1 F2.0 B4.1 F6.1+B0.0 F3.0+B5.1 F7.1+B1.0 B6.1 B2.0 Bi7.1 Bi3.0 W7.1 W3.0");
  CHECK(plan.stage_of == std::vector<std::vector<int>>{{0, 3}, {1, 2}, {2, 1}, {3, 0}});
}

TEST_CASE("no schedule beats the work of a rank or the way of one micro-batch, whatever the costs") {
  RandomStream random{7, "pipeline-bounds"};
  std::map<std::string_view, int> seen;
  for (int round = 0; round < effort(200); ++round) {
    for (const PolicyRow<PipelineSchedule>& row : pipeline_schedules()) {
      if (row.name == "file") continue;
      INFO(row.name, " ", round);
      const PipelineShape shape = random_shape(row.name, random, 8);
      const PipelinePlan plan = valid_plan({std::string{row.name}, {}}, shape);
      PipelineCosts costs = test::equal_costs(plan, {}, {}, {});
      Time way;
      for (std::size_t stage = 0; stage < costs.forward.size(); ++stage) {
        costs.forward[stage] = Time::nanoseconds(random.uniform_integer(1, 30));
        costs.backward_input[stage] = Time::nanoseconds(random.uniform_integer(1, 30));
        costs.backward_weight[stage] = Time::nanoseconds(random.uniform_integer(1, 30));
        costs.backward[stage] = costs.backward_input[stage] + costs.backward_weight[stage];
        way += costs.forward[stage] + costs.backward_input[stage];
      }
      const PipelineTimes times = evaluate(plan, costs);
      CHECK(times.makespan >= way);
      for (std::size_t rank = 0; rank < plan.ranks(); ++rank) {
        CHECK(times.bubble[rank] >= Time{});
        CHECK(times.busy[rank] + times.bubble[rank] == times.makespan);
        CHECK(times.span[rank] >= times.busy[rank]);
      }
      // All work is there, whatever the order.
      Time work, all;
      for (int i = 0; i < plan.micro_batches; ++i)
        for (std::size_t stage = 0; stage < costs.forward.size(); ++stage)
          work += costs.forward[stage] + costs.backward[stage];
      for (const Time& busy : times.busy) all += busy;
      CHECK(work == all);
      ++seen[row.name];
    }
  }
  for (const auto& [name, times] : seen) CHECK(times == effort(200));
  CHECK(seen.size() + 1 == pipeline_schedules().size());  // all but `file`
}

TEST_CASE("shapes that a schedule can't work with are refused with what would be right") {
  CHECK(contains(refusal({"gpipe", {}}, {.ranks = 0, .micro_batches = 4}), "pipeline: a pipeline of 0 ranks"));
  CHECK(contains(refusal({"1f1b", {}}, {.ranks = 4, .micro_batches = 0}), "micro_batches: 0 micro-batches"));
  CHECK(contains(refusal({"1f1b", {}}, {.ranks = 4, .micro_batches = 8, .chunks = 2}),
                 "virtual: the schedule 1f1b can't hold 2 stages on each rank; it holds 1"));
  CHECK(contains(refusal({"zb-v", {}}, {.ranks = 4, .micro_batches = 8, .chunks = 3}), "it holds 2"));
  CHECK(contains(refusal({"interleaved", {}}, {.ranks = 4, .micro_batches = 3, .chunks = 2}),
                 "micro_batches: the schedule interleaved needs as many micro-batches as ranks, 4, and there are 3"));
  CHECK(contains(
      refusal({"interleaved", {}}, {.ranks = 4, .micro_batches = 9, .chunks = 2}),
      "9 micro-batches in groups of 4 leave a last group of 1, fewer than the 4 ranks; 8 or 12 micro-batches"));
  CHECK(contains(refusal({"interleaved", {{"group", std::int64_t{2}}}}, {.ranks = 4, .micro_batches = 8, .chunks = 2}),
                 "group: groups of 2 micro-batches don't suit 4 ranks and 8 micro-batches; 4 to 8"));
  CHECK(contains(refusal({"interleaved", {{"group", std::int64_t{9}}}}, {.ranks = 4, .micro_batches = 8, .chunks = 2}),
                 "4 to 8"));
  CHECK(contains(refusal({"dualpipe", {}}, {.ranks = 3, .micro_batches = 8}),
                 "pipeline: the schedule dualpipe needs an even number of ranks, not 3; 2 or 4"));
  CHECK(contains(refusal({"dualpipe", {}}, {.ranks = 4, .micro_batches = 9}), "; 10"));
  CHECK(contains(refusal({"dualpipe", {}}, {.ranks = 4, .micro_batches = 6}), "; 8"));
  constexpr int kLarge = 2'000'000'000;
  for (const PolicyRow<PipelineSchedule>& row : pipeline_schedules()) {
    const Choice schedule{std::string{row.name}, {}};
    CHECK(contains(refusal(schedule, {.ranks = kLarge, .micro_batches = 8}), "1 to 4096"));
    CHECK(contains(refusal(schedule, {.ranks = 4, .micro_batches = kLarge}), "1 to 1048576"));
    CHECK(contains(refusal(schedule, {.ranks = 4'000, .micro_batches = 1'000'000}), "are too many"));
  }
  CHECK(contains(refusal({"interleaved", {}}, {.ranks = 4, .micro_batches = 8, .chunks = kLarge}), "are too many"));
  const std::string both = refusal({"dualpipe", {}}, {.ranks = 5, .micro_batches = 3});
  CHECK(contains(both, "pipeline: "));
  CHECK(contains(both, "micro_batches: "));
  CHECK(contains(refusal({"dualpipe-v", {}}, {.ranks = 4, .micro_batches = 7}), "; 8 or more"));
}
