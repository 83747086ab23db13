#pragma once
// What one GPU of a parallel job must hold: states of the parameters, and activations of the micro-batches under way.
//
// States: Rajbhandari et al., "ZeRO" (arXiv 1910.02054, section 3 and figure 1); Megatron-LM, docs of the distributed
// optimizer. Activations: Korthikanti et al. (arXiv 2205.05198, section 4 and table 2), extended to grouped queries,
// gated feed-forwards, latent attention and experts by counting the same tensors. docs/models/parallel.md has the list
// and names the tensors that the list leaves out. Where 64 bits don't hold an amount of bytes, InputError is thrown.

#include "models/parallel/operators.hpp"
#include "models/parallel/recomputation.hpp"
#include "models/parallel/transformer.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>

namespace contend {

/// Bytes a parameter takes; each >= 0.
struct StateWidths {
  std::int64_t weights = 2;
  std::int64_t gradients = 2;
  std::int64_t optimizer = 12;  ///< with the copy of the weights in fp32

  /// Mixed precision with Adam: 2 + 2 + 12 (arXiv 1910.02054, section 3.1).
  static constexpr StateWidths mixed() { return {2, 2, 12}; }
  /// bf16 with gradients added up in fp32: 2 + 4 + 12 (Megatron-LM).
  static constexpr StateWidths bf16() { return {2, 4, 12}; }
  /// fp16 with gradients of 2 bytes, and a copy of them in fp32 for the update: 2 + 2 + 16 (Megatron-LM).
  static constexpr StateWidths fp16() { return {2, 2, 16}; }
  static constexpr StateWidths fp32() { return {4, 4, 8}; }
};

/// How states and activations are kept.
struct MemoryOptions {
  StateWidths widths = StateWidths::bf16();
  /// The stage of ZeRO: 1 keeps a share of the optimizer states, 2 also of the gradients, 3 also of the weights.
  int zero = 0;
  std::int64_t dense_shards = 1;   ///< ranks that share states of dense parameters: data x context; >= 1
  std::int64_t expert_shards = 1;  ///< ranks that share states of the same experts; >= 1
  std::int64_t gathered_layers =
      2;  ///< with ZeRO-3: layers whose weights are there at once: one in use, one on its way
  Recomputation recomputation = Recomputation::none;
};
/// Throws InputError with every fault: a stage outside 0 to 3, shards or gathered layers < 1, a negative width.
void validate(const MemoryOptions& options);

/// Bytes of the states of parameters.
struct StateBytes {
  Bytes weights, gradients, optimizer;

  [[nodiscard]] Bytes total() const { return weights + gradients + optimizer; }
};
/// Of `parameters` that `shards` ranks share; a share is rounded up to whole parameters.
[[nodiscard]] StateBytes state_bytes(std::int64_t parameters, std::int64_t shards, const MemoryOptions& options);

/// What the forward pass of one micro-batch leaves for the backward pass, on one rank.
struct ActivationBytes {
  Bytes until_input;   ///< what the gradient of the inputs is the last to need
  Bytes until_weight;  ///< what the gradients of the weights need as well: the inputs of products
  /// Gradients of the outputs of products, which a backward pass of the weights that is put off needs, too: they are
  /// held from the pass of the inputs to the pass of the weights.
  Bytes output_gradients;

  [[nodiscard]] Bytes kept() const { return until_input + until_weight; }
};
/// Of one layer. With full recomputation only its input is kept. The work is valid for the model.
[[nodiscard]] ActivationBytes layer_activations(const TransformerModel& model, std::int64_t layer,
                                                const MicroBatch& work, Recomputation recomputation);
/// What one layer has for a moment while its backward pass computes again: the whole layer (`full`, `operators`), or
/// what its modules do not keep, all of them at once.
[[nodiscard]] Bytes activations_again(const TransformerModel& model, std::int64_t layer, const MicroBatch& work,
                                      Recomputation recomputation);
/// Of the embedding: token ids of 8 bytes and what its dropout and its norm need.
[[nodiscard]] ActivationBytes embedding_activations(const TransformerModel& model, const MicroBatch& work);
/// Of the head: inputs of the final norm and of the logits, and probabilities (or their logarithms) in fp32; once more
/// for each module of multi-token prediction, with its layer.
[[nodiscard]] ActivationBytes head_activations(const TransformerModel& model, const MicroBatch& work,
                                               Recomputation recomputation);
/// Of a range of layers and its ends.
[[nodiscard]] ActivationBytes stage_activations(const TransformerModel& model, const LayerRange& stage,
                                                const MicroBatch& work, Recomputation recomputation);

/// A part of the model on a GPU and the micro-batches whose activations of it are held at the worst instant.
struct HeldStage {
  LayerRange range;
  std::int64_t micro_batches = 1;  ///< >= 0
};

/// Bytes on one GPU by kind.
struct GpuMemory {
  Bytes weights, gradients, optimizer;
  Bytes activations;  ///< of all micro-batches that are held
  Bytes gathered;     ///< with ZeRO-3: weights of the gathered units in the type of products, and the gradients of one
  /// The larger of what is there for a moment: what one layer has while it is computed again;
  /// behind the last layer what the loss has beside the probabilities: the logits, or without a fused loss two
  /// gradients in fp32.
  Bytes working;
  Bytes messages{};  ///< buffers of a pipeline, where the runtime keeps some (fsdp_memory.hpp)

  [[nodiscard]] Bytes other() const { return gathered + working + messages; }
  [[nodiscard]] Bytes total() const { return weights + gradients + optimizer + activations + other(); }
  bool operator==(const GpuMemory&) const = default;
};
/// Of a GPU that holds these stages (the chunks of an interleaved schedule; one stage in others). Model, work and
/// options are valid. Buffers of libraries and of communication, and what the allocator wastes, come on top.
[[nodiscard]] GpuMemory gpu_memory(const TransformerModel& model, const MicroBatch& work,
                                   std::span<const HeldStage> stages, const MemoryOptions& options);

}  // namespace contend
