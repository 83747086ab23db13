#pragma once
// A fusion policy turns the layers of a model, their times and the cost of exchanging gradients into the iteration
// graph that a job repeats. It decides which gradients share a message, in which order and through which channel
// messages go, and what the next forward pass waits for. It is pure: equal problems give equal graphs.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"

namespace contend {

class FusionPolicy {
 public:
  virtual ~FusionPolicy() = default;
  /// Returns the iteration. Throws InputError if the policy cannot work with this kind of exchange.
  [[nodiscard]] virtual FusedIteration plan(const OverlapProblem& problem) const = 0;
  /// Returns by how many iterations the gradients that a forward pass uses lag: 0, or 1 if the policy changes the
  /// training algorithm.
  [[nodiscard]] virtual int staleness() const { return 0; }
};

/// The iteration that the policy plans for the problem, in all phases of its method (`problem.phase` doesn't matter). A
/// worker alone exchanges nothing. Throws InputError if the policy can't work here.
[[nodiscard]] FusedIteration plan_iteration(const FusionPolicy& policy, OverlapProblem problem);

}  // namespace contend
