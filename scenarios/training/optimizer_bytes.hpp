#pragma once
// What an optimizer reads, writes and keeps.

#include "scenarios/scenario.hpp"

#include <cstdint>

namespace contend {

/// What an optimizer reads and writes, and keeps beside weights and gradients, in bytes for each parameter.
struct OptimizerBytes {
  double moved = 0;
  std::int64_t state = 0;
};

/// Weights, gradients and each state of 4 bytes are read, all but the gradients written. With gradients of 2 bytes the
/// weights of 2 bytes are written too, and the difference of the gradients makes up for that.
[[nodiscard]] OptimizerBytes bytes_of(Optimizer optimizer);

}  // namespace contend
