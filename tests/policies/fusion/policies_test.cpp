// These tests run each fusion policy on a model small enough to work its iteration out by hand, and check what the
// methods promise.

#include "models/overlap/bound.hpp"
#include "models/overlap/iteration.hpp"
#include "models/overlap/steady_state.hpp"
#include "policies/fusion/merging.hpp"
#include "policies/fusion/partition.hpp"
#include "policies/fusion/search.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/fusion/message_count.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

using Parameters_ = std::vector<std::pair<std::string, ParameterValue>>;

/// Two layers, forward 10 and 20, backward 20 and 40; gradients of 100 and 300 bytes of one byte an element; all-reduce
/// 10 + 0.2 m: 30 and 70 alone, 90 together.
OverlapProblem two_layers() {
  OverlapProblem problem;
  problem.workers = 4;
  problem.gradient_element_bytes = 1;
  problem.layers = {{"a", Time::nanoseconds(10), Time::nanoseconds(20)},
                    {"b", Time::nanoseconds(20), Time::nanoseconds(40)}};
  problem.gradients = {{1, Bytes{300}}, {0, Bytes{100}}};
  problem.cost = ExchangeCost::measured({Time::nanoseconds(10), TimePerByte{0.2}});
  return problem;
}

double iteration(std::string_view name, const OverlapProblem& problem, Parameters_ parameters = {}) {
  return steady_state(fusion(name, std::move(parameters))->plan(problem).graph, problem.cost).iteration_ns;
}

}  // namespace

TEST_CASE("horovod: a thread that sends by itself merges what becomes ready meanwhile") {
  OverlapProblem problem = two_layers();
  problem.layers = {{"a", Time::nanoseconds(10), Time::nanoseconds(10)},
                    {"b", Time::nanoseconds(10), Time::nanoseconds(10)},
                    {"c", Time::nanoseconds(10), Time::nanoseconds(40)}};
  problem.gradients = {{2, Bytes{300}}, {1, Bytes{100}}, {0, Bytes{100}}};
  // c is ready at 40 and sent until 110, b 140, a 170; forward 30. One that waits sends b and a together, until 160.
  CHECK(iteration("horovod", problem, {{"cycle_ms", 10e-6}}) == 200);
  CHECK(iteration("horovod", problem, {{"cycle_ms", 10e-6}, {"blocking", true}}) == 190);
  // Two messages of 1 ns a round of four workers make 8: c from 48 to 118, b and a from 126 to 176.
  CHECK(iteration("horovod", problem, {{"cycle_ms", 10e-6}, {"blocking", true}, {"agreement_us", 1e-3}}) == 206);
  // Too large for one buffer, they are two messages, and the thread waits for both.
  CHECK(iteration("horovod", problem, {{"cycle_ms", 10e-6}, {"blocking", true}, {"mib", 1e-4}}) == 200);
}

TEST_CASE("two layers by hand") {
  const OverlapProblem problem = two_layers();
  const IterationBound bound = iteration_bound(problem);
  CHECK(bound.compute == Time::nanoseconds(90));
  CHECK(bound.network == Time::nanoseconds(80));
  // l = 0: 90 + 10 + 20 = 120; l = 1: 60 + 10 + 80 = 150.
  CHECK(bound.critical_path == Time::nanoseconds(150));

  // Forward 30, backward 60, then 90 of communication.
  CHECK(iteration("bsp", problem) == 180);
  // b is ready at 40: 40..110, a 110..140; forward 30.
  CHECK(iteration("wfbp", problem) == 170);
  CHECK(iteration("threshold", problem) == 180);
  CHECK(iteration("ddp", problem, {{"first_mib", 0.0}}) == 170);
  // Merging: 60 + 90 = 150 is later than 140.
  CHECK(iteration("mg-wfbp", problem) == 170);
  // Both at once share the lane: a starts at 60. b has sent 50 of 300 by then (start-up until 50, then 5 a ns), a
  // starts its bytes at 70; at half speed 2.5 a ns from 60 on. b: 250 left, a's start-up costs no bandwidth but counts
  // as one of two: b would need 100 more, until 160; a: 70 + 40 = 110. From 110 on b alone: 300 - 50 - 125 = 125 left,
  // 25 ns: 135. Forward 30.
  CHECK(iteration("asc-wfbp", problem) == 165);
  // Ticks every 30: b is sent at 60, a too: together 60..150.
  CHECK(iteration("horovod", problem, {{"cycle_ms", 30e-6}}) == 180);
  // Ticks every 1: as wfbp.
  CHECK(iteration("horovod", problem, {{"cycle_ms", 1e-6}}) == 170);
  // Four workers agree by 8 messages of 2 ns: sent at 76, until 166. With messages of 5 ns a cycle lasts 40: b wakes
  // the thread at 40 and is sent from 80 to 150, a at 80, agreed on at 120, and is sent from 150 to 180.
  CHECK(iteration("horovod", problem, {{"cycle_ms", 30e-6}, {"agreement_us", 2e-3}}) == 196);
  CHECK(iteration("horovod", problem, {{"cycle_ms", 30e-6}, {"agreement_us", 5e-3}}) == 210);
  // Halves cost 5 + 0.1 m: b 35, a 15. Reduce-scatter b 40..75, a 75..90 (backward ended at 60). All-gather a 90..105,
  // forward a 105..115; all-gather b is launched with it: 105..140; forward b 140..160. Backward starts at 160.
  CHECK(iteration("dear", problem, {{"mib", 0.0}}) == 160);
  // One group: reduce-scatter 60..105, all-gather 105..150, forward 30.
  CHECK(iteration("dear", problem) == 180);
  // Pieces of 100, one at a time, 30 each: b1 40..70, then a (ready at 60) 70..100, b2 100..130, b3 130..160; forward a
  // 100..110, b 160..180.
  CHECK(iteration("p3", problem, {{"slice", std::int64_t{100}}}) == 180);
  // With a credit of 200, b1 and b2 are committed when a becomes ready: a 100..130, b3 130..160: the same end.
  CHECK(iteration("bytescheduler", problem, {{"partition", std::int64_t{100}}, {"credit", std::int64_t{200}}}) == 180);
  // Whole gradients: b 40..110, a 110..140: forward a 140..150, b 150..170.
  CHECK(iteration("bytescheduler", problem) == 170);
  // 90 of communication beside 90 of computing.
  CHECK(iteration("last-batch", problem) == 90);
  CHECK(iteration("search", problem) == 160);
}

TEST_CASE("a parameter server by hand") {
  OverlapProblem problem = two_layers();
  // Four workers, two servers of their own: 4/2 = 2 times the bytes, 0.1 ns each: push and pull 10 + 0.2 m each.
  problem.cost = ExchangeCost::parameter_server(4, 2, false, {Time::nanoseconds(10), TimePerByte{0.1}, {}});
  // Push 60..150, pull 150..240, forward 30.
  CHECK(iteration("bsp", problem) == 270);
  // Push b 40..110, a 110..140; pull b 110..180, a 180..210.
  CHECK(iteration("wfbp", problem) == 240);
  // Slices of 100, 30 each: push b1 40..70, a 70..100, b2 100..130, b3 130..160; pull 30 later each: a 130, b3 190.
  // Forward a 130..140, b 190..210.
  CHECK(iteration("p3", problem, {{"slice", std::int64_t{100}}}) == 210);
  CHECK_THROWS_AS(static_cast<void>(fusion("dear")->plan(problem)), InputError);
}

TEST_CASE("DeAR hides what can be hidden when fusion is free") {
  // Without start-ups, cut ever finer, the iteration tends to max(tf, tAG) + max(tb, tRS).
  for (const double load : {0.3, 0.9, 1.5, 4.0}) {
    double above = 1e300;
    for (const std::int64_t layers : {10, 100, 1000}) {
      OverlapProblem problem;
      problem.workers = 8;
      const std::int64_t forward = 10'000'000 / layers, backward = 20'000'000 / layers, bytes = 1'000'000 / layers;
      for (std::int64_t i = 0; i < layers; ++i) {
        problem.layers.push_back({"l" + std::to_string(i), Time::nanoseconds(forward), Time::nanoseconds(backward)});
      }
      for (std::size_t i = problem.layers.size(); i-- > 0;) problem.gradients.push_back({i, Bytes{bytes}});
      problem.cost = ExchangeCost::measured({Time{}, TimePerByte{load * 20}});
      const double half = load * 10e6;
      const double limit = std::max(10e6, half) + std::max(20e6, half);
      const double time = iteration("dear", problem, {{"mib", 0.0}});
      CHECK(time >= limit);
      CHECK(time <= limit * (1 + 2.0 / static_cast<double>(layers)));
      CHECK(time < above);
      above = time;
    }
  }
}

TEST_CASE("search is at least as good as every other synchronous policy") {
  std::size_t better = 0, others = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{60}); ++seed) {
    const OverlapProblem problem = random_problem(seed);
    INFO("seed ", seed, ": ", describe(problem));
    const double searched = iteration("search", problem, {{"evaluations", std::int64_t{300}}});
    double best = 1e300;
    for (const PolicyRow<FusionPolicy>& row : fusion_policies()) {
      const auto policy = usual(row);
      if (row.name == "search" || policy->staleness() > 0) continue;
      try {
        best = std::min(best, steady_state(policy->plan(problem).graph, problem.cost).iteration_ns);
        ++others;
      } catch (const InputError&) {
        continue;
      }
    }
    CHECK(searched <= best);
    if (searched < best) ++better;
  }
  CHECK(others > effort(300));
  CHECK(better >= effort(6));
}

TEST_CASE("search leaves out a usual plan of far more messages than gradients, but no plan that it is given") {
  // p3 cuts the gradients into 512 and 1 slices of 50,000 numbers. The long forward pass of a begins as soon as the
  // slice at hand has been sent.
  OverlapProblem problem = two_layers();
  problem.layers = {{"a", Time::microseconds(110'000), Time::microseconds(50'000)},
                    {"b", Time::microseconds(50'000), Time::microseconds(50'000)}};
  problem.gradients = {{1, Bytes{102'400'000}, 25'600'000, 1}, {0, Bytes{200'000}, 50'000, 1}};
  problem.gradient_element_bytes = 4;
  problem.cost = ExchangeCost::ring(4, {Time{}, TimePerByte{1}, {}});
  const double slices = iteration("p3", problem);
  CHECK(iteration("search", problem, {{"evaluations", std::int64_t{0}}}) > slices);
  std::vector<std::unique_ptr<FusionPolicy>> given;
  given.push_back(fusion("p3"));
  CHECK(steady_state(search_from(std::move(given), 0)->plan(problem).graph, problem.cost).iteration_ns <= slices);
}

TEST_CASE("search takes compressed gradients: at least as good as every other synchronous policy, under every method") {
  std::size_t better = 0, others = 0;
  for (const PolicyRow<CompressionMethod>& row : compression_policies()) {
    if (row.name == "none" || row.name == "hierarchical" || row.name == "hitopk") continue;  // for levels of links
    for (std::uint64_t seed = 0; seed < effort(std::uint64_t{10}); ++seed) {
      OverlapProblem problem = random_problem(seed, {.most_layers = 8, .servers = false});
      for (auto& each : problem.gradients) each.size = Bytes{each.size.count() / 4 * 4000 + 4000};
      for (auto& each : problem.gradients) each.rows = 1000, each.columns = each.size.count() / 4000;
      const auto method = compression(row.name);
      problem.method = method.get();
      problem.kernels = v100_kernels();
      INFO(std::string{row.name}, ", seed ", seed, ": ", describe(problem));
      double best = 1e300;
      for (const PolicyRow<FusionPolicy>& other : fusion_policies()) {
        const auto policy = usual(other);
        if (other.name == "search" || policy->staleness() > 0) continue;
        try {
          best = std::min(best, steady_state(policy->plan(problem).graph, problem.cost).iteration_ns);
          ++others;
        } catch (const InputError&) {
          continue;
        }
      }
      if (best == 1e300) {  // an averaging that can't keep up
        CHECK_THROWS_AS(static_cast<void>(fusion("search")->plan(problem)), InputError);
        continue;
      }
      const double searched = iteration("search", problem, {{"evaluations", std::int64_t{100}}});
      CHECK(searched <= best);
      if (searched < best) ++better;
    }
  }
  MESSAGE(others, " plans of others; search is better in ", better);
  CHECK(others > effort(1000));
  CHECK(better >= effort(10));
}

TEST_CASE("search cuts a gradient in pieces where that is best, by hand") {
  // Forward 10 us each, backward 10 us each. The gradient of `b`, 200 us, is ready before the gradient of `a`, 20 us,
  // which the forward pass needs first. Whole, the one of `a` waits for the one of `b`, or both go as one message. In
  // pieces it goes as soon as it is ready, and the rest of `b` while `a` computes.
  OverlapProblem problem = two_layers();
  const Time ten = Time::microseconds(10);
  problem.layers = {{"a", ten, ten}, {"b", ten, ten}};
  problem.gradients = {{1, Bytes{1'000'000}}, {0, Bytes{100'000}}};
  problem.cost = ExchangeCost::parameter_server(2, 1, false, {Time{}, TimePerByte{0.05}, {}});
  const MergePlan merged = optimal_merge(problem, serial_cost(problem.cost));
  double whole = 1e300;
  for (const MergePlan& plan : {merged, every_gradient(problem), one_group(problem)}) {
    whole = std::min(whole, steady_state(crossing_graph(problem, plan).graph, problem.cost).iteration_ns);
    whole = std::min(whole, steady_state(barrier_graph(problem, plan, 4).graph, problem.cost).iteration_ns);
  }
  const double pieces =
      steady_state(partitioned_graph(problem, every_gradient(problem), Bytes{10'000}, Bytes{1}).graph, problem.cost)
          .iteration_ns;
  const double searched = steady_state(search_plan(problem, {}, 1000).graph, problem.cost).iteration_ns;
  CHECK(pieces < 0.95 * whole);
  CHECK(searched <= 1.01 * pieces);
}

TEST_CASE("search moves cuts in coarse steps first and then in fine ones: it finds the best of 2^15 merges") {
  // Sixteen layers, so that the first steps are of two.
  RandomStream stream{0, "x"};
  OverlapProblem problem;
  problem.workers = 8;
  problem.gradient_element_bytes = 1;
  constexpr std::size_t kLayers = 16;
  for (std::size_t i = 0; i < kLayers; ++i) {
    problem.layers.push_back({"l" + std::to_string(i), Time::nanoseconds(stream.uniform_integer(100, 2000)),
                              Time::nanoseconds(stream.uniform_integer(200, 4000))});
  }
  for (std::size_t i = kLayers; i-- > 0;) problem.gradients.push_back({i, Bytes{stream.uniform_integer(1000, 20'000)}});
  problem.cost = ExchangeCost::measured({Time::nanoseconds(3000), TimePerByte{0.15}});
  double best = 1e300;
  for (std::uint32_t cuts = 0; cuts < 1U << (kLayers - 1); cuts += kSanitized ? 16 : 1) {
    MergePlan plan;
    std::size_t first = 0;
    for (std::size_t i = 0; i < kLayers; ++i) {
      if (i + 1 < kLayers && (cuts >> i & 1) == 0) continue;
      plan.push_back({first, i});
      first = i + 1;
    }
    best = std::min(best, steady_state(barrier_graph(problem, plan, 4).graph, problem.cost).iteration_ns);
  }
  CHECK(steady_state(search_plan(problem, {}, 3000).graph, problem.cost).iteration_ns <= best);
}

TEST_CASE("the tuner of DeAR is no worse than its first trial") {
  std::size_t better = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    OverlapProblem problem = random_problem(seed, {.most_layers = 12, .servers = false, .penalty = false});
    for (auto& each : problem.gradients) each.size = Bytes{each.size.count() * 1000};
    const double plain = iteration("dear", problem);
    const double tuned = iteration("dear", problem, {{"tune", true}});
    CHECK(tuned <= plain);
    if (tuned < plain) ++better;
  }
  CHECK(better >= effort(6));
}

TEST_CASE("a fusion buffer of Horovod takes gradients until the next one has no room, and no more than a cycle's") {
  // Three gradients of 1 MiB, ready at 100 us each, so that one cycle of 1 ms has them all.
  OverlapProblem problem = two_layers();
  problem.layers = {{"a", Time::microseconds(100), Time::microseconds(100)},
                    {"b", Time::microseconds(100), Time::microseconds(100)},
                    {"c", Time::microseconds(100), Time::microseconds(100)}};
  problem.gradients = {{2, Bytes{1 << 20}}, {1, Bytes{1 << 20}}, {0, Bytes{1 << 20}}};
  const auto messages = [&](double mib, double cycle_ms) {
    return test::message_count(fusion("horovod", {{"mib", mib}, {"cycle_ms", cycle_ms}})->plan(problem).graph);
  };
  CHECK(messages(3, 1) == 1);
  CHECK(messages(2.999, 1) == 2);
  CHECK(messages(2, 1) == 2);
  CHECK(messages(1.999, 1) == 3);
  CHECK(messages(0, 1) == 3);
  CHECK(messages(3, 0.2) == 2);  // the gradients of 100 and 200 us, and the one of 300 us
  CHECK(messages(3, 0.1) == 3);
}

TEST_CASE("search compares no more plans than it may: with one for each family, those that it starts from") {
  std::size_t better = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{100}); ++seed) {
    OverlapProblem problem = random_problem(seed);
    // Without halves, so that there are four families.
    problem.cost =
        ExchangeCost::parameter_server(problem.workers, 1, false, {Time::nanoseconds(20), TimePerByte{0.1}, {}});
    INFO("seed ", seed, ": ", describe(problem));
    const MergePlan merged = optimal_merge(problem, serial_cost(problem.cost));
    const auto time = [&](const FusedIteration& plan) { return steady_state(plan.graph, problem.cost).iteration_ns; };
    double best = time(crossing_graph(problem, merged));
    for (const int lanes : {1, 2, 4}) best = std::min(best, time(barrier_graph(problem, merged, lanes)));
    CHECK(time(search_plan(problem, {}, 4)) == best);
    if (time(search_plan(problem, {}, 400)) < best) ++better;
  }
  CHECK(better >= effort(6));
}

TEST_CASE("messages are counted as operations of the network") {
  const OverlapProblem problem = two_layers();
  CHECK(test::message_count(fusion("bsp")->plan(problem).graph) == 1);
  CHECK(test::message_count(fusion("wfbp")->plan(problem).graph) == 2);
  CHECK(test::message_count(fusion("dear", {{"mib", 0.0}})->plan(problem).graph) == 4);
  CHECK(test::message_count(fusion("p3", {{"slice", std::int64_t{100}}})->plan(problem).graph) == 4);
}
