#pragma once
// Times of the parts of a model on one rank: what a device computes, and the communication of tensor, context and
// expert parallelism that nothing hides.

#include "models/parallel/mixture.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/training_iteration.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/training/group_times.hpp"
#include "sim/interference.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace contend {

/// The times of operators on the device of an entry, by its profile or its roofline.
[[nodiscard]] OperatorTimes operator_times(std::span<const TransformerOperator> operators, const TrainingEntry& entry);

/// What a micro-batch spends in its passes on computing and on communication that nothing hides, forward and backward.
struct PassShares {
  Time compute{}, recompute{}, tensor{}, context{}, expert{};
  Time compression{};  ///< kernels that compress messages between stages
  Time launches{};     ///< waits for the host inside passes

  PassShares& operator+=(const PassShares& other);
  [[nodiscard]] Time total() const { return compute + recompute + tensor + context + expert + compression + launches; }
};

/// A unit and what its passes are made of.
struct TimedUnit {
  ModelUnit unit;
  PassShares shares;
};

class UnitTimes {
 public:
  /// For a pipeline rank of so many GPUs, from GPU `first` of the cluster on. System, entry, model and work must
  /// outlive it; the entry names a device. `weight_passes`: gradients of weights have passes of their own, which hide
  /// no exchange. Throws InputError if tokens can't go to their experts as the entry says.
  UnitTimes(const TrainingSystem& system, const TrainingEntry& entry, const TransformerModel& model,
            const MicroBatch& work, int ranks, bool weight_passes, int first = 0);

  [[nodiscard]] TimedUnit layer(std::int64_t index);
  [[nodiscard]] TimedUnit embedding();
  /// The head, the loss, and the modules of multi-token prediction, without their communication: logits are cut over
  /// the vocabulary, so the loss needs the largest one, the sum of the exponentials and the logit of the target from
  /// all tensor-parallel ranks (Shoeybi et al., arXiv 1909.08053, section 3).
  [[nodiscard]] TimedUnit head();
  /// True if the backward pass of a unit (TrainedPart) has something to do.
  [[nodiscard]] bool has_backward(std::int64_t unit) const {
    return work_.trained.backward(model_, unit) != BackwardPart::none;
  }

  /// Adds what FSDP2 copies of `elements` weights on a rank for each micro-batch: gathered weights out of the buffer of
  /// the collective, and gradients into the buffer of theirs, in the format of the reduction (PyTorch,
  /// torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py). Nothing for other runtimes.
  void add_copies(const TrainingIteration& job, std::int64_t elements, TimedUnit& timed) const;

  /// Of a layer with experts, in both passes and one piece: what grows with the load of their fullest rank, and with
  /// the load of their fullest server. Zero if the model has none.
  struct ExpertPrices {
    Time rank{}, server{};
  };
  [[nodiscard]] ExpertPrices expert_prices();
  /// What computing and the exchange with experts cost each other.
  [[nodiscard]] const Interference& interference_of_experts() const;
  /// The servers of a group of experts if tokens go by server, and it has several; else 1.
  [[nodiscard]] int servers_of_experts() const;

  /// Bytes that each rank sends to the next stage: tensor-parallel ranks send a part each, also without sequence
  /// parallelism (Narayanan et al., arXiv 2104.04473, section 4.1).
  [[nodiscard]] Bytes message() const { return Bytes{activations_.count() / work_.split.tensor}; }
  /// The time to put those parts together.
  [[nodiscard]] Time gather_message();
  /// And the collective that does it.
  [[nodiscard]] PassCollective gathered_message() const;

  /// The time of a message from each rank of the pipeline rank whose first GPU is `from` to that in its place of the
  /// one that begins with `to`, all at once.
  [[nodiscard]] Time message_time(int from, int to, Bytes bytes) const { return groups_.between(from, to, bytes); }
  /// The time of a collective in all groups of the pipeline rank at once.
  [[nodiscard]] Time collective_time(CollectiveKind kind, const RankGroups& groups, Bytes bytes) {
    return groups_(kind, groups, bytes);
  }

  /// True if a group of this kind has ranks on several servers where consecutive ranks fill one server after another.
  [[nodiscard]] bool leaves_servers(PassGroup kind) const;
  [[nodiscard]] bool leaves_servers(const RankGroups& groups) const { return groups_.leaves_servers(groups); }
  /// How long collectives of a pass send between servers, one after another.
  [[nodiscard]] Time between_servers(const PassTraffic& traffic);
  /// The partitions of the ranks into groups of this kind.
  [[nodiscard]] std::vector<RankGroups> groups_of(PassGroup kind) const;

 private:
  /// What communication adds to the passes of a part of a layer.
  struct Added {
    Time forward{}, backward{};
    std::vector<PassCollective> forward_sent{}, backward_sent{};  ///< whose times these are
    Time forward_pieces{}, backward_pieces{};  ///< by how much longer computing takes that is cut into pieces
  };
  [[nodiscard]] Added sent_again(const Added& added, PassGroup group, Recomputation module);
  void check_servers_of_experts() const;
  [[nodiscard]] RankGroups tensor_groups() const { return {1, static_cast<int>(work_.split.tensor)}; }
  [[nodiscard]] OperatorTimes timed(const std::vector<TransformerOperator>& operators) const;
  /// Times of the products of a block: of its last one, and of those before it; with `tensor_overlap` also of their
  /// pieces, one after the other.
  struct BlockProducts {
    OperatorTimes first{}, last{}, first_pieces{}, last_pieces{};
    bool gives_input = true;  ///< the gradient of the block's input is computed
    bool goes_back = true;    ///< any gradient is
    Bytes gathered{};         ///< what tensor-parallel ranks gather of its inputs and of the gradients of its outputs
  };
  [[nodiscard]] BlockProducts products_of(const std::vector<TransformerOperator>& operators, LayerPart part) const;
  [[nodiscard]] OperatorTimes timed_pieces(const std::vector<TransformerOperator>& operators, int pieces) const;
  [[nodiscard]] Time adds(Time message, Time hides, const RankGroups& groups) const;
  [[nodiscard]] const Interference& interference(const RankGroups& groups) const;
  [[nodiscard]] Time beside_pieces(Time pieces) const;
  [[nodiscard]] Added tensor_parallel(const BlockProducts& products);
  [[nodiscard]] Time copy_of_gathered(Bytes tensor) const;
  [[nodiscard]] Bytes gathered_as(const std::vector<TransformerOperator>& operators, LayerPart part) const;
  [[nodiscard]] RankGroups groups_of_rings(int degree, int among) const;
  [[nodiscard]] OperatorTimes in_blocks(const std::vector<TransformerOperator>& attention, int blocks) const;
  /// The times of attention in blocks whose outputs `sum` adds up.
  [[nodiscard]] OperatorTimes in_blocks(const std::vector<TransformerOperator>& attention, int blocks,
                                        const TransformerOperator& sum) const;
  [[nodiscard]] Added gathered_ring(const std::vector<TransformerOperator>& attention, const RankGroups& ring);
  [[nodiscard]] Added rings_of_documents(const std::vector<TransformerOperator>& attention, Bytes block);
  [[nodiscard]] Added gathered_context(const RankGroups& groups, Bytes block);
  [[nodiscard]] Added context_parallel(const std::vector<TransformerOperator>& operators);
  [[nodiscard]] ExpertPiece exchange_of_piece(int pieces, std::vector<PassCollective>& sent);
  [[nodiscard]] PassCollective sent(PassGroup of, CollectiveKind kind, const RankGroups& groups, Bytes bytes,
                                    Time beside = {}) const;
  /// A collective of the tensor-parallel ranks with the whole tensor between two layers.
  /// What adds up the outputs of the ranks of a tensor group.
  [[nodiscard]] CollectiveKind sum_of_parts() const {
    return work_.split.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  }
  [[nodiscard]] PassCollective sent_whole(CollectiveKind kind) const {
    return sent(PassGroup::tensor, kind, tensor_groups(), activations_);
  }
  [[nodiscard]] std::vector<PassCollective> in_pieces(const std::vector<PassCollective>& of_piece, int pieces,
                                                      Time computing) const;
  [[nodiscard]] double copies_of_token() const;
  [[nodiscard]] Time hiding_weights(const OperatorTimes& times) const;
  [[nodiscard]] OperatorTimes experts_of_piece(std::int64_t index, int pieces) const;
  [[nodiscard]] Added expert_parallel(std::int64_t index);
  void wait_for_routing(TimedUnit& layer) const;
  [[nodiscard]] TimedUnit timed_layer(std::int64_t index);

  const TrainingEntry& entry_;
  const TransformerModel& model_;
  const MicroBatch& work_;
  const HostCosts* const host_;  // nullptr: none
  const bool weight_passes_;
  const int per_server_;                 // GPUs
  const Interference inside_, between_;  // servers
  GroupTimes groups_;
  Bytes activations_;  // of the tensor between two layers, before sequence parallelism
  /// By kind, causal, beside an encoder, what goes backward, and whether weights are trained.
  std::map<std::tuple<std::size_t, bool, bool, BackwardPart, bool>, TimedUnit> layers_;
  const TransformerLayer* kind_ = &model_;  ///< of the layer at hand
};

}  // namespace contend
