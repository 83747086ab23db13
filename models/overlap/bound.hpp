#pragma once
// Computes a lower bound of the iteration time that holds for every schedule of the gradients, however it merges,
// splits, reorders or overlaps them.

#include "models/overlap/problem.hpp"

namespace contend {

/// The parts of the bound.
struct IterationBound {
  Time compute;        ///< forward and backward
  Time network;        ///< all gradients at the best rate of the network, without start-ups
  Time critical_path;  ///< the longest cycle of computing and sending through consecutive iterations
  /// The largest of the three.
  [[nodiscard]] Time value() const;
};

/// Lower bound of the steady-state iteration time. With `staleness` 0 every forward pass uses all gradients of the
/// iteration before; with 1 it may miss the gradients of the last one (last-batch).
///
/// Let F(l), B(l) be the compute times of layers l and above, M(l) the gradient of layers l and below, and T(m) the
/// least time in which m bytes can be exchanged: one start-up, and bytes at the best rate of the network. All of M(l)
/// must be exchanged between the end of the backward of layer l and the start of its next forward, so that
///   iteration >= F(l) + B(l) + T(M(l))                                       for every l with M(l) > 0.
/// With staleness 1 that cycle spans two iterations, so half of it is the bound. With servers of several workers, T is
/// the least of a flat all-reduce, one through peers and one through leaders; bytes inside servers are left out.
[[nodiscard]] IterationBound iteration_bound(const OverlapProblem& problem, int staleness = 0);

}  // namespace contend
