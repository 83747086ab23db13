#pragma once
// What PyTorch's caching allocator has reserved on a GPU at the peak of a training step with FSDP2, as
// torch.cuda.memory_stats counts it (reserved_bytes.all.peak), which programs such as torchtitan print.
//
// No constant is fitted, but the list below was made with torchtitan's published peaks in view and not held against a
// trace of the allocator (docs/models/parallel.md).
//
// It is more than the tensors of any instant, because a block that was freed serves only requests of its own stream
// that fit into it. The model adds up what can't use each other's blocks:
// - Shards of the weights in fp32, which the optimizer updates, too; its states; shards of the gradients, whose blocks
//   belong to the stream of the reduce-scatters even while no gradients are there.
// - Units: a layer each, and embedding, final norm and head together. The last of these is gathered once and stays from
//   the forward to the backward pass, as the last layer does; buffers from which gathered weights are copied belong to
//   the stream of the all-gathers: the buffers of that unit, or of two layers (torch/distributed/fsdp/_fully_shard).
// - In front of the last layer: what a layer has in its forward pass without keeping it.
// - At the loss: logits in the type of activations, and three tensors of that size in fp32, which don't fit into blocks
//   of the former: logarithms of probabilities and two gradients. With logits cut over ranks there is a fourth, the
//   exponentials of torch.distributed.tensor.parallel.loss_parallel. What the backward pass needs fits into these
//   blocks.
// - Pipelines: a buffer for each message of a step in each direction, what a rank has sent as long as the backward pass
//   needs it, and on the last rank the logits of all micro-batches and their concatenation, which a schedule's step
//   returns (torch/distributed/pipelining).

#include "models/parallel/memory.hpp"

#include <cstdint>
#include <span>

namespace contend {

/// What FSDP2 does on a GPU.
struct FsdpShape {
  int zero = 3;             ///< as MemoryOptions: 3: weights are gathered before each use; 2, 1: they stay gathered,
                            ///< and with 1 gradients are reduced only after the last micro-batch
  std::int64_t shards = 1;  ///< ranks that share out the states; >= 1
  std::int64_t expert_shards = 1;
  std::int64_t moments = 8;    ///< bytes of the optimizer's states for each parameter
  std::int64_t stored = 4;     ///< bytes of a weight, and of its gradient, as shards are kept
  std::int64_t gradients = 4;  ///< bytes of a gradient as it is added up
  Recomputation recomputation = Recomputation::none;
  Bytes activations;                            ///< of all micro-batches that are held at the peak
  std::int64_t micro_batches = 1;               ///< of a step
  int held = 1;                                 ///< of these, at most, whose backward pass is to come
  bool has_previous = false, has_next = false;  ///< pipeline ranks
  Bytes message;                                ///< to the next pipeline rank
};

/// What is reserved for these stages of a model. Model and work are valid.
[[nodiscard]] GpuMemory fsdp_memory(const TransformerModel& model, const MicroBatch& work,
                                    std::span<const LayerRange> stages, const FsdpShape& shape);

/// The most that the feed-forward of a layer has in its forward pass beside its input and what is kept: its input as
/// all tensor-parallel ranks need it, and inner tensors or its output.
[[nodiscard]] Bytes forward_transient(const TransformerModel& model, std::int64_t layer, const MicroBatch& work);

}  // namespace contend
