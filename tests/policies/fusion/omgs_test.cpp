#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/steady_state.hpp"
#include "policies/fusion/merging.hpp"
#include "tests/effort.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Selecting from x bytes takes `launch` ns and gamma x log2(x). The method then gathers `share` of the bytes. No
/// kernel follows, so that the recursion of the paper is exact.
class Selection final : public CompressionMethod {
 public:
  Selection(std::int64_t launch, double gamma, std::int64_t share) : launch_{launch}, gamma_{gamma}, share_{share} {}
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const double x = problem.size(group).to_double();
    return {
        ExchangeStage::kernel("select",
                              Time::nanoseconds(launch_) + Time::ceil_nanoseconds(gamma_ * x * std::log2(x + 1))),
        ExchangeStage::send("all-gather", CollectiveKind::all_gather, Bytes{1 + problem.size(group).count() / share_})};
  }

 private:
  std::int64_t launch_;
  double gamma_;
  std::int64_t share_;
};

/// Each layer has forward time 1. Backward times and sizes are in backward order. An all-gather takes 2 alpha + 2 beta
/// m.
OverlapProblem chain(const std::vector<std::int64_t>& backward, const std::vector<std::int64_t>& bytes,
                     std::int64_t alpha) {
  OverlapProblem problem;
  problem.workers = 2;
  const std::size_t n = backward.size();
  for (std::size_t i = n; i-- > 0;)
    problem.layers.push_back({"l" + std::to_string(n - 1 - i), Time::nanoseconds(1), Time::nanoseconds(backward[i])});
  for (std::size_t i = 0; i < n; ++i) problem.gradients.push_back({n - 1 - i, Bytes{bytes[i]}});
  problem.cost = ExchangeCost::measured({Time::nanoseconds(2 * alpha), TimePerByte{2}});
  return problem;
}

/// A message of m bytes takes 10 ns of selection and an all-gather of m / 10 + 1 bytes.
class TenNs final : public CompressionMethod {
 public:
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    return {ExchangeStage::kernel("select", Time::nanoseconds(10)),
            ExchangeStage::send("all-gather", CollectiveKind::all_gather, Bytes{problem.size(group).count() / 10})};
  }
};

/// As Selection, but the workers add up what they receive, which takes a launch and a time per byte.
class AddedUp final : public CompressionMethod {
 public:
  AddedUp(const Selection& selection, std::int64_t launch, std::int64_t share)
      : selection_{selection}, launch_{launch}, share_{share} {}
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    std::vector<ExchangeStage> made = selection_.stages(problem, group);
    made.push_back(
        ExchangeStage::kernel("add up", Time::nanoseconds(launch_ + problem.size(group).count() * 100 / share_)));
    return made;
  }

 private:
  Selection selection_;
  std::int64_t launch_, share_;
};

/// Returns one of all plans of n gradients: bit i of `cuts` ends a group after gradient i.
MergePlan plan_of(std::size_t n, std::uint32_t cuts) {
  MergePlan plan;
  std::size_t first = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + 1 < n && ((cuts >> i) & 1U) == 0) continue;
    plan.push_back({first, i});
    first = i + 1;
  }
  return plan;
}

/// The problem has whole numbers of ns and bytes and up to `most` gradients.
OverlapProblem whole_problem(std::uint64_t seed, std::size_t most) {
  OverlapProblem problem = random_problem(seed, {.most_layers = 12, .servers = false, .penalty = false});
  problem.gradients.resize(std::min(problem.gradients.size(), most));
  for (auto& each : problem.gradients) each.size = Bytes{1 + each.size.count() % 2000};
  const auto alpha = Time::nanoseconds(static_cast<std::int64_t>(seed % 7) * problem.backward().ns() / 20);
  problem.cost = ExchangeCost::measured({alpha, TimePerByte{2.0 * static_cast<double>(1 + seed % 5)}});
  return problem;
}

/// Tries every one of the 2^(n-1) plans.
double exhaustive_end_ns(const OverlapProblem& problem) {
  const std::size_t n = problem.gradients.size();
  double best = stream_end_ns(problem, one_group(problem));
  for (std::uint32_t cuts = 0; cuts < (1U << (n - 1)); ++cuts)
    best = std::min(best, stream_end_ns(problem, plan_of(n, cuts)));
  return best;
}

Selection selection_of(const OverlapProblem& problem, std::uint64_t seed) {
  const double bytes = problem.gradient().to_double();
  const double gamma = static_cast<double>(seed % 4) * static_cast<double>(problem.backward().ns()) / (40 * bytes);
  return {1 + static_cast<std::int64_t>(seed % 3) * problem.backward().ns() / 100, gamma,
          1 + static_cast<std::int64_t>(seed % 11)};
}

}  // namespace

TEST_CASE("OMGS by hand: merged while the wait is shorter than a start-up and a selection") {
  // Backward 20 each, 50 bytes each. Alone: selection 10, all-gather alpha + 5. With alpha 12:
  //   alone:       selected at 30, 60, 90; sent 30..47, 60..77, 90..107
  //   {0, 1} {2}:  ready at 40, selected at 50, sent 50..72; then 70, 80, 80..97
  //   {0} {1, 2}:  30..47; ready at 70, selected at 80, 80..102
  //   {0, 1, 2}:   ready at 60, selected at 70, 70..97
  // The walk: merging 0 and 1 waits 20 + 10 - 10 - 10 - 0 = 10 and saves 17 + 17 - 22 = 12; so does merging with 2.
  OverlapProblem problem = chain({20, 20, 20}, {50, 50, 50}, 12);
  const TenNs method;
  problem.method = &method;
  CHECK(stream_end_ns(problem, every_gradient(problem)) == 107);
  CHECK(stream_end_ns(problem, {{0, 1}, {2, 2}}) == 97);
  CHECK(stream_end_ns(problem, {{0, 0}, {1, 2}}) == 102);
  CHECK(stream_end_ns(problem, one_group(problem)) == 97);
  CHECK(ends(omgs_merge(problem)) == std::vector<std::size_t>{2});
  // With alpha 9 it saves 9, less than it waits.
  OverlapProblem quick = chain({20, 20, 20}, {50, 50, 50}, 9);
  quick.method = &method;
  CHECK(ends(omgs_merge(quick)) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("OMGS without compression is the published walk of MG-WFBP") {
  std::size_t merged = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const OverlapProblem problem = whole_problem(seed, 12);
    const SerialCost cost = serial_cost(problem.cost);
    INFO("seed ", seed, ": ", describe(problem));
    CHECK(ends(omgs_merge(problem)) == ends(published_merge(problem, cost)));
    CHECK(
        stream_end_ns(problem, every_gradient(problem)) ==
        std::max(serial_end_ns(problem, cost, every_gradient(problem)), static_cast<double>(problem.backward().ns())));
    if (omgs_merge(problem).size() < problem.gradients.size()) ++merged;
  }
  CHECK(merged > 300);
}

TEST_CASE("how often the walk of OMGS finds the best of all merges") {
  const std::uint64_t kInstances = effort(std::uint64_t{3000});
  std::size_t optimal = 0, better_than_alone = 0;
  double worst = 1;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    OverlapProblem problem = whole_problem(seed, 9);
    const Selection method = selection_of(problem, seed);
    problem.method = &method;
    INFO("seed ", seed, ": ", describe(problem));
    const std::size_t n = problem.gradients.size();
    const double best = exhaustive_end_ns(problem);
    const MergePlan plan = omgs_merge(problem);
    const double end = stream_end_ns(problem, plan), alone = stream_end_ns(problem, every_gradient(problem));
    CHECK(end >= best);
    CHECK(plan.front().first == 0);
    CHECK(plan.back().last == n - 1);
    if (end == best) ++optimal;
    if (end < alone) ++better_than_alone;
    worst = std::max(worst, end / best);
  }
  MESSAGE("the walk is optimal in ", optimal, " of ", kInstances, ", better than no merge in ", better_than_alone,
          ", at worst ", worst, " times the optimum");
  CHECK(better_than_alone > kInstances / 4);  // otherwise the instances test nothing
  CHECK(optimal > kInstances / 10);
}

TEST_CASE("OMGS plans exactly: no other merge ends earlier, whatever the kernels before and after messages") {
  std::size_t walk_is_optimal = 0, walk_is_exact = 0, with_after = 0;
  const std::uint64_t kInstances = effort(std::uint64_t{1500});
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    OverlapProblem problem = whole_problem(seed, 10);
    const Selection selection = selection_of(problem, seed);
    const AddedUp added_up{selection, static_cast<std::int64_t>(seed % 5) * problem.backward().ns() / 200,
                           static_cast<std::int64_t>(1 + seed % 13)};
    problem.method = &selection;
    if (seed % 3 != 0) problem.method = &added_up;
    INFO("seed ", seed, ": ", describe(problem));
    const double best = exhaustive_end_ns(problem);
    const MergePlan plan = optimal_stream_merge(problem);
    CHECK(stream_end_ns(problem, plan) == best);
    CHECK(plan.front().first == 0);
    CHECK(plan.back().last == problem.gradients.size() - 1);
    for (std::size_t i = 1; i < plan.size(); ++i) CHECK(plan[i].first == plan[i - 1].last + 1);
    if (stream_end_ns(problem, omgs_merge(problem)) == best) ++walk_is_optimal;
    if (ends(omgs_merge(problem)) == ends(plan)) ++walk_is_exact;
    if (seed % 3 != 0) ++with_after;
  }
  CHECK(with_after > kInstances / 2);
  CHECK(walk_is_optimal < kInstances / 2);  // otherwise the walk would do
  CHECK(walk_is_exact > 0);
}

TEST_CASE("the recursion of OMGS ends on the engine's ns") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    OverlapProblem problem = whole_problem(seed, 12);
    const Selection selection = selection_of(problem, seed);
    const AddedUp added_up{selection, 1 + static_cast<std::int64_t>(seed % 5) * problem.backward().ns() / 200,
                           static_cast<std::int64_t>(1 + seed % 13)};
    problem.method = &selection;
    if (seed % 2 == 1) problem.method = &added_up;
    const auto n = static_cast<std::uint32_t>(problem.gradients.size());
    for (const MergePlan& plan : {omgs_merge(problem), optimal_stream_merge(problem), every_gradient(problem),
                                  plan_of(n, static_cast<std::uint32_t>(seed * 2654435761U))}) {
      INFO("seed ", seed, ": ", describe(problem));
      const double end = stream_end_ns(problem, plan);
      const IterationGraph graph = barrier_graph(problem, plan).graph;
      SteadyStateOptions options;
      options.iterations = 3;
      const SteadyState engine = measure_in_engine(graph, problem.cost, 2, options);
      REQUIRE(engine.ends.size() >= 3);
      // The first iteration begins at 0; each later one as long.
      const double iteration = static_cast<double>((engine.ends[2] - engine.ends[1]).ns());
      CHECK(iteration == static_cast<double>(problem.forward().ns()) + end);
    }
  }
}
