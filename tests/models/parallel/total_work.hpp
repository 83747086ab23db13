#pragma once
// The work of several operators of a transformer.

#include "models/parallel/operators.hpp"

#include <span>

namespace contend::test {

/// Work of all operators together, added up.
struct OperatorTotals {
  double forward_flops = 0, forward_bytes = 0;
  double input_gradient_flops = 0, input_gradient_bytes = 0;
  double weight_gradient_flops = 0, weight_gradient_bytes = 0;
};

inline OperatorTotals total_work(std::span<const TransformerOperator> operators) {
  OperatorTotals total;
  for (const TransformerOperator& each : operators) {
    total.forward_flops += each.forward.flops;
    total.forward_bytes += each.forward.bytes;
    total.input_gradient_flops += each.input_gradient.flops;
    total.input_gradient_bytes += each.input_gradient.bytes;
    total.weight_gradient_flops += each.weight_gradient.flops;
    total.weight_gradient_bytes += each.weight_gradient.bytes;
  }
  return total;
}

}  // namespace contend::test
