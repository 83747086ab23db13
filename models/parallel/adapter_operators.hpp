#pragma once
// Operators of a model of which not all weights are trained (trained_part.hpp): what stands beside a product, and which
// gradients nothing needs.

#include "models/parallel/operators.hpp"

#include <string_view>
#include <vector>

namespace contend {

/// A product with a weight on one rank.
struct WeightProduct {
  std::int64_t count = 1;
  double rows = 0;  ///< of all `count` together
  std::int64_t n = 0, k = 0;
};

/// What the adapters of MicroBatch::trained compute beside the product of this name of a kind of layer, which tensor
/// parallelism cuts as it cuts the product: A gives a part of its outputs, or has a part of its inputs; B gives a part
/// of its outputs. The sum with the output of the product, and backward of the gradients of its input, is a kernel.
/// What ranks exchange of the few outputs of A isn't counted.
[[nodiscard]] std::vector<TransformerOperator> adapter_operators(const TransformerModel& model,
                                                                 const TransformerLayer& kind, const MicroBatch& work,
                                                                 std::string_view name, bool experts,
                                                                 const WeightProduct& product);

/// The operators of a unit without the gradients that nothing needs: gradients of the inputs of the first weights that
/// are trained and of all in front of them.
[[nodiscard]] std::vector<TransformerOperator> with_backward_cut(const TransformerModel& model, const TrainedPart& part,
                                                                 std::int64_t unit,
                                                                 std::vector<TransformerOperator> operators);

}  // namespace contend
