#pragma once
// Merging gradients into messages: which neighbours in order of readiness share one. The planners, and the graphs they
// share.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"

#include <vector>

namespace contend {

/// Groups cover all gradients in order, without gaps.
using MergePlan = std::vector<GradientGroup>;

[[nodiscard]] MergePlan every_gradient(const OverlapProblem& problem);
[[nodiscard]] MergePlan one_group(const OverlapProblem& problem);
/// Closes a group when it has reached `limit` bytes, the first when it has reached `first_limit`.
[[nodiscard]] MergePlan fill_buckets(const OverlapProblem& problem, Bytes limit, Bytes first_limit);

/// What MG-WFBP assumes: one message at a time in order of readiness, each t = alpha + beta m, the iteration ends with
/// the last one.
struct SerialCost {
  double alpha_ns = 0;
  double beta_ns = 0;  ///< per byte
};
/// Start-up and time per byte of one exchange as a whole: an all-reduce, or push and pull.
[[nodiscard]] SerialCost serial_cost(const ExchangeCost& cost);
/// What the planners below work on: the problem itself, or where gradients are compressed a dense one that is alike.
/// Its gradients have the size whose exchange takes as long as their compressed collectives, its layers include the
/// kernels that come before those, each gradient compressed on its own. What merging saves in kernels and rounds is
/// not seen; the graph that is built from a plan has it right. Weights are all ready at once, as if the backward pass
/// took no time.
struct PlannedProblem {
  OverlapProblem problem;
  SerialCost cost;
};
[[nodiscard]] PlannedProblem planned(const OverlapProblem& problem);
/// When the last message ends, in ns from the start of the backward pass, under those assumptions.
[[nodiscard]] double serial_end_ns(const OverlapProblem& problem, const SerialCost& cost, const MergePlan& plan);

/// The merge with the earliest serial_end_ns() of all 2^(n-1), exactly, in O(n): finish(i) = min over j < i of
/// max(finish(j), ready(i)) + alpha + beta (M(i) - M(j)). finish grows with j, so that up to some j the message waits
/// for its last gradient (the largest such j is best), and beyond it for the channel (least finish(j) - beta M(j): the
/// minimum of a window that only moves forward).
[[nodiscard]] MergePlan optimal_merge(const OverlapProblem& problem, const SerialCost& cost);
/// The walk of the paper (Shi et al., INFOCOM 2019): a group takes the next gradient in if that is ready before the
/// group's transfer would be through its start-up: ready(next) < start + alpha.
[[nodiscard]] MergePlan published_merge(const OverlapProblem& problem, const SerialCost& cost);
/// ASC-WFBP (Shi et al., INFOCOM 2021): only if it is ready before the transfer would start.
[[nodiscard]] MergePlan asc_merge(const OverlapProblem& problem, const SerialCost& cost);

/// Each group is sent when its last gradient is ready, `messages` at once, and the next forward waits for all of them.
[[nodiscard]] FusedIteration barrier_graph(const OverlapProblem& problem, const MergePlan& plan, int messages = 1);
/// The next forward of a layer waits only for its own group and those of the layers before; the channel takes the group
/// with the lowest layer first.
[[nodiscard]] FusedIteration crossing_graph(const OverlapProblem& problem, const MergePlan& plan);

}  // namespace contend
