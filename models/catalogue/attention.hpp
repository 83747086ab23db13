#pragma once
// Attention for the transformers of the catalogue, without its projections.

#include "models/catalogue/builder.hpp"

#include <cstdint>
#include <string>

namespace contend {

struct AttentionInputs {
  Feature queries;
  Feature keys;    ///< fewer channels than the queries where heads share keys (grouped-query attention)
  Feature values;  ///< as large as the keys
  std::int64_t heads = 1;
};

/// Kernel by kernel, the score matrix in memory between them: layers `<at>scores`, `<at>softmax`, `<at>attn_dropout`
/// and
/// `<at>context`. A causal mask doesn't lower the count of flops.
Feature attention(NetworkBuilder& net, const std::string& at, const AttentionInputs& inputs);

/// One kernel that never writes the score matrix and computes it again in the backward pass: 5 matrix products there
/// for 2 in the forward pass (Dao et al., FlashAttention, arXiv 2205.14135, algorithms 1 and 4).
Feature fused_attention(NetworkBuilder& net, const std::string& name, const AttentionInputs& inputs);

}  // namespace contend
