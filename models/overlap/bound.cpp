#include "models/overlap/bound.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace contend {

namespace {

/// Rounds down, because a lower bound must not lie above the true value.
Time floor_ns(double ns) {
  return Time::nanoseconds(static_cast<std::int64_t>(std::floor(ns)));
}

struct LeastCost {
  Time alpha;
  double ns_per_byte = 0;  // of the busiest lane
};

LeastCost least_cost(const ExchangeCost& cost) {
  LeastCost least;
  if (cost.kind() == ExchangeKind::parameter_server) {
    const LinearCost& push = cost.of(CollectiveKind::reduce);
    const LinearCost& pull = cost.of(CollectiveKind::broadcast);
    const LinearCost both = push + pull;
    least.alpha = both.alpha;
    least.ns_per_byte = (cost.duplex() ? std::max(push.beta, pull.beta) : both.beta).ns_per_byte();
  } else {
    const LinearCost& whole = cost.of(CollectiveKind::all_reduce);
    const LinearCost halves = cost.of(CollectiveKind::reduce_scatter) + cost.of(CollectiveKind::all_gather);
    least.alpha = std::min(whole.alpha, halves.alpha);
    least.ns_per_byte = std::min(whole.beta, halves.beta).ns_per_byte();
    if (cost.levels() && !cost.one_server()) {
      using enum CollectiveScope;
      const LinearCost& peers_whole = cost.of(CollectiveKind::all_reduce, peers);
      const LinearCost& leaders_whole = cost.of(CollectiveKind::all_reduce, leaders);
      const LinearCost inside =
          cost.of(CollectiveKind::reduce_scatter, server) + cost.of(CollectiveKind::all_gather, server);
      const LinearCost trees = cost.of(CollectiveKind::reduce, server) + cost.of(CollectiveKind::broadcast, server);
      least.alpha = std::min({least.alpha, inside.alpha + peers_whole.alpha, trees.alpha + leaders_whole.alpha});
      // Links inside and between servers are used at once; the bytes through the interfaces alone are a bound.
      least.ns_per_byte = std::min(
          {least.ns_per_byte, peers_whole.beta.ns_per_byte() / cost.per_server(), leaders_whole.beta.ns_per_byte()});
    }
  }
  least.ns_per_byte *= cost.best_slowdown();
  return least;
}

}  // namespace

Time IterationBound::value() const {
  return std::max({compute, network, critical_path});
}

IterationBound iteration_bound(const OverlapProblem& problem, int staleness) {
  CONTEND_CHECK(staleness == 0 || staleness == 1, "gradients are used at once or one iteration later");
  const LeastCost least = least_cost(problem.cost);
  IterationBound bound;
  bound.compute = problem.compute();
  bound.network = floor_ns(problem.gradient().to_double() * least.ns_per_byte);
  std::vector<Bytes> of_layer(problem.layers.size());
  for (const OverlapProblem::Gradient& each : problem.gradients) of_layer[each.layer] += each.size;
  Time above = bound.compute;  // F(l) + B(l)
  Bytes below;                 // M(l)
  for (std::size_t l = 0; l < problem.layers.size(); ++l) {
    below += of_layer[l];
    if (below > Bytes{}) {
      Time cycle = above + least.alpha + floor_ns(below.to_double() * least.ns_per_byte);
      if (staleness == 1) cycle = Time::nanoseconds(cycle.ns() / 2);
      bound.critical_path = std::max(bound.critical_path, cycle);
    }
    above -= problem.layers[l].forward + problem.layers[l].backward;
  }
  return bound;
}

}  // namespace contend
