#pragma once
// Flops of an iteration as published figures count them. Three conventions are in use, which differ by a third for the
// same run: a TFLOP/s figure means nothing without its convention. docs/models/parallel.md compares them.

#include "models/parallel/recomputation.hpp"
#include "models/parallel/trained_part.hpp"
#include "models/parallel/transformer.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace contend {

/// All count products only (a multiply-add is 2 flops), of layers and logits, and the backward pass as twice the
/// forward pass; none counts the product of a router, norms or look-ups.
enum class FlopsConvention : std::uint8_t {
  /// Attention in full, and the forward pass of the layers twice, whether it is recomputed or not (Narayanan et al.,
  /// arXiv 2104.04473, equation 3).
  recomputed,
  /// Attention in full (Korthikanti et al., arXiv 2205.05198, appendix A; Megatron-LM 2022 to 2024).
  full,
  /// Only the scores that a causal mask leaves: half of them (Megatron-LM since 2025, Megatron-Bridge). Layers that are
  /// not causal count in full.
  causal,
};

[[nodiscard]] std::string_view to_string(FlopsConvention convention);
/// In order of the enumeration, for lists and messages.
[[nodiscard]] std::span<const FlopsConvention> flops_conventions();

/// The sequences of an iteration, all replicas together. Linear work grows with the tokens, attention with the sum of
/// squares.
struct SequenceSums {
  double tokens = 0;
  double squares = 0;  ///< sum over sequences of tokens^2

  static SequenceSums equal(double sequences, double tokens_each) {
    return {sequences * tokens_each, sequences * tokens_each * tokens_each};
  }
};

/// Model flops of an iteration; the modules of multi-token prediction are included, towers are not. Of a window only
/// the scores inside it count, with sequences as long as the mean token's. A recurrence counts as it is defined: a
/// token is added to the state and read from it. Gradients that nobody computes don't count: of frozen weights, and of
/// all in front of the first trained layer; the gradient of the input of this layer counts. Adapters' own
/// products are not counted. Model and part are valid.
[[nodiscard]] double model_flops(const TransformerModel& model, const SequenceSums& sequences,
                                 FlopsConvention convention, const TrainedPart& part = {});

/// Flops that the devices compute: forward, backward, and what the recomputation adds, with attention counted as by the
/// convention (`recomputed` counts it in full). Modules add their products; core_attn adds the forward pass of
/// attention without its projections, which fused attention, whose scores are never kept, does not: leave core_attn out
/// then. Full recomputation adds the forward pass of all layers that have a backward pass; of modules of multi-token
/// prediction it adds nothing.
[[nodiscard]] double hardware_flops(const TransformerModel& model, const SequenceSums& sequences,
                                    FlopsConvention convention, Recomputation recomputation,
                                    const TrainedPart& part = {});

}  // namespace contend
