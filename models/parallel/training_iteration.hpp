#pragma once
// What an iteration of a job consists of that trains one model over many GPUs: pipeline passes in the order of a
// schedule, messages between the ranks of the pipeline, and the exchange of gradients and weights among data-parallel
// ranks. spread_source() makes its graph, to which passes add (models/passes/spread_passes.hpp).
//
// Ranks are numbered as by Megatron-LM (parallel_state, order tp-cp-ep-dp-pp): the tensor-parallel coordinate is the
// fastest, then context, data and pipeline. So the ranks of a pipeline rank are consecutive and are one role. What
// tensor, context and expert parallelism send lies inside the passes: it is part of their times, or operations that
// pass the network between two parts of the computing.

#include "models/overlap/iteration.hpp"
#include "models/parallel/offload.hpp"
#include "models/parallel/pass_traffic.hpp"
#include "models/parallel/pipeline_plan.hpp"
#include "sim/graph.hpp"
#include "sim/interference.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Times of the host that launches the passes of a unit.
struct HostTimes {
  Time forward{}, backward_input{}, backward_weight{};

  [[nodiscard]] Time of(PassKind kind) const;
};

/// A unit of a model on one rank: a transformer layer, the embedding, or the head with the loss. Times are the times of
/// one micro-batch; communication of tensor, context and expert parallelism that nothing hides is part of them.
struct ModelUnit {
  Time forward;
  Time backward_input;               ///< gradient of the inputs, with what is computed again for it
  Time backward_weight;              ///< gradient of the weights
  std::int64_t dense_elements = 0;   ///< parameters on the rank that all data-parallel ranks share, and train
  std::int64_t expert_elements = 0;  ///< parameters of the rank's experts
  Time forward_exchange{};           ///< part of `forward` that a pass merged with this one can hide: the experts'
  Time backward_exchange{};          ///< the same of `backward_input`
  PassTraffic forward_traffic{};     ///< the collectives that are part of `forward`
  PassTraffic backward_traffic{};    ///< and of `backward_input`
  Time forward_between_servers{};    ///< for which collectives of `forward` between servers send, hidden ones as well
  Time backward_between_servers{};   ///< the same of `backward_input`
  std::int64_t dense_tensors = 0, expert_tensors = 0;  ///< that have its parameters
  Bytes frozen_dense{}, frozen_experts{};              ///< of weights that are not trained
  Bytes offloaded{};  ///< activations that a forward pass moves to the host, and that come back for the backward pass
  HostTimes host{};   ///< with collectives that are part of the passes

  [[nodiscard]] Time of(PassKind kind) const;
  /// What a pass of the kind sends; nullptr: nothing.
  [[nodiscard]] const PassTraffic* traffic(PassKind kind) const;
  /// How long it sends between servers.
  [[nodiscard]] Time between_servers(PassKind kind) const;
};

/// What data-parallel ranks keep only a share of (Rajbhandari et al., "ZeRO", SC 2020, section 5).
enum class Sharding : std::uint8_t {
  none,       ///< nothing: gradients are all-reduced
  optimizer,  ///< ZeRO-1: gradients are reduce-scattered, weights all-gathered after the update
  gradients,  ///< ZeRO-2: as `optimizer`, and gradients are reduce-scattered after every micro-batch
  weights,    ///< ZeRO-3, FSDP: weights are all-gathered before each use, too
};

/// What ranks gather for an update that needs whole matrices.
struct UpdateGather {
  Bytes bytes;  ///< of these matrices
  RankGroups groups;
};

/// What an iteration consists of. The degrees are defined as in Megatron-LM; expert groups are a second partition of
/// the same ranks: `expert_tensor` is its fastest coordinate, then `expert`.
struct TrainingIteration {
  PipelinePlan plan;
  std::vector<std::vector<ModelUnit>> units;  ///< [model stage], in forward order
  std::vector<Bytes> messages;  ///< [model stage but the last]: what each rank sends to the next stage, and back
  int tensor = 1, context = 1, data = 1;  ///< >= 1; a pipeline rank has tensor x context x data ranks
  int expert = 1, expert_tensor = 1;      ///< >= 1; their product divides that number
  Sharding sharding = Sharding::none;
  /// Data-parallel ranks (with their context ranks) that share out one copy of what `sharding` says; 0: all of them.
  /// Less than all is hybrid sharding (Zhao et al., PyTorch FSDP, arXiv 2304.11277, section 3.2.2): gradients are then
  /// reduce-scattered in each copy and, after the last micro-batch, all-reduced between copies. Divides context x data;
  /// expert x expert_tensor divides tensor x shards.
  int shards = 0;
  int weight_bytes = 2;              ///< of an element as it is gathered
  int gradient_bytes = 4;            ///< of an element as it is reduced
  std::int64_t bucket = 40'000'000;  ///< elements after which gradients are sent and weights gathered, >= 1
  /// [model stage]: the exchange of the gradients of dense weights as a fusion policy plans it, with one layer for each
  /// unit, by reduce-scatters where they are shared out; not with Sharding::weights, nor where the pass that completes
  /// the gradients is merged with another one. What of
  /// a plan goes on beside the next forward pass carries gradients, or updated weights where they are shared out.
  /// Empty: all stages send buckets.
  std::vector<FusedIteration> planned{};
  /// Planned exchanges give each rank the sums of all gradients, not its share of them. Exchanges of compressed
  /// gradients do so. Not with Sharding::gradients.
  bool plans_all_sums = false;
  int planned_per_server = 1;  ///< ranks of a group of dense gradients that the plans take to lie on one server
  bool reshard = true;         ///< with Sharding::weights: weights are gathered again for the backward pass
  /// With Sharding::weights: the rate at which each rank reads its share of weights that lie outside of its GPU, before
  /// they are gathered; none: they are there (Rajbhandari et al., ZeRO-Infinity, arXiv 2104.07857, section 5).
  std::optional<ByteRate> reads_weights{};
  CopyWay weights_from = CopyWay::from_host;  ///< where they lie
  /// The rate of the way between each GPU and its host, in each direction at once. What goes the same way takes its
  /// turn: activations (ModelUnit::offloaded) and, with `sends_gradients`, reduced gradients out; weights that are read
  /// and activations back in (Ren et al., ZeRO-Offload, USENIX ATC 2021, section 4; ZeRO-Infinity, section 5).
  std::optional<ByteRate> link{};
  bool sends_gradients = false;  ///< the update is done by the host, and needs them there
  bool barrier = true;           ///< every update waits for the gradients of all ranks (their norm)
  std::vector<Time> update;      ///< [pipeline rank]: of the rank's weights
  /// [pipeline rank]: true if the update takes so long for each tensor, false if for each element; empty: for elements.
  std::vector<bool> update_by_tensor{};
  std::vector<HostTraffic> host_update{};  ///< [pipeline rank]: what that moves on hosts; empty: nothing
  std::vector<std::vector<UpdateGather>> update_gathers{};  ///< [pipeline rank]; empty: nothing
  std::vector<std::int64_t> update_kernels{};  ///< [pipeline rank]: of products, beside those that go by tensors
  /// The weights of a part of a stage are updated as soon as their gradients are there, whatever other gradients are.
  /// Not where `sends_gradients`, nor with several micro-batches.
  bool update_in_backward = false;
  /// Elements on each rank of an embedding that the first and the last stage both have (a tied head): if these lie on
  /// different pipeline ranks, both add up their gradients.
  std::int64_t tied_elements = 0;
  PassGroups in_network{};  ///< whose collectives are operations of the graph, not parts of passes
  bool joint = true;        ///< the messages of a pipeline rank are one transfer (Op::joint)
  /// GPUs of a server, which ranks fill one after the other, if collectives of gradients and weights between servers
  /// take turns with those that are parts of passes (ModelUnit::forward_between_servers) and with messages: they go
  /// when these send nothing, as in Pan et al., FSMoE, arXiv 2501.10714. 0: they don't, as the network has all of them.
  int turns_per_server = 0;
  Interference interference{};  ///< of what merged passes compute and their exchange with experts
  /// [model stage but the last]: for how long its message, and the one that comes back, sends between servers. Empty,
  /// like 0: not at all.
  std::vector<Time> message_between_servers{};

  [[nodiscard]] int ranks_of_stage() const { return tensor * context * data; }
  /// True if ranks gather the weights that others have updated.
  [[nodiscard]] bool gathers_after_update() const {
    return sharding == Sharding::optimizer || sharding == Sharding::gradients;
  }
  /// The ranks among which gradients of dense weights are added up, and the ranks for gradients of experts.
  [[nodiscard]] RankGroups dense_groups() const { return {tensor, context * data}; }
  [[nodiscard]] RankGroups expert_groups() const {
    return {expert_tensor * expert, ranks_of_stage() / (expert_tensor * expert)};
  }
  /// The ranks among which a planned exchange of dense gradients runs.
  [[nodiscard]] RankGroups planned_groups() const {
    return sharding == Sharding::none || plans_all_sums ? dense_groups() : dense_shards();
  }
  /// The ranks that share out a copy of the weights, dense and of experts, and those with equal shares of all copies.
  [[nodiscard]] RankGroups dense_shards() const { return {tensor, shards > 0 ? shards : context * data}; }
  [[nodiscard]] RankGroups expert_shards() const {
    return {expert_tensor * expert, dense_shards().size * tensor / (expert_tensor * expert)};
  }
  [[nodiscard]] RankGroups copies() const {
    return {tensor * dense_shards().size, context * data / dense_shards().size};
  }
  /// What a rank updates of so many elements on it, whose gradients these groups add up.
  [[nodiscard]] std::int64_t kept_of(std::int64_t elements, const RankGroups& groups) const;
  /// Elements of which two pipeline ranks have a copy each, by the two: stages that both have, and a tied embedding.
  [[nodiscard]] std::map<std::pair<std::size_t, std::size_t>, std::int64_t> copies_on_two_ranks() const;
  /// The times of whole passes by model stage. Of two merged ones, the exchange of each hides behind what the other
  /// computes (DeepSeek-V3, arXiv 2412.19437, section 3.2.1); both are taken to be of the forward pass's stage then.
  [[nodiscard]] PipelineCosts costs() const;
};

/// What a rank keeps of so many elements that its group shares out.
[[nodiscard]] inline std::int64_t share_of(std::int64_t elements, const RankGroups& groups) {
  return (elements + groups.size - 1) / groups.size;
}

}  // namespace contend
