#pragma once
// An iteration graph made ready for execution: successors and numbers of predecessors of every operation.

#include "sim/graph.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// Operations are counted in instances: a per-rank operation has one on each rank of its role, a collective has one.
struct Plan {
  explicit Plan(const IterationGraph& graph);

  struct PlannedOp {
    Op op;
    bool per_rank = true;
    std::int32_t ranks = 1;                   ///< of its role
    std::vector<OpId> successors[2];          ///< by lag
    std::int32_t predecessor_instances[2]{};  ///< by lag: ends that one instance waits for
    OpId then;  ///< compute operation of the same rank that becomes ready when this one ends, and nothing else does
  };

  std::vector<PlannedOp> ops;
  std::vector<Role> roles;
  std::vector<Channel> channels;
  std::vector<int> first_rank;  ///< of each role, in the numbering of all ranks
  int ranks = 0;
  std::int32_t instances = 0;          ///< per iteration; a per-rank operation counts once a rank
  Time compute_total;                  ///< GPU time of an iteration
  std::vector<Time> compute_per_rank;  ///< by role
  bool communicates = false;           ///< it has a collective or a message
  /// Ranks of the only role can't be told apart: GPUs that run them may be simulated as one.
  bool foldable = false;

 private:
  void find_chains();
};

}  // namespace contend
