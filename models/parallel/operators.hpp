#pragma once
// What one rank of a stage computes for one micro-batch: the operators of a transformer layer, of the embedding and of
// the head, with their least work. A device model turns them into times (operator_times() by a roofline).
//
// Shapes: Shoeybi et al. (arXiv 1909.08053, section 3), Korthikanti et al. (arXiv 2205.05198, section 4); attention in
// one kernel: Dao et al. (arXiv 2205.14135, algorithms 1 and 4); latent attention: DeepSeek-V2 (arXiv 2405.04434,
// section 2.1); experts as one grouped product: Gale et al. (arXiv 2211.15841). docs/models/parallel.md has the table.
//
// Communication is no part of it: collectives lie between operators of different parts. Kernels are the kernels of a
// tuned implementation: one product for queries, keys and values together, one for gate and up together.

#include "models/cost_model.hpp"
#include "models/layer_work.hpp"
#include "models/parallel/documents.hpp"
#include "models/parallel/layer_split.hpp"
#include "models/parallel/recomputation.hpp"
#include "models/parallel/trained_part.hpp"
#include "models/parallel/transformer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The kernels of softmax and loss. Fused: one each way, which makes probabilities in fp32 out of the logits and their
/// gradient in place. Framework: PyTorch converts the logits to fp32 and has a kernel for each of logarithm, choice and
/// their gradients. Megatron: conversion, largest logit, difference, exponentials, their sum and a division, over a
/// vocabulary that ranks share; backward a product and the conversion (core/tensor_parallel/cross_entropy.py).
enum class LossKernels : std::uint8_t { fused, framework, megatron };

/// The kernels of RMS norms, rotary positions and gated activations. Fused: one each. Eager: kernels of single
/// operations, in part in fp32, and keys and values are copied for each query head, as PyTorch runs a plain model
/// without a compiler. Compiled: one each, but for rotary positions as products of complex numbers, which TorchInductor
/// leaves to eager kernels (torch/_inductor/lowering.py, unsupported_output_tensor), and for these copies, which a
/// kernel of attention reads that isn't compiled.
enum class PointwiseKernels : std::uint8_t { fused, compiled, eager };

/// What a rank computes with: one micro-batch, how it is divided, and the kernels of attention.
struct MicroBatch {
  std::int64_t sequences = 1;   ///< >= 1
  std::int64_t sequence = 0;    ///< tokens of each, over all context ranks, >= 1
  LayerSplit split{};           ///< of the layers
  bool flash_attention = true;  ///< attention in one kernel; else scores and weights lie in memory
  bool skip_masked = true;      ///< that kernel leaves out the half of the scores that a causal mask hides
  LossKernels loss = LossKernels::fused;
  PointwiseKernels pointwise = PointwiseKernels::fused;
  std::vector<AttentionPart> documents{};  ///< that fill the sequences, unevenly; empty: each sequence is one
  /// Tokens at the fullest rank of the experts over the mean, >= 1: at most split.expert, but for padded loads.
  double expert_imbalance = 1;
  double server_imbalance = 1;  ///< the same of the servers of the experts, >= 1
  /// Of products and activations. fp8 and fp4 are of the products with weights of layers only; attention, logits and
  /// all activations are then in bf16 (as by NVIDIA's Transformer Engine).
  DataType type = DataType::bf16;
  DataType router_type = DataType::bf16;  ///< of the product of the router
  /// The products of a rank's experts are kernels of their own, one after the other (cuBLAS, as Transformer Engine's
  /// grouped layers call it); else one kernel has all of them.
  bool separate_experts = false;
  /// Kernels of a pass through a layer with experts that make and read the tables of its routing, beyond those that
  /// are operators; >= 0.
  int routing_kernels = 0;
  /// Bytes of a number of the sum to which the gradients of weights are added micro-batch by micro-batch; 0: they are
  /// written, and no sum is read.
  int sum_bytes = 0;
  TrainedPart trained{};  ///< of the model

  [[nodiscard]] std::int64_t context_tokens() const { return sequences * sequence / split.context; }
  /// Tokens between the products: fewer with sequence parallelism.
  [[nodiscard]] std::int64_t tokens() const { return context_tokens() / (split.sequence_parallel ? split.tensor : 1); }
};

/// Checks a micro-batch of a model, with validate(model, split) and validate_sequence(). Throws InputError with every
/// fault: no sequences, an imbalance outside its range, more tokens than learned positions, a type that can't train.
void validate(const TransformerModel& model, const MicroBatch& work);

/// Tokens that arrive at the fullest rank of the experts: tokens() x top_k x expert_tensor x imbalance. 0 without
/// experts.
[[nodiscard]] double arrived_tokens(const TransformerModel& model, const MicroBatch& work);

/// The name of the kernels that MicroBatch::routing_kernels counts.
inline constexpr std::string_view kRouting = "routing";

enum class OperatorKind : std::uint8_t {
  product,            ///< `count` products of m x k and k x n
  fused_attention,    ///< `count` heads, m queries, n keys, k numbers a query head; no scores in memory
  attention_scores,   ///< queries x keys of `count` heads
  attention_context,  ///< weights x values of `count` heads
  softmax,            ///< m rows of n
  norm,               ///< m rows of n
  elementwise,        ///< m rows of n; activations, residual sums, rotary positions, permutations, the loss
  embedding,          ///< m look-ups of n numbers in a table of k rows
};
inline constexpr std::size_t kOperatorKinds = 8;
[[nodiscard]] std::string_view to_string(OperatorKind kind);

/// The part of a layer that an operator belongs to. The operators of a layer are in order of the forward pass.
enum class LayerPart : std::uint8_t {
  attention,       ///< norm, projections, residual sum; of a decoder beside an encoder also for cross-attention
  core_attention,  ///< scores, weights and what they make of the values
  feed_forward,    ///< of a dense layer; of a mixture its norm and its residual sum
  router,          ///< scores, choice and permutation before the dispatch
  experts,         ///< routed experts and the permutations of what has arrived
  shared_experts,  ///< may run beside dispatch and combination
  combination,     ///< weighted sum of what came back
  embedding,
  head,  ///< final norm, logits, loss
};
[[nodiscard]] std::string_view to_string(LayerPart part);

struct TransformerOperator {
  OperatorKind kind = OperatorKind::elementwise;
  LayerPart part = LayerPart::attention;
  Recomputation modules =
      Recomputation::rest;         ///< the modules that it is part of: the backward pass repeats any of them
  std::string_view name{};         ///< such as `qkv`; in every layer the same
  DataType type = DataType::bf16;  ///< of its product; what has no product is bound by memory
  std::int64_t count = 1, m = 0, n = 0, k = 0;  ///< of the forward pass; see OperatorKind
  /// Of fused attention: heads of keys and values, which divide `count`, numbers of a value's head, and whether a query
  /// sees only the keys up to its own position.
  std::int64_t key_heads = 0, value_size = 0;
  bool causal = false;
  /// The operator of calibration/operators.hpp that does the same to m rows of n numbers; empty if there is none, or if
  /// `kind` says it all.
  std::string_view measured_as{};
  LayerWork forward;
  LayerWork input_gradient;   ///< what the layer before waits for
  LayerWork weight_gradient;  ///< may be put off; no kernels if there is none or input_gradient has it

  /// Kernels of a pass that one call of the framework launches, such as the kernels of the experts of a rank
  /// (MicroBatch::separate_experts); they divide the kernels of each pass.
  int kernels_of_group = 1;
};

/// The operators of layer `layer` for one micro-batch on one rank. Model and work are valid here and below.
[[nodiscard]] std::vector<TransformerOperator> transformer_operators(const TransformerModel& model, std::int64_t layer,
                                                                     const MicroBatch& work);
/// Those in front of the first layer.
[[nodiscard]] std::vector<TransformerOperator> embedding_operators(const TransformerModel& model,
                                                                   const MicroBatch& work);
/// Those behind the last layer, with the loss.
[[nodiscard]] std::vector<TransformerOperator> head_operators(const TransformerModel& model, const MicroBatch& work);
/// The operators of one module of multi-token prediction, with its logits and its loss.
[[nodiscard]] std::vector<TransformerOperator> mtp_operators(const TransformerModel& model, const MicroBatch& work);
/// The operators of a stage in order: embedding, layers [first, last), head, modules of multi-token prediction.
[[nodiscard]] std::vector<TransformerOperator> stage_operators(const TransformerModel& model, const LayerRange& stage,
                                                               const MicroBatch& work);

/// The operators of the layer whose forward pass is done again before the backward pass, each once, in however many
/// of the modules it is. core_attn finds nothing to do in fused attention, whose backward kernel makes the scores again
/// anyway. Embedding and head are never recomputed: give the operators of layers. `operators` needs layers with
/// products of queries, keys and values and without experts (may_keep_operators()), and ends with the last product that
/// it needs.
[[nodiscard]] std::vector<TransformerOperator> recomputed_operators(std::span<const TransformerOperator> operators,
                                                                    Recomputation mode);
/// True if Recomputation::operators says what the layers of the model keep.
[[nodiscard]] bool may_keep_operators(const TransformerModel& model);

/// One of so many equal pieces of an operator, >= 1: of a product, rows, so that every piece reads the weights again;
/// of attention in one kernel, keys; of all others rows.
[[nodiscard]] TransformerOperator piece_of(const TransformerOperator& whole, int pieces);
/// The sum of two parts of attention, whose keys are others, for each of so many queries with `width` numbers: the sum
/// in fp32 is read and written, and a part is read. Backward the gradients of queries, and the gradients of keys and
/// values with `key_width` numbers together, are added up in the type of activations (Liu et al., arXiv 2310.01889,
/// section 3), or in one of so many bytes.
[[nodiscard]] TransformerOperator merge_of_attention(const MicroBatch& work, std::int64_t width, std::int64_t key_width,
                                                     std::optional<int> gradient_bytes = {});

/// How long operators take one after the other; each time is rounded up once.
struct OperatorTimes {
  Time forward;
  Time input_gradient;
  Time weight_gradient;

  [[nodiscard]] Time backward() const { return input_gradient + weight_gradient; }
};

/// Nanoseconds of the passes as times. Throws InputError for a pass that takes longer than a day.
[[nodiscard]] OperatorTimes rounded_times(double forward_ns, double input_gradient_ns, double weight_gradient_ns);

/// The times by the roofline of the layer tables (RooflineOptions). The type is the type of each operator, whatever
/// options.type says, and gradient_element_bytes, which is about messages, has no part in it. Throws InputError with
/// every fault: an invalid device or option, a type that the device does not support, a pass that takes longer than a
/// day.
[[nodiscard]] OperatorTimes operator_times(std::span<const TransformerOperator> operators, const Device& device,
                                           const RooflineOptions& options = {});

}  // namespace contend
