#pragma once
// Maps the operators of a transformer to the measured ones that its passes execute (docs/models/calibration.md).

#include "calibration/layer_operators.hpp"
#include "models/parallel/operators.hpp"

namespace contend {

struct TransformerCalls {
  PassOperators forward, input_gradient, weight_gradient;
};

/// Products in fp8 sum up fast in the forward pass and in fp32 in the others, as frameworks have it. Work without an
/// operator is in `rest`.
[[nodiscard]] TransformerCalls transformer_calls(const TransformerOperator& each);

}  // namespace contend
