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
/// One message with its stages, as planners see it: t = before, on the stream of the GPU; then alpha + bytes, in the
/// channel. Of push and pull that don't share bandwidth, the longer one.
struct MessageCost {
  double before_ns = 0;  ///< kernels before the first collective
  double alpha_ns = 0;   ///< start-ups of its collectives
  double bytes_ns = 0;   ///< the rest of their time
  double after_ns = 0;   ///< kernels between and after them, which don't hold the channel
  [[nodiscard]] double transfer_ns() const { return alpha_ns + bytes_ns; }
};
[[nodiscard]] MessageCost message_cost(const OverlapProblem& problem, const GradientGroup& group);
/// What the planners below work on: the problem itself, or where gradients are compressed a dense one that is alike.
/// Its gradients have the size whose exchange takes as long as their compressed collectives, its layers include the
/// kernels that come before those, each gradient compressed on its own. That merging saves start-ups is seen, that it
/// saves launches of kernels is not (omgs_merge sees both); the graph that is built from a plan has it right. Weights
/// are all ready at once, as if the backward pass took no time.
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

/// When the last message has been received and unpacked, in ns from the start of the backward pass, as OMGS-SGD (Shi et
/// al., INFOCOM 2020) has it: kernels before a message are executed in the backward pass and delay what follows, one
/// message at a time. Kernels after a message delay nothing but its own end.
[[nodiscard]] double stream_end_ns(const OverlapProblem& problem, const MergePlan& plan);
/// The walk of that paper, with the stages that a merged group really has: a group takes the next gradient in if that
/// saves more of transfers, kernels after them included, than the wait for the gradient and the change of kernels
/// before them exceed the wait for the channel. Without compression published_merge.
[[nodiscard]] MergePlan omgs_merge(const OverlapProblem& problem);

/// Each group is sent when its last gradient is ready, `messages` at once, and the next forward waits for all of them.
[[nodiscard]] FusedIteration barrier_graph(const OverlapProblem& problem, const MergePlan& plan, int messages = 1);
/// The next forward of a layer waits only for its own group and those of the layers before; the channel takes the group
/// with the lowest layer first.
[[nodiscard]] FusedIteration crossing_graph(const OverlapProblem& problem, const MergePlan& plan);

}  // namespace contend
