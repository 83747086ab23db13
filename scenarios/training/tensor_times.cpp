// The communication of tensor parallelism in the blocks of a layer, attention and a dense feed-forward.

#include "models/parallel/narrow_bytes.hpp"
#include "scenarios/training/unit_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace contend {

UnitTimes::BlockProducts UnitTimes::products_of(const std::vector<TransformerOperator>& operators,
                                                LayerPart part) const {
  std::vector<TransformerOperator> products;
  for (const TransformerOperator& each : operators)
    if (each.part == part && each.kind == OperatorKind::product) products.push_back(each);
  if (products.empty()) return {};
  const bool gives_input = products.front().input_gradient.kernels > 0;
  const bool goes_back = std::ranges::any_of(products, [](const TransformerOperator& each) {
    return each.input_gradient.kernels + each.weight_gradient.kernels > 0;
  });
  const std::vector<TransformerOperator> last{products.back()};
  products.pop_back();
  BlockProducts made{.first = timed(products), .last = timed(last)};
  made.gives_input = gives_input;
  made.goes_back = goes_back;
  made.gathered = gathered_as(operators, part);
  if (!entry_.parallel->tensor_overlap) return made;
  const int pieces = static_cast<int>(work_.split.tensor);
  made.first_pieces = timed_pieces(products, pieces);
  made.last_pieces = timed_pieces(last, pieces);
  return made;
}

/// With tensor_overlap a product and the ring of the t ranks beside it are cut into t pieces. A gathering has t - 1
/// steps, and the first piece is there before it: together both take max(pieces, gathering + a piece). The
/// reduction behind a product takes the same turns, from the end. So this much of the pieces hides a collective.
Time UnitTimes::beside_pieces(Time pieces) const {
  if (!entry_.parallel->tensor_overlap) return {};
  return pieces - Time::nanoseconds(pieces.ns() / work_.split.tensor);
}

/// The copy of a tensor in its buffer into the order of its tokens; no time where the runtime needs none.
Time UnitTimes::copy_of_gathered(Bytes tensor) const {
  if (entry_.runtime != Runtime::fsdp2) return {};
  TransformerOperator copy;
  copy.name = "copy";
  copy.m = tensor.count();
  copy.n = 1;
  copy.forward = {0, 2.0 * static_cast<double>(tensor.count()), 1};
  return timed({copy}).forward;
}

/// What ranks gather is cast first where all that reads it is in a narrow format: inputs of a block, and gradients of
/// its outputs (Transformer Engine, gather_along_first_dim with a quantizer, module/layernorm_linear.py and
/// module/base.py; torchao, PrepareFloat8ModuleInput and Float8RowwiseParallel of float8_tensor_parallel.py). A product
/// in two bytes, such as an adapter, needs what is gathered in two bytes. Sums stay in two bytes.
Bytes UnitTimes::gathered_as(const std::vector<TransformerOperator>& operators, LayerPart part) const {
  const bool is_read_wide = std::ranges::any_of(operators, [&](const TransformerOperator& each) {
    return each.part == part && each.kind == OperatorKind::product && each.type != work_.type;
  });
  if (!is_narrow(work_.type) || is_read_wide) return activations_;
  const auto numbers = static_cast<double>(work_.context_tokens() * model_.hidden);
  return Bytes{static_cast<std::int64_t>(std::ceil(numbers * narrow_bytes(work_.type)))};
}

/// The communication of a block whose inputs' gradients can hide theirs behind the products of the weights. Nobody adds
/// up gradients of inputs that nobody computes, nor gathers gradients of outputs that nobody needs.
UnitTimes::Added UnitTimes::tensor_parallel(const BlockProducts& products) {
  if (work_.split.tensor == 1) return {};
  const OperatorTimes& first = products.first;
  const RankGroups groups = tensor_groups();
  const Time hides = hiding_weights(first);
  const auto collective = [&](CollectiveKind kind, Time beside) {
    const bool is_gathered = kind == CollectiveKind::all_gather;
    return sent(PassGroup::tensor, kind, groups, is_gathered ? products.gathered : activations_, beside);
  };
  if (!work_.split.sequence_parallel) {
    const Time sum = groups_(CollectiveKind::all_reduce, groups, activations_);
    if (!products.gives_input) return {sum, {}, {collective(CollectiveKind::all_reduce, {})}};
    return {sum,
            adds(sum, hides, groups),
            {collective(CollectiveKind::all_reduce, {})},
            {collective(CollectiveKind::all_reduce, hides)}};
  }
  const Time gather = groups_(CollectiveKind::all_gather, groups, products.gathered);
  const Time scatter = groups_(CollectiveKind::reduce_scatter, groups, activations_);
  const Time before = beside_pieces(products.first_pieces.forward),
             behind = beside_pieces(products.last_pieces.forward);
  const Time back = beside_pieces(products.last_pieces.input_gradient);
  Added added{adds(gather, before, groups) + adds(scatter, behind, groups),
              {},
              {collective(CollectiveKind::all_gather, before), collective(CollectiveKind::reduce_scatter, behind)}};
  if (products.goes_back) {
    added.backward = adds(gather, back, groups) + adds(gather, first.input_gradient, groups);
    added.backward_sent = {collective(CollectiveKind::all_gather, back),
                           collective(CollectiveKind::all_gather, first.input_gradient)};
  }
  if (products.gives_input) {
    added.backward += adds(scatter, hides, groups);
    added.backward_sent.push_back(collective(CollectiveKind::reduce_scatter, hides));
  }
  // PyTorch's tensors of [sequence, tokens, hidden] are cut along the tokens: a copy behind each gathering, and before
  // each reduction, puts the pieces in order (torch/distributed/_functional_collectives.py).
  const auto copies = [&](const std::vector<PassCollective>& all) {
    Time sum;
    for (const PassCollective& each : all) sum += copy_of_gathered(each.bytes);
    return sum;
  };
  added.forward_pieces = copies(added.forward_sent);
  added.backward_pieces = copies(added.backward_sent);
  if (!entry_.parallel->tensor_overlap) return added;
  added.forward_pieces +=
      products.first_pieces.forward + products.last_pieces.forward - first.forward - products.last.forward;
  added.backward_pieces += products.last_pieces.input_gradient - products.last.input_gradient;
  return added;
}

}  // namespace contend
