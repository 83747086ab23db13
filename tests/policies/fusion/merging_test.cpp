#include "policies/fusion/merging.hpp"

#include "models/overlap/steady_state.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Each layer has forward time 1. Backward times and sizes are in forward order.
OverlapProblem chain(const std::vector<std::int64_t>& backward, const std::vector<std::int64_t>& bytes,
                     std::int64_t alpha, double beta) {
  OverlapProblem problem;
  problem.workers = 2;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    problem.layers.push_back({"l" + std::to_string(i), Time::nanoseconds(1), Time::nanoseconds(backward[i])});
  }
  for (std::size_t i = backward.size(); i-- > 0;) problem.gradients.push_back({i, Bytes{bytes[i]}});
  problem.cost = ExchangeCost::measured({Time::nanoseconds(alpha), TimePerByte{beta}});
  return problem;
}

/// Returns the first and the last gradient of each group, such as `0-0 1-2`.
std::string groups(const MergePlan& plan) {
  std::string text;
  for (const GradientGroup& group : plan) {
    text += (text.empty() ? "" : " ") + std::to_string(group.first) + "-" + std::to_string(group.last);
  }
  return text;
}

/// Tries every one of the 2^(n-1) plans: slow but obvious.
double exhaustive_end_ns(const OverlapProblem& problem, const SerialCost& cost) {
  const std::size_t n = problem.gradients.size();
  double best = -1;
  for (std::uint32_t cuts = 0; cuts < (1U << (n - 1)); ++cuts) {
    MergePlan plan;
    std::size_t first = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i + 1 < n && ((cuts >> i) & 1U) == 0) continue;
      plan.push_back({first, i});
      first = i + 1;
    }
    const double end = serial_end_ns(problem, cost, plan);
    if (best < 0 || end < best) best = end;
  }
  return best;
}

/// All numbers are whole, so that sums are exact.
OverlapProblem whole_problem(std::uint64_t seed) {
  OverlapProblem problem = random_problem(seed, {.most_layers = 12, .servers = false, .penalty = false});
  problem.gradients.resize(std::min<std::size_t>(problem.gradients.size(), 12));
  for (auto& each : problem.gradients) each.size = Bytes{1 + each.size.count() % 200};
  const auto alpha = Time::nanoseconds(static_cast<std::int64_t>(seed % 7) * problem.backward().ns() / 20);
  const double beta = static_cast<double>(1 + problem.backward().ns() / 1000 * static_cast<std::int64_t>(seed % 5) / 2);
  problem.cost = ExchangeCost::measured({alpha, TimePerByte{beta}});
  return problem;
}

}  // namespace

TEST_CASE("with parameter servers a message costs its push and its pull, or the dearer one if they don't share links") {
  const ChannelCost link{Time::nanoseconds(10), TimePerByte{2}, TimePerByte{1}};
  // On the machines of four workers 3/4 of a message goes each way: push 3/2 and 1 to add, pull 3/2 ns a byte.
  const SerialCost shared = serial_cost(ExchangeCost::parameter_server(4, 4, true, link));
  CHECK(shared.alpha_ns == near(20));
  CHECK(shared.beta_ns == near(4));
  // Two servers of their own receive 4/2 of a message: push 4 and 2 to add, pull 4 ns a byte.
  const SerialCost apart = serial_cost(ExchangeCost::parameter_server(4, 2, false, link));
  CHECK(apart.alpha_ns == near(10));
  CHECK(apart.beta_ns == near(6));
}

TEST_CASE("merging by hand: three gradients, one merge pays") {
  // Backward 10 each, sizes 4 each at 1 ns a byte, alpha 8; ready at 10, 20, 30.
  //   alone:          10..22, 22..34, 34..46
  //   {0} {1, 2}:     10..22, 30..46     {0, 1} {2}: 20..36, 36..48     {0, 1, 2}: 30..50
  // The optimum is 46, without a merge or with {1, 2}. The published walk: 20 < 10 + 8 no; 30 < 22 + 8 no.
  const OverlapProblem problem = chain({10, 10, 10}, {4, 4, 4}, 8, 1);
  const SerialCost cost = serial_cost(problem.cost);
  CHECK(serial_end_ns(problem, cost, every_gradient(problem)) == 46);
  CHECK(serial_end_ns(problem, cost, {{0, 0}, {1, 2}}) == 46);
  CHECK(serial_end_ns(problem, cost, {{0, 1}, {2, 2}}) == 48);
  CHECK(serial_end_ns(problem, cost, one_group(problem)) == 50);
  CHECK(serial_end_ns(problem, cost, optimal_merge(problem, cost)) == 46);
  CHECK(groups(published_merge(problem, cost)) == "0-0 1-1 2-2");
  // With alpha 9 the second would start at 23 and the third is ready at 30 < 32: merged. 10..23, 30..47.
  const OverlapProblem dearer = chain({10, 10, 10}, {4, 4, 4}, 9, 1);
  CHECK(groups(published_merge(dearer, serial_cost(dearer.cost))) == "0-0 1-2");
  CHECK(groups(optimal_merge(dearer, serial_cost(dearer.cost))) == "0-0 1-2");
  // ASC merges only what is ready before the start: 30 is not before 23.
  CHECK(groups(asc_merge(dearer, serial_cost(dearer.cost))) == "0-0 1-1 2-2");
  // A fourth at 45, with alpha 8 again: 10..22, 22..34, 34..46. The start-up of the third ends at 42, before the
  // fourth.
  const OverlapProblem four = chain({15, 10, 10, 10}, {4, 4, 4, 4}, 8, 1);
  CHECK(groups(published_merge(four, serial_cost(four.cost))) == "0-0 1-1 2-2 3-3");
}

TEST_CASE("planners see a compressed gradient as a dense one whose exchange takes as long, by hand") {
  // A ring of four workers at 10 ns a byte and 5 us a step: an all-reduce takes 30 us and 2 x 3/4 x 10 = 15 ns a byte.
  OverlapProblem problem = chain({30'000, 100'000, 50'000}, {640, 320, 1600}, 0, 0);
  problem.workers = 4;
  problem.cost = ExchangeCost::ring(4, {Time::microseconds(5), TimePerByte{10}, {}});
  problem.kernels = v100_kernels();
  const auto sizes = [](const PlannedProblem& result) {
    std::vector<std::int64_t> bytes;
    for (const OverlapProblem::Gradient& each : result.problem.gradients) bytes.push_back(each.size.count());
    return bytes;
  };
  const PlannedProblem dense = planned(problem);
  CHECK(sizes(dense) == std::vector<std::int64_t>{1600, 320, 640});
  CHECK(dense.cost.alpha_ns == 30'000);
  CHECK(dense.cost.beta_ns == 15);
  CHECK(dense.problem.backward() == problem.backward());
  // An eighth of 400, 80 and 160 values: 50, 10 and 20 pairs of 8 bytes from each of the workers. The all-gather takes
  // 15 us and 3/4 x 10 ns for each of 1600, 320 and 640 bytes, which is as long as an all-reduce of half of that. The
  // selection runs in the backward pass before the gradient is sent.
  const auto top_k = compression("top-k", {{"density", 0.125}});
  problem.method = top_k.get();
  const PlannedProblem sparse = planned(problem);
  CHECK(sparse.problem.method == nullptr);
  CHECK(sizes(sparse) == std::vector<std::int64_t>{800, 160, 320});
  CHECK(sparse.cost.alpha_ns == 15'000);
  CHECK(sparse.cost.beta_ns == 15);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t layer = problem.gradients[i].layer;
    const Time selection = top_k->stages(problem, {i, i}).front().duration;
    CHECK(selection > Time{});
    CHECK(sparse.problem.layers[layer].backward == problem.layers[layer].backward + selection);
    CHECK(sparse.problem.layers[layer].forward == problem.layers[layer].forward);
  }
  // D-PSGD sends the weights to two neighbours: 10 us, and 20 ns a byte, which is as long as 4/3 of the bytes. They are
  // ready before the backward pass.
  const auto neighbours = compression("d-psgd");
  problem.method = neighbours.get();
  const PlannedProblem ring = planned(problem);
  CHECK(sizes(ring) == std::vector<std::int64_t>{2133, 427, 853});
  CHECK(ring.cost.alpha_ns == 10'000);
  CHECK(ring.problem.backward() == Time{});
  // Local SGD sends updated weights, and none of them in most iterations.
  const auto local = compression("local-sgd");
  problem.method = local.get();
  const PlannedProblem silent = planned(problem);
  CHECK(sizes(silent) == std::vector<std::int64_t>{1, 1, 1});
  CHECK(silent.cost.alpha_ns == 0);
  CHECK(silent.problem.backward() == Time{});
  // Where bytes cost nothing, no size takes as long as another.
  problem.method = top_k.get();
  problem.cost = ExchangeCost::ring(4, {Time::microseconds(5), TimePerByte{0}, {}});
  CHECK(sizes(planned(problem)) == std::vector<std::int64_t>{1, 1, 1});
}

TEST_CASE("buckets close when they are full; the first may be smaller") {
  const OverlapProblem problem = chain({1, 1, 1, 1, 1}, {5, 4, 3, 2, 1}, 0, 1);
  CHECK(groups(fill_buckets(problem, Bytes{5}, Bytes{5})) == "0-2 3-4");
  CHECK(groups(fill_buckets(problem, Bytes{7}, Bytes{1})) == "0-0 1-3 4-4");
  CHECK(groups(fill_buckets(problem, Bytes{100}, Bytes{100})) == "0-4");
  CHECK(groups(fill_buckets(problem, Bytes{0}, Bytes{0})) == "0-0 1-1 2-2 3-3 4-4");
}

TEST_CASE("MG-WFBP equals the exhaustive optimum under its own assumptions") {
  std::size_t published_is_optimal = 0, merged = 0;
  const std::uint64_t kInstances = effort(std::uint64_t{10'000});
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const OverlapProblem problem = whole_problem(seed);
    const SerialCost cost = serial_cost(problem.cost);
    INFO("seed ", seed, ": ", describe(problem));
    const double best = exhaustive_end_ns(problem, cost);
    const MergePlan plan = optimal_merge(problem, cost);
    CHECK(serial_end_ns(problem, cost, plan) == best);
    CHECK(serial_end_ns(problem, cost, published_merge(problem, cost)) >= best);
    if (serial_end_ns(problem, cost, published_merge(problem, cost)) == best) ++published_is_optimal;
    if (plan.size() > 1 && plan.size() < problem.gradients.size()) ++merged;
  }
  MESSAGE("the published walk is optimal in ", published_is_optimal, " of ", kInstances);
  CHECK(merged > kInstances / 4);  // otherwise the instances test nothing
}

TEST_CASE("the assumptions of the planner are the assumptions of the executor where sizes are whole") {
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{300}); ++seed) {
    const OverlapProblem problem = whole_problem(seed);
    const SerialCost cost = serial_cost(problem.cost);
    for (const MergePlan& plan :
         {optimal_merge(problem, cost), every_gradient(problem), published_merge(problem, cost)}) {
      // The iteration is over when the last message has ended and, if that is earlier, the backward pass.
      const double end = std::max(serial_end_ns(problem, cost, plan), static_cast<double>(problem.backward().ns()));
      CHECK(steady_state(barrier_graph(problem, plan).graph, problem.cost).iteration_ns ==
            static_cast<double>(problem.forward().ns()) + end);
    }
  }
}
