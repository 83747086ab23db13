#pragma once
// Appends the layers of attention, without its projections, for the transformers of the catalogue.

#include "models/catalogue/builder.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// The inputs of attention.
struct AttentionInputs {
  Feature queries;
  Feature keys;    ///< with fewer channels than the queries if heads share keys (grouped-query attention)
  Feature values;  ///< as large as the keys
  std::int64_t heads = 1;
  bool causal = false;  ///< a position sees those up to its own
};

/// Attention with a kernel for each step and the score matrix in memory between them. The layers are `<at>scores`,
/// `<at>softmax`, `<at>attn_dropout` and `<at>context`. A causal mask does not lower the count of flops.
Feature attention(NetworkBuilder& net, const std::string& at, const AttentionInputs& inputs);

/// Attention as one kernel that never writes the score matrix and recomputes it in the backward pass, which has 5
/// matrix products for 2 in the forward pass (Dao et al., FlashAttention, arXiv 2205.14135, algorithms 1 and 4).
Feature fused_attention(NetworkBuilder& net, const std::string& name, const AttentionInputs& inputs);

/// The network with each attention that has a kernel for each step as one kernel, `<at>attention`, which also drops
/// weights out. Other layers stay as they are.
[[nodiscard]] LayerTable with_fused_attention(LayerTable table);

}  // namespace contend
