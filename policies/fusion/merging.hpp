#pragma once
// Merging decides which gradients that become ready one after the other share a message. This header declares the
// planners and the graphs that fusion policies build from their plans.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"

#include <vector>

namespace contend {

/// The groups cover all gradients in order, without gaps.
using MergePlan = std::vector<GradientGroup>;

/// Makes each gradient a message of its own.
[[nodiscard]] MergePlan every_gradient(const OverlapProblem& problem);
/// Makes all gradients one message.
[[nodiscard]] MergePlan one_group(const OverlapProblem& problem);
/// Closes a group when it has reached `limit` bytes; the first group, when it has reached `first_limit` bytes.
[[nodiscard]] MergePlan fill_buckets(const OverlapProblem& problem, Bytes limit, Bytes first_limit);

/// The cost model of MG-WFBP: one message of m bytes at a time, in order of readiness, takes alpha + beta m. The
/// iteration ends with the last message.
struct SerialCost {
  double alpha_ns = 0;
  double beta_ns = 0;  ///< ns per byte
};
/// Returns start-up and time per byte of a whole exchange: an all-reduce, or a push and a pull.
[[nodiscard]] SerialCost serial_cost(const ExchangeCost& cost);
/// The cost of one message with its stages, as planners see it: first `before` on the stream of the GPU, then
/// alpha + bytes in the channel. If push and pull do not share bandwidth, the longer of the two counts.
struct MessageCost {
  double before_ns = 0;  ///< kernels before the first collective
  double alpha_ns = 0;   ///< start-ups of the collectives
  double bytes_ns = 0;   ///< the rest of the collectives' time
  double after_ns = 0;   ///< kernels between and after the collectives, which do not occupy the channel
  [[nodiscard]] double transfer_ns() const { return alpha_ns + bytes_ns; }
};
[[nodiscard]] MessageCost message_cost(const OverlapProblem& problem, const GradientGroup& group);
/// True if the method exchanges weights that do not wait for the backward pass of their layers.
[[nodiscard]] bool all_ready_at_once(const OverlapProblem& problem);
/// The problem that the planners below work on: the given problem, or an equivalent dense one if gradients are
/// compressed. The size of its gradients is the one whose exchange takes as long as the compressed collectives. Its
/// layers include the kernels before the collectives, with each gradient compressed on its own. So the planners see
/// that merging saves start-ups, but not that it saves kernel launches (omgs_merge sees both). The graph built from a
/// plan has the exact cost. Weights are all ready at once, as if the backward pass took no time.
struct PlannedProblem {
  OverlapProblem problem;
  SerialCost cost;
};
[[nodiscard]] PlannedProblem planned(const OverlapProblem& problem);
/// Returns when the last message ends under the assumptions of SerialCost, in ns from the start of the backward pass.
[[nodiscard]] double serial_end_ns(const OverlapProblem& problem, const SerialCost& cost, const MergePlan& plan);

/// Returns the plan with the earliest serial_end_ns() of all 2^(n-1) plans, exactly, in O(n):
///   finish(i) = min over j < i of max(finish(j), ready(i)) + alpha + beta (M(i) - M(j)),  M(i): bytes of the first i.
/// finish(j) grows with j. Up to some j the message waits for its last gradient, and the largest such j is best. Beyond
/// it the message waits for the channel, and the j with the least finish(j) - beta M(j) is best: the minimum of a
/// window that only moves forward.
[[nodiscard]] MergePlan optimal_merge(const OverlapProblem& problem, const SerialCost& cost);
/// Returns the plan of the published walk (Shi et al., INFOCOM 2019). A group takes the next gradient in if that
/// gradient is ready before the start-up of the group's transfer would end: ready(next) < start + alpha.
[[nodiscard]] MergePlan published_merge(const OverlapProblem& problem, const SerialCost& cost);
/// Returns the plan of ASC-WFBP (Shi et al., INFOCOM 2021). A group takes the next gradient in only if that gradient is
/// ready before the group's transfer would start: ready(next) < start.
[[nodiscard]] MergePlan asc_merge(const OverlapProblem& problem, const SerialCost& cost);

/// Returns when the next forward pass may begin, in ns from the start of the backward pass, in the model of OMGS-SGD
/// (Shi et al., INFOCOM 2020). Messages go one at a time. Kernels before a message run in the backward pass and delay
/// the rest of it. Kernels after a message run on the same stream, in the order of the messages, once it has nothing
/// else to do; in the paper there are none. The engine ends at this time to the nanosecond if no kernel of the method
/// runs between collectives.
[[nodiscard]] double stream_end_ns(const OverlapProblem& problem, const MergePlan& plan);
/// The share of the end by which a way to send the first gradients may be worse than one that optimal_stream_merge()
/// drops for it.
inline constexpr double kMergeSlack = 1e-8;
/// Returns the plan with the earliest stream_end_ns() of all 2^(n-1) plans, within n x kMergeSlack of it. For each
/// number of gradients it keeps the ways to send them of which none is better in everything that matters later: the
/// kernels so far, the end of the channel, the kernels left to run, and their earliest end. Where more than 500 remain,
/// as where messages hardly take time, it tells them apart more coarsely, by a share that doubles until they are few.
/// It assumes that a message with more gradients never takes less time, and one message not more than two with the same
/// gradients.
[[nodiscard]] MergePlan optimal_stream_merge(const OverlapProblem& problem);
/// Returns the plan of the walk of OMGS-SGD, with the actual stages of a merged group. Merging the next gradient into
/// the group has a price: the wait for the gradient and the change of the kernels before the message, as far as they
/// exceed the wait for the channel. The group takes the gradient in if the price is less than what merging saves in
/// transfers and in kernels after them. Without compression the plan equals the plan of published_merge.
[[nodiscard]] MergePlan omgs_merge(const OverlapProblem& problem);

/// Builds an iteration that sends each group when its last gradient is ready, at most `messages` at once. The next
/// forward pass waits for all groups.
[[nodiscard]] FusedIteration barrier_graph(const OverlapProblem& problem, const MergePlan& plan, int messages = 1);
/// The fastest of these merges, sent so, by what the schedule of an iteration takes with all costs of the exchange.
[[nodiscard]] FusedIteration fastest_of(const OverlapProblem& problem, const std::vector<MergePlan>& plans);
/// Builds an iteration in which the next forward pass of a layer waits only for its own group and the groups of the
/// layers before it. The channel takes the group with the lowest layer first.
[[nodiscard]] FusedIteration crossing_graph(const OverlapProblem& problem, const MergePlan& plan);

}  // namespace contend
