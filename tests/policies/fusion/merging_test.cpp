#include "policies/fusion/merging.hpp"

#include "models/overlap/steady_state.hpp"
#include "tests/effort.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <algorithm>
#include <cstdint>

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
  CHECK(ends(published_merge(problem, cost)) == std::vector<std::size_t>{0, 1, 2});
  // With alpha 9 the second would start at 23 and the third is ready at 30 < 32: merged. 10..23, 30..47.
  const OverlapProblem dearer = chain({10, 10, 10}, {4, 4, 4}, 9, 1);
  CHECK(ends(published_merge(dearer, serial_cost(dearer.cost))) == std::vector<std::size_t>{0, 2});
  CHECK(ends(optimal_merge(dearer, serial_cost(dearer.cost))) == std::vector<std::size_t>{0, 2});
  // ASC merges only what is ready before the start: 30 is not before 23.
  CHECK(ends(asc_merge(dearer, serial_cost(dearer.cost))) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("buckets close when they are full; the first may be smaller") {
  const OverlapProblem problem = chain({1, 1, 1, 1, 1}, {5, 4, 3, 2, 1}, 0, 1);
  CHECK(ends(fill_buckets(problem, Bytes{5}, Bytes{5})) == std::vector<std::size_t>{2, 4});
  CHECK(ends(fill_buckets(problem, Bytes{7}, Bytes{1})) == std::vector<std::size_t>{0, 3, 4});
  CHECK(ends(fill_buckets(problem, Bytes{100}, Bytes{100})) == std::vector<std::size_t>{4});
  CHECK(ends(fill_buckets(problem, Bytes{0}, Bytes{0})) == std::vector<std::size_t>{0, 1, 2, 3, 4});
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

TEST_CASE("the assumptions of the planner are those of the executor where sizes are whole") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
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
