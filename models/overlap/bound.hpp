#pragma once
// What no schedule of the gradients can beat, whatever it merges, splits, reorders or hides.

#include "models/overlap/problem.hpp"

namespace contend {

struct IterationBound {
  Time compute;        ///< forward and backward
  Time network;        ///< all gradients through the network, at its best, without start-ups
  Time critical_path;  ///< the longest cycle of computing and sending through consecutive iterations
  [[nodiscard]] Time value() const;
};

/// Lower bound of the steady-state iteration time. `staleness` 0: every forward pass uses all gradients of the
/// iteration before; 1: it may miss those of the last one (last-batch).
///
/// Let F(l), B(l) be the compute times of layers l and above, M(l) the gradient of layers l and below, T(m) the least
/// time in which m bytes can be exchanged: one start-up, and bytes at the best speed of the network. Between the end of
/// the backward of layer l and the start of its next forward, all of M(l) has to be exchanged, so that
///   iteration >= F(l) + B(l) + T(M(l))                                       for every l with M(l) > 0.
/// With staleness 1 that cycle spans two iterations, and bounds half of it. With servers of several workers T is the
/// least of a flat all-reduce, one among peers and one among leaders, each without what happens inside servers.
[[nodiscard]] IterationBound iteration_bound(const OverlapProblem& problem, int staleness = 0);

}  // namespace contend
