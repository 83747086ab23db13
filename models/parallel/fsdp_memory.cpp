#include "models/parallel/fsdp_memory.hpp"

#include "models/layer_work.hpp"
#include "models/parallel/layer_split.hpp"

#include <algorithm>
#include <cmath>

namespace contend {
namespace {

constexpr std::int64_t kSingle = 4;  // bytes of a number in fp32

std::int64_t share_each(std::int64_t parameters, std::int64_t shards) {
  return (parameters + shards - 1) / shards;
}

Bytes bytes_upwards(double value) {
  if (!(value < 0x1p63)) throw_bytes_overflow();
  return Bytes{static_cast<std::int64_t>(std::ceil(value))};
}

}  // namespace

Bytes forward_transient(const TransformerModel& model, std::int64_t layer, const MicroBatch& work) {
  const double width = activation_bytes(work.type), hidden = static_cast<double>(model.hidden);
  const TransformerLayer& kind = model.kind_of(layer);
  double rows = static_cast<double>(work.context_tokens());
  double inner = static_cast<double>(kind.feed_forward) / static_cast<double>(work.split.tensor);
  if (kind.mixture) {
    rows = arrived_tokens(model, work);
    inner = static_cast<double>(kind.mixture->expert_feed_forward) / static_cast<double>(work.split.expert_tensor);
  }
  // The activation of the gate, what goes up and their product, or both ends of the activation; then the latter and the
  // output.
  const double between = (kind.gated ? 3 : 2) * inner, output = inner + hidden;
  return bytes_upwards(width * rows * (hidden + std::max(between, output)));
}

GpuMemory fsdp_memory(const TransformerModel& model, const MicroBatch& work, std::span<const LayerRange> stages,
                      const FsdpShape& shape) {
  const std::int64_t width = activation_bytes(work.type);
  RankParameters stored, layer, ends;
  Bytes forward, again;  // of a layer: in its forward pass, and when it is computed once more
  bool has_head = false;
  for (const LayerRange& range : stages) {
    has_head = has_head || (range.head && model.head != OutputHead::none);
    for (std::int64_t i = range.first; i < range.last; ++i) {
      const RankParameters one = rank_parameters(model, {i, i + 1}, work.split);
      stored.dense += one.dense;
      stored.experts += one.experts;
      layer.dense = std::max(layer.dense, one.dense);
      layer.experts = std::max(layer.experts, one.experts);
      forward = std::max(forward, forward_transient(model, i, work));
      again = std::max(again, activations_again(model, i, work, shape.recomputation));
    }
    ends.dense += rank_parameters(model, {range.first, range.first, range.embedding, range.head}, work.split).dense;
  }
  stored.dense += ends.dense;

  GpuMemory memory;
  const std::int64_t all = stored.dense + stored.experts, a_layer = layer.dense + layer.experts;
  const std::int64_t shards = share_each(stored.dense, shape.shards) + share_each(stored.experts, shape.expert_shards);
  memory.weights = Bytes{shards} * shape.stored;
  memory.gradients = Bytes{shards} * shape.stored;
  memory.optimizer = Bytes{shards} * shape.moments;
  if (shape.zero < 3) memory.weights += Bytes{all} * width;
  if (shape.zero < 2) memory.gradients += Bytes{all} * shape.gradients;
  if (shape.zero == 3) memory.gathered = Bytes{ends.dense + a_layer} * width;
  memory.gathered += Bytes{std::max(ends.dense, 2 * a_layer)} * width;
  memory.activations = shape.activations;

  Bytes loss;
  const Bytes logits = Bytes{work.context_tokens()} * vocabulary_rows(model, work.split);
  if (has_head) {
    // One of the tensors in fp32, which the backward pass needs, is among the activations.
    const std::int64_t tensors = work.split.tensor > 1 ? 4 : 3;
    loss = work.loss == LossKernels::framework ? logits * (width + (tensors - 1) * kSingle) : logits * width;
    if (work.split.sequence_parallel)
      loss += Bytes{(work.context_tokens() - work.tokens()) * model.hidden} * width;  // the head's gathered input
  }
  memory.working = std::max(loss + forward, again);

  const std::int64_t neighbours = (shape.has_previous ? 1 : 0) + (shape.has_next ? 1 : 0);
  memory.messages = shape.message * (neighbours * shape.micro_batches + (shape.has_next ? shape.held : 0));
  if (shape.has_previous && has_head) memory.messages += logits * width * (2 * std::int64_t{shape.micro_batches});
  return memory;
}

}  // namespace contend
