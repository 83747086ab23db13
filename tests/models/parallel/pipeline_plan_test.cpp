#include "models/parallel/pipeline_plan.hpp"
#include "sim/error.hpp"
#include "tests/models/parallel/equal_costs.hpp"
#include "tests/text_checks.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr Time ns(std::int64_t n) {
  return Time::nanoseconds(n);
}

PipelineStep alone(PassKind kind, int chunk, int micro_batch) {
  return {{PipelinePass{kind, chunk, micro_batch}, {}}, false};
}
PipelineStep forward(int i, int chunk = 0) {
  return alone(PassKind::forward, chunk, i);
}
PipelineStep backward(int i, int chunk = 0) {
  return alone(PassKind::backward, chunk, i);
}
PipelineStep input(int i) {
  return alone(PassKind::backward_input, 0, i);
}
PipelineStep weight(int i) {
  return alone(PassKind::backward_weight, 0, i);
}

/// One stage on each rank, and these orders.
PipelinePlan plan_of(int micro_batches, std::vector<std::vector<PipelineStep>> order) {
  PipelinePlan plan;
  plan.stages = static_cast<int>(order.size());
  plan.micro_batches = micro_batches;
  plan.paths.emplace_back();
  for (int rank = 0; rank < plan.stages; ++rank) {
    plan.stage_of.push_back({rank});
    plan.paths[0].push_back({rank, 0});
  }
  plan.path_of.assign(static_cast<std::size_t>(micro_batches), 0);
  plan.order = std::move(order);
  return plan;
}

/// 1F1B on two ranks with four micro-batches.
PipelinePlan two_ranks() {
  return plan_of(
      4, {{forward(0), forward(1), backward(0), forward(2), backward(1), forward(3), backward(2), backward(3)},
          {forward(0), backward(0), forward(1), backward(1), forward(2), backward(2), forward(3), backward(3)}});
}

std::vector<std::int64_t> as_ns(const std::vector<Time>& times) {
  std::vector<std::int64_t> all;
  for (const Time& each : times) all.push_back(each.ns());
  return all;
}

using Numbers = std::vector<std::int64_t>;

std::string complaints_about(const PipelinePlan& plan) {
  try {
    validate(plan);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("1F1B on two ranks, worked by hand: all ends, without and with a latency") {
  const PipelinePlan plan = two_ranks();
  validate(plan);
  const PipelineTimes at_once = evaluate(plan, test::equal_costs(plan, ns(10), ns(12), ns(8)));
  CHECK(at_once.makespan == ns(150));
  CHECK(as_ns(at_once.busy) == Numbers{120, 120});
  CHECK(as_ns(at_once.bubble) == Numbers{30, 30});
  CHECK(as_ns(at_once.span) == Numbers{150, 120});
  CHECK(test::longest_span(at_once) == ns(150));

  PipelineCosts same = test::equal_costs(plan, ns(10), ns(12), ns(8));
  same.latency.clear();
  CHECK(evaluate(plan, same).end == at_once.end);

  const PipelineTimes late = evaluate(plan, test::equal_costs(plan, ns(10), ns(12), ns(8), ns(1)));
  CHECK(late.makespan == ns(154));
  CHECK(as_ns(late.end[0]) == Numbers{10, 20, 62, 72, 92, 102, 124, 154});
  CHECK(as_ns(late.end[1]) == Numbers{21, 41, 51, 71, 83, 103, 113, 133});
  CHECK(as_ns(late.start[0]) == Numbers{0, 10, 42, 62, 72, 92, 104, 134});
  CHECK(late.most_held == std::vector<int>{2, 1});
}

TEST_CASE("each stage, each boundary and each path has its own times") {
  PipelinePlan plan = plan_of(
      2, {{forward(0), forward(1), backward(0), backward(1)}, {forward(0), backward(0), forward(1), backward(1)}});
  PipelineCosts costs = test::equal_costs(plan, ns(1), ns(1), ns(1));
  costs.forward = {ns(3), ns(5)};
  costs.backward = {ns(7), ns(11)};
  costs.latency = {{ns(100)}};
  // F0 3, over at 103, 108, B0 119, back at 219, 226; F1 of rank 1: 119..124, B1 135, back at 235, 242.
  CHECK(as_ns(evaluate(plan, costs).end[0]) == Numbers{3, 6, 226, 242});
  CHECK(as_ns(evaluate(plan, costs).end[1]) == Numbers{108, 119, 124, 135});
  // A second path over the same places, with a latency of its own: micro-batch 1 returns at 137 and waits for B0.
  plan.paths.push_back(plan.paths[0]);
  plan.path_of = {0, 1};
  costs.latency = {{ns(100)}, {ns(2)}};
  CHECK(as_ns(evaluate(plan, costs).end[0]) == Numbers{3, 6, 226, 233});
}

TEST_CASE(
    "gradients of weights wait for nothing but their own input gradient, and hold what they need until they end") {
  const PipelinePlan plan = plan_of(2, {{forward(0), forward(1), input(0), input(1), weight(0), weight(1)},
                                        {forward(0), input(0), forward(1), input(1), weight(0), weight(1)}});
  validate(plan);
  const PipelineTimes times = evaluate(plan, test::equal_costs(plan, ns(10), ns(10), ns(5)));
  CHECK(as_ns(times.end[0]) == Numbers{10, 20, 40, 60, 65, 70});
  CHECK(as_ns(times.end[1]) == Numbers{20, 30, 40, 50, 55, 60});
  CHECK(times.most_held == std::vector<int>{2, 2});  // to the end of W, though both inputs' gradients are known
  const PipelineActivations bytes{{Bytes{100}, Bytes{100}}, {Bytes{7}, Bytes{7}}, {}};
  CHECK(peak_activation_bytes(plan, bytes) == std::vector<Bytes>{Bytes{214}, Bytes{114}});
  // 20 bytes more from the gradient of the inputs to the gradient of the weights: F0, F1 and Bi0 together on rank 0; on
  // rank 1 what W0 needs, F1 and Bi1.
  const PipelineActivations deferred{bytes.until_input, bytes.until_weight, {Bytes{20}, Bytes{20}}};
  CHECK(peak_activation_bytes(plan, deferred) == std::vector<Bytes>{Bytes{234}, Bytes{154}});
}

TEST_CASE("merged passes begin together, end together and take their own time") {
  PipelinePlan plan = plan_of(2, {{forward(0), {{forward(1).pass[0], backward(0).pass[0]}, true}, backward(1)}});
  validate(plan);
  PipelineCosts costs = test::equal_costs(plan, ns(10), ns(12), ns(8));
  CHECK(as_ns(evaluate(plan, costs).end[0]) == Numbers{10, 40, 60});
  costs.merged = {ns(25)};
  CHECK(as_ns(evaluate(plan, costs).end[0]) == Numbers{10, 35, 55});
  CHECK(step_name(plan, 0, plan.order[0][1]) == "F1.0 stage 0 + B0.0 stage 0");
  CHECK(evaluate(plan, costs).most_held == std::vector<int>{2});  // the new one is held beside the old one
}

TEST_CASE("plans that can't be executed are refused with rank, step and reason") {
  CHECK(complaints_about(two_ranks()) == "none");
  struct Case {
    std::vector<std::vector<PipelineStep>> order;
    std::string_view says;
  };
  const std::vector<Case> cases{
      {{{forward(0), backward(0), backward(0)}}, "rank 0, step 2: B0.0 stage 0 is computed twice"},
      {{{forward(0), backward(0), weight(0)}}, "rank 0, step 2: W0.0 stage 0 is computed twice"},
      {{{backward(0), forward(0)}}, "rank 0, step 0: B0.0 stage 0 comes before its forward pass"},
      {{{forward(0), weight(0), input(0)}}, "rank 0, step 1: W0.0 stage 0 comes before the gradient of its inputs"},
      {{{forward(0)}}, "rank 0: B0.0 stage 0 is missing"},
      {{{forward(0), input(0)}}, "rank 0: W0.0 stage 0 is missing"},
      {{{}}, "rank 0: F0.0 stage 0 is missing"},
      {{{forward(0), backward(0), forward(1)}}, "rank 0, step 2: F1.0: there is no micro-batch 1"},
      {{{forward(0), backward(0), forward(0, 1)}}, "rank 0, step 2: F0.1: the rank has no chunk 1"},
      {{{forward(0), backward(0), forward(0, -1)}}, "rank 0, step 2: F0.-1: the rank has no chunk -1"},
      {{{{{forward(0).pass[0], weight(0).pass[0]}, true}}}, "rank 0, step 0: F0.0 and W0.0 can't be merged"},
      // The last stage can't run both passes of a micro-batch at once: the gradient follows from the output.
      {{{{{forward(0).pass[0], backward(0).pass[0]}, true}}},
       "rank 0, step 0: F0.0 stage 0 + B0.0 stage 0 waits for the forward pass of micro-batch 0 from chunk 0 of rank "
       "0"},
  };
  for (const Case& each : cases) {
    const std::string said = complaints_about(plan_of(1, each.order));
    CAPTURE(said);
    CHECK(contains(said, each.says));
  }
}

TEST_CASE("ranks that wait for each other are found, and only those in the circle are named") {
  // Rank 1 wants micro-batch 1 first, rank 2 micro-batch 0; rank 0 has nothing to do with it.
  const PipelinePlan plan = plan_of(2, {{forward(0), forward(1), backward(0), backward(1)},
                                        {forward(0), backward(0), forward(1), backward(1)},
                                        {forward(1), backward(1), forward(0), backward(0)}});
  const std::string said = complaints_about(plan);
  CAPTURE(said);
  CHECK(contains(said, "rank 1, step 1: B0.0 stage 1 waits for the gradient of micro-batch 0 from chunk 0 of rank 2"));
  CHECK(contains(said,
                 "rank 2, step 0: F1.0 stage 2 waits for the forward pass of micro-batch 1 from chunk 0 of rank 1"));
  CHECK_FALSE(contains(said, "rank 0,"));
  CHECK_THROWS_AS(static_cast<void>(evaluate(plan, test::equal_costs(plan, ns(1), ns(1), ns(1)))), InputError);
}

TEST_CASE("places that contradict each other are refused") {
  const auto said_of = [](const auto& change) {
    PipelinePlan plan = two_ranks();
    change(plan);
    return complaints_about(plan);
  };
  CHECK(contains(said_of([](auto& p) { p.stage_of[1] = {0}; }), "path 0: chunk 0 of rank 1 doesn't hold stage 1"));
  CHECK(contains(said_of([](auto& p) { p.paths[0][1] = {5, 0}; }), "path 0: chunk 0 of rank 5 doesn't hold stage 1"));
  CHECK(contains(said_of([](auto& p) { p.paths[0].pop_back(); }), "path 0: it has 1 places for 2 stages"));
  CHECK(contains(said_of([](auto& p) { p.path_of[3] = 1; }), "micro-batch 3: there is no path 1"));
  CHECK(contains(said_of([](auto& p) { p.path_of.pop_back(); }), "paths: 3 of 4 micro-batches have a path"));
  CHECK(contains(said_of([](auto& p) { p.stage_of.pop_back(); }), "ranks: 1 ranks hold stages, but 2 have an order"));
  CHECK(contains(said_of([](auto& p) { p.stage_of[0].clear(); }), "rank 0: it holds no stage"));
  CHECK(contains(said_of([](auto& p) { p = {}; }), "ranks: a pipeline has at least one rank"));
  // Rank 0 holds stage 1, too, but no micro-batch passes there.
  CHECK(contains(said_of([](auto& p) {
                   p.stage_of[0] = {0, 1};
                   p.order[0][0].pass[0].chunk = 1;
                 }),
                 "rank 0, step 0: F0.1: micro-batch 0 doesn't pass chunk 1 of this rank; chunk 0 of rank 1"));
}

TEST_CASE("costs that don't fit a plan are refused") {
  const PipelinePlan plan = two_ranks();
  const auto refused = [&](const auto& change) {
    PipelineCosts costs = test::equal_costs(plan, ns(1), ns(1), ns(1), ns(1));
    CHECK_NOTHROW(check_costs(plan, costs));
    change(costs);
    CHECK_THROWS_AS(static_cast<void>(evaluate(plan, costs)), InputError);
  };
  refused([](auto& c) { c.forward.pop_back(); });
  refused([](auto& c) { c.backward.push_back(Time{}); });
  refused([](auto& c) { c.backward_input[1] = ns(-1); });
  refused([](auto& c) { c.backward_weight.clear(); });
  refused([](auto& c) { c.merged = {ns(1)}; });
  refused([](auto& c) { c.latency[0].clear(); });
  refused([](auto& c) { c.latency.emplace_back(); });
  refused([](auto& c) { c.latency[0][0] = ns(-1); });
}
