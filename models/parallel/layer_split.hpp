#pragma once
// How the layers of a transformer are divided over the ranks of one stage, and what one rank stores of them.
//
// Tensor parallelism divides the matrices of a layer (Shoeybi et al., arXiv 1909.08053, section 3); sequence
// parallelism divides the tokens of what lies between them over the same ranks (Korthikanti et al., arXiv 2205.05198,
// section 4.2); context parallelism divides the tokens of everything; expert parallelism divides the routed experts,
// and expert tensor parallelism each of them.

#include "models/parallel/transformer.hpp"

#include <cstdint>

namespace contend {

/// The degrees of parallelism inside a stage; each >= 1.
struct LayerSplit {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;         ///< of the routed experts; divides their number
  std::int64_t expert_tensor = 1;  ///< of each routed expert
  bool sequence_parallel = false;  ///< needs tensor > 1 to change anything
};

/// Checks that a model can be divided so. Throws InputError with every fault: a degree < 1; heads, key and value heads,
/// or widths of feed-forwards that tensor does not divide; experts that expert does not divide, or a width of theirs
/// that expert_tensor does not; expert degrees of a model without experts; experts and tensor > 1 without sequence
/// parallelism, where every rank of a tensor group would dispatch the same tokens.
void validate(const TransformerModel& model, const LayerSplit& split);
/// Checks that sequences of `tokens` can be divided so: by 2 x context if context > 1 (each rank takes one piece from
/// the front and one from the back, so that causal attention is balanced), and by tensor with sequence parallelism.
/// Throws InputError.
void validate_sequence(std::int64_t tokens, const LayerSplit& split);

/// Parameters that one rank stores. The tables of tokens and of the head are padded to a multiple of tensor.
struct RankParameters {
  std::int64_t dense = 0;    ///< of the grid of dense layers, with `whole`
  std::int64_t whole = 0;    ///< elements of `dense` that every rank of the tensor group has, too
  std::int64_t experts = 0;  ///< of the grid of experts
  std::int64_t dense_tensors = 0, expert_tensors = 0;  ///< that have them, each of which the rank has a part of

  [[nodiscard]] std::int64_t total() const { return dense + experts; }
};

/// What a rank stores of the stage. The model, the split and the range are valid.
[[nodiscard]] RankParameters rank_parameters(const TransformerModel& model, const LayerRange& stage,
                                             const LayerSplit& split);
/// The parameters of a rank of a stage whose stage_parameters() are known.
[[nodiscard]] RankParameters rank_parameters(const TransformerModel& model, const LayerRange& stage,
                                             const LayerSplit& split, ParameterSplit stored);
/// Rows of the padded table of tokens on one rank.
[[nodiscard]] std::int64_t vocabulary_rows(const TransformerModel& model, const LayerSplit& split);

}  // namespace contend
