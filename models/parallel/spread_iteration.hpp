#pragma once
// The iteration graph of a job that spreads its model over GPUs, with what each pipeline rank executes: which part of
// the model an operation computes, and which operations give sums of gradients. Passes that need more than the graph
// (models/passes/spread_passes.hpp) read this and add to it.

#include "models/overlap/iteration.hpp"
#include "models/parallel/gradient_buckets.hpp"
#include "models/parallel/pipeline_plan.hpp"
#include "sim/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// A sum of gradients of which a rank keeps so much, when all of these operations have ended; none: when the part that
/// gave the gradients has ended.
struct GradientSum {
  std::string name;
  Bytes bytes;
  std::vector<OpId> ops;
};

/// A pass of consecutive units of a stage as a rank computes it: a part of a pass, or the whole pass.
struct PassPart {
  PipelinePass pass;
  int stage = 0;
  GradientBucket units;
  std::string name;
  OpId first, last;             ///< operations; of two merged passes the same
  std::vector<OpId> gathers{};  ///< collectives that bring the weights
  std::vector<GradientSum> sums{};
};

/// An operation of a planned exchange that a unit of a stage waits for before its first forward pass of an iteration.
struct Arrival {
  OpId op;
  int stage = 0;
  std::size_t unit = 0;
};

/// What a pipeline rank executes in an iteration.
struct RankProgram {
  RoleId role;
  int turns_per_server = 0;                             ///< TrainingIteration::turns_per_server
  std::map<std::pair<int, int>, ChannelId> channels{};  ///< of its collectives
  std::int32_t collectives = 0;                         ///< in channels, in the order in which they are needed
  std::vector<PassPart> parts{};                        ///< in the order of their execution
  std::vector<OpId> updates{};                          ///< operations that update the weights
  std::vector<OpId> gradients{};  ///< operations that sum gradients or carry sums: an update of the weights needs them
  OpId turn{};                    ///< the last timer of what passes send between servers
  std::vector<OpId> starts{};     ///< what brings weights before the first part, and waits for the update before
  /// Of planned exchanges that go on beside the next forward pass: dependencies between two iterations (lag 1), and
  /// what that pass waits for.
  std::vector<Dependency> crossings{};
  std::vector<Arrival> arrivals{};

  /// Queues a collective behind those that need the same links. A communication library has a queue for each group of
  /// ranks (NCCL's communicators), so that a gathering inside servers does not wait for a sum between them. Where
  /// transfers don't share links, all groups that leave servers have one queue, and so have all that don't.
  void queue(IterationGraph& graph, OpId collective);
  [[nodiscard]] OpId first() const { return parts.front().first; }
  [[nodiscard]] OpId last() const { return parts.back().last; }
  /// The part with a unit's first forward pass of an iteration.
  [[nodiscard]] const PassPart& first_use(int stage, std::size_t unit) const;
  /// The operation before a part, not counting so many others between them; none: there are not so many.
  [[nodiscard]] OpId before(std::size_t part, int others) const;
};

struct SpreadIteration : FusedIteration {
  std::vector<RankProgram> ranks;  ///< by pipeline rank
};

/// The collectives of a bucket: one of dense weights and one of experts, if there are any.
struct BucketExchange {
  OpId dense{}, experts{};

  [[nodiscard]] std::vector<OpId> ops() const;
};
inline constexpr const char* kOfExperts = "experts of ";  ///< begins the names of exchanges of experts

/// Adds the collectives of a bucket to the channel of a rank, with so many bytes of an element, in these groups. There
/// is none of weights that the bucket has not, nor in groups of one.
BucketExchange add_exchange(IterationGraph& graph, RankProgram& rank, CollectiveKind kind, const GradientBucket& bucket,
                            const std::string& name, int element_bytes, const RankGroups& dense,
                            const RankGroups& experts);

/// The source: the passes of all pipeline ranks with their messages, and the exchange of gradients and weights inside
/// an iteration. A pass is one operation, or one for each unit where weights of single units come or their gradients
/// leave. Where a pass sends through the network, it computes the first half of what nothing can hide, then sends, each
/// collective beside what can go on meanwhile, and computes the rest. The collectives of all its layers that are equal
/// are one operation that runs several times (Op::times).
/// With activations on the host a pass is cut at its units, and gradients are exchanged unit by unit. The collectives
/// of a rank in the same groups go one at a time (RankProgram::queue). Where collectives between servers take turns, a
/// timer beside each pass lasts as long as the pass and the message with its results send. The collectives of a rank
/// and these timers go one after another, in the order in which they can begin; passes wait for no timer. Planned
/// collectives take turns with the collectives of experts, too. Messages between servers go one after another from each
/// rank, and wait for no collective. A planned exchange begins, unit by unit, with the last backward pass of its stage,
/// and kernels of its compression execute between units.
[[nodiscard]] SpreadIteration spread_source(const TrainingIteration& iteration);

}  // namespace contend
