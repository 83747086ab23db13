#pragma once
// Chooses the algorithm of a collective: a named one, or with `auto` the fastest candidate, by closed forms as NCCL
// does with its own cost model (src/graph/tuning.cc), or by what the messages take on the given fabric.

#include "network/collectives/algorithm.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/routing.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace contend {

inline constexpr std::string_view kAutoCollective = "auto";

/// The time that software and interface add to every step. The defaults are NCCL's hwLat of the Simple protocol, ring,
/// over NVLink and over the network (NVIDIA/nccl, src/graph/tuning.cc: 3.4 and 14.0 us).
struct StepOverhead {
  Time inside = Time::nanoseconds(3'400);    ///< if all ranks are in one server
  Time between = Time::nanoseconds(14'000);  ///< if some step crosses servers
};

/// The costs that ranks in this order see on the idle fabric. alpha is the largest latency of the messages plus the
/// overhead. beta is the time per byte on the tightest link while every rank sends one message: to the next rank (flat)
/// or to the next rank of its group on a level. For leaders, only the first rank of each group below sends. `levels`
/// are the sizes of level_sizes, or any whose product is the number of ranks; a single one is flat. On several stripes
/// every rank sends an equal part of its message to the next rank of each (flat). Of the options `label` and
/// `in_flight` count.
[[nodiscard]] CollectiveCosts probe_costs(std::span<const NodeId> order, std::span<const int> levels,
                                          const Topology& topology, const Router& router,
                                          const StepOverhead& overhead = {},
                                          std::span<const std::vector<int>> stripes = {},
                                          const CollectiveOptions& options = {});

/// The most chunks of a pipelined algorithm. Without alpha more chunks are always better; this keeps schedules finite.
inline constexpr int kMostChunks = 4096;
/// The best number of chunks for the costs, at most kMostChunks; every chunk has at least one byte. 1 if the algorithm
/// is not pipelined.
[[nodiscard]] int best_chunks(const CollectiveAlgorithm& algorithm, CollectiveKind kind, const CollectiveShape& shape,
                              Bytes bytes, const LinkCost& cost);

/// The chosen algorithm with its shape.
struct CollectivePlan {
  const CollectiveAlgorithm* algorithm = nullptr;
  CollectiveShape shape;
  double seconds = 0;  ///< predicted
};

/// The candidates of `auto` by default: ring, double binary tree and, where servers have equally many ranks, the
/// hierarchical algorithm for all-reduce (the first two are NCCL's); ring for reduce-scatter, all-gather, broadcast and
/// reduce; pairwise for all-to-all; swap for exchange.
[[nodiscard]] std::span<const std::string_view> auto_candidates(CollectiveKind kind);

/// A fabric with nothing else on it.
struct IdleFabric {
  std::span<const NodeId> order;  ///< the GPUs; GPU i is rank i
  const Topology& topology;
  const Router& router;
  CollectiveOptions options;
};

/// The time of the schedule on the idle fabric, in seconds: the time of its coupled flows one after the other, as
/// fidelity `flow` runs them.
[[nodiscard]] double seconds_on(const IdleFabric& fabric, const CollectiveSchedule& schedule);

/// The plan for the candidate of `auto` that is fastest by seconds_on(). A candidate isn't tried if its closed form
/// takes twice as long as the best so far: on links that messages share more than the messages of the ring do, the
/// closed form is too fast, and where ranks wait for their own data only it is too slow, but not by that much. Errors
/// as plan_collective().
[[nodiscard]] CollectivePlan choose_on_fabric(CollectiveKind kind, const CollectiveShape& shape, Bytes bytes,
                                              const CollectiveCosts& costs, const IdleFabric& fabric,
                                              std::span<const std::string_view> candidates = {});

/// The plan for algorithm `name`, or for the candidate with the fastest closed form (the first of equals) if it is
/// `auto`. `shape`
/// has the ranks and, to allow hierarchical algorithms, the groups. The number of chunks of a pipelined algorithm is
/// set to the best for these costs. Candidates that refuse the shape are skipped. Throws InputError for an unknown
/// name, an algorithm that does not support the kind or refuses the shape, and `auto` without a candidate that accepts
/// it.
[[nodiscard]] CollectivePlan plan_collective(std::string_view name, CollectiveKind kind, const CollectiveShape& shape,
                                             Bytes bytes, const CollectiveCosts& costs,
                                             std::span<const std::string_view> candidates = {});

}  // namespace contend
