#pragma once
// Which algorithm a collective uses: a named one, or `auto`, which predicts the closed form of each candidate on the
// fabric at hand and takes the fastest, as NCCL does with its own cost model (src/graph/tuning.cc).

#include "network/collectives/algorithm.hpp"
#include "network/routing.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace contend {

inline constexpr std::string_view kAutoCollective = "auto";

/// What software and interface add to every step. Defaults: NCCL's hwLat of the Simple protocol, ring, over NVLink and
/// over the network (NVIDIA/nccl, src/graph/tuning.cc: 3.4 and 14.0 us).
struct StepOverhead {
  Time inside = Time::nanoseconds(3'400);    ///< all ranks in one server
  Time between = Time::nanoseconds(14'000);  ///< some step crosses servers
};

/// The costs that ranks in this order see on the idle fabric. alpha: the largest latency of the messages, plus
/// overhead. beta: the time per byte on the tightest link while every rank sends one message: to the next rank (flat),
/// or to the next of its group on a level; for leaders, only the first rank of each group below does. `levels` as from
/// level_sizes, or any whose product is the number of ranks; a single one is flat.
[[nodiscard]] CollectiveCosts probe_costs(std::span<const NodeId> order, std::span<const int> levels,
                                          const Topology& topology, const Router& router,
                                          const StepOverhead& overhead = {}, std::uint64_t label = 0);

struct CollectivePlan {
  const CollectiveAlgorithm* algorithm = nullptr;
  CollectiveShape shape;
  double seconds = 0;  ///< predicted
};

/// What `auto` looks at unless told otherwise, which is what NCCL has: ring and double binary tree for all-reduce, ring
/// for reduce-scatter, all-gather, broadcast and reduce; pairwise for all-to-all, swap
/// for exchange.
[[nodiscard]] std::span<const std::string_view> auto_candidates(CollectiveKind kind);

/// The plan for algorithm `name`, or for the fastest of the candidates if it is `auto`; the first of equals. `shape`
/// has the ranks and, where hierarchical ones shall be possible, the groups; chunks of pipelined algorithms are set to
/// the best number for these costs. Candidates that refuse the shape are passed over. Throws InputError: an unknown
/// name, one that isn't for this kind, a shape that the named one refuses, or `auto` without a candidate that takes it.
[[nodiscard]] CollectivePlan plan_collective(std::string_view name, CollectiveKind kind, const CollectiveShape& shape,
                                             Bytes bytes, const CollectiveCosts& costs,
                                             std::span<const std::string_view> candidates = {});

}  // namespace contend
