#pragma once
// A plan is an iteration graph prepared for execution: it lists the successors of every operation and counts the
// predecessors.

#include "sim/graph.hpp"
#include "sim/late_ranks.hpp"
#include "sim/planned_rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace contend {

/// Plan counts operations in instances: a per-rank operation has one on each rank of its role, any other has one.
struct Plan {
  explicit Plan(const IterationGraph& graph);

  struct PlannedOp {
    Op op;
    bool per_rank = true;
    std::int32_t lists = -1;          ///< of a collective in listed groups: equal lists have one number
    std::uint16_t lane = 0;           ///< of a task: index into `lanes`
    std::int32_t ranks = 1;           ///< of its roles
    std::vector<OpId> successors[2];  ///< by lag
    /// By lag and phase: ends of that phase's operations that one instance waits for.
    std::vector<std::int32_t> predecessor_instances[2];
    /// Ranks without which it begins if they are late (Role::late); each rank has one task that it waits for.
    std::int32_t late = 0;
    bool may_be_dropped = false;   ///< such a task, or another that late ranks need not do any more
    bool is_awaited = false;       ///< a task of which the rank is late if it hasn't done it
    bool is_last_awaited = false;  ///< with patience: such a task after which no other comes
    std::int64_t often = 1;        ///< IterationGraph::often()
    OpId then;  ///< the compute operation of the same rank that is the only one to become ready when this one ends
  };

  std::vector<PlannedOp> ops;
  std::vector<Role> roles;
  std::vector<Channel> channels;
  std::vector<Counter> counters;
  bool counters_recur = true;   ///< its counters are its own, and rise by what its awaits wait for in an iteration
  std::vector<Lane> lanes;      ///< that tasks run on, ascending; so Lane::compute is not among them
  std::vector<int> first_rank;  ///< of each role, in the numbering of all ranks
  int ranks = 0;
  std::int32_t in_flight = kUsuallyInFlight;  ///< iterations
  IterationPhases phases;
  std::optional<PlannedRounds> rounds;              ///< if the graph leaves some out
  std::vector<std::int32_t> instances;              ///< of an iteration, by phase, without rounds left out
  std::vector<GpuTime> compute_total;               ///< GPU time of an iteration, by phase
  std::vector<std::vector<Time>> compute_per_rank;  ///< by phase and role
  std::vector<Bytes> sent;                          ///< of an iteration, by phase: what Op::sends() sends
  bool communicates = false;                        ///< true if it has collectives, messages or timers
  bool has_timers = false;
  bool uses_hosts = false;           ///< true if a timer moves something on hosts
  bool leaves_behind = false;        ///< true if a role leaves late ranks behind
  std::optional<Patience> patience;  ///< of that role
  LatePattern pattern;               ///< of late ranks, with patience
  bool leaves_server = false;        ///< true if it passes through interfaces even if one server has all ranks
  /// True if the ranks of each role are interchangeable, as none sends to or waits for a certain rank of another role:
  /// the GPUs that run them may be simulated as one.
  bool foldable = false;

  /// The role of a rank in the numbering of all ranks.
  [[nodiscard]] RoleId role_of(int rank) const {
    return RoleId{static_cast<std::size_t>(std::upper_bound(first_rank.begin(), first_rank.end(), rank) -
                                           first_rank.begin() - 1)};
  }

  /// GPU time of the iterations from `from` on of a job that has `iterations`, and that on one rank of a role.
  [[nodiscard]] GpuTime compute_left(std::int64_t from, std::int64_t iterations) const;
  [[nodiscard]] Time compute_left(RoleId role, std::int64_t from, std::int64_t iterations) const;
  /// The most GPU time of an iteration.
  [[nodiscard]] GpuTime most_compute() const { return *std::max_element(compute_total.begin(), compute_total.end()); }

 private:
  void number_lanes();
  void number_lists();
  void look_at_counters();
  void find_late(const IterationGraph& graph);
  void find_chains();
};

}  // namespace contend
