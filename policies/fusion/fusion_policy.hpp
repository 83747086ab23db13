#pragma once
// A fusion policy is a pass: from the layers of a model, their times and the cost of exchanging gradients to the
// iteration graph that a job then repeats. It decides which gradients share a message, in which order and through which
// channel messages go, and what the next forward pass waits for. Pure: equal problems give equal graphs.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"

namespace contend {

class FusionPolicy {
 public:
  virtual ~FusionPolicy() = default;
  /// Throws InputError if the policy can't work with this kind of exchange.
  [[nodiscard]] virtual FusedIteration plan(const OverlapProblem& problem) const = 0;
  /// Iterations by which the gradients that a forward pass uses may lag: 0, or 1 where training changes its meaning.
  [[nodiscard]] virtual int staleness() const { return 0; }
};

}  // namespace contend
