#pragma once
// TreePlacement is the placement of schedulers that know levels above the servers (sim/levels.hpp). It gives a job
// tasks of equal size; the scheduler's own rule says on which servers.

#include "policies/policy_row.hpp"
#include "sim/levels.hpp"
#include "sim/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace contend {

/// Tasks that are to be placed, and the servers for them.
struct TreeProblem {
  const LevelTree& levels;
  ServerRange range;                    ///< of servers that may be used
  std::vector<int> rooms;               ///< by server of the cluster: tasks that it can take
  int tasks = 1;                        ///< no more than all of them can take
  const LevelDemand* demand = nullptr;  ///< of the job; none: it may lie anywhere
};

/// Tasks on servers.
using TaskSpots = std::vector<std::pair<ServerId, int>>;
/// Chooses servers in the order of the ranks; nothing if the job has to wait.
using TreeRule = TaskSpots (*)(const TreeProblem& problem);

/// The parameter of policies whose tasks are pods.
inline constexpr ParameterInfo kPodGpus[] = {
    {"pod_gpus", std::int64_t{0}, 0, 1e6,
     "GPUs of each pod of a job; 0: as many as a server has, or the most below that which divide the job"}};
[[nodiscard]] inline int pod_gpus(const Parameters& parameters) {
  return static_cast<int>(parameters.get<std::int64_t>("pod_gpus"));
}

/// `task_gpus`: ranks of a task; 0: as many as a server has GPUs, or the most below that which divide the job.
[[nodiscard]] std::unique_ptr<PlacementPolicy> make_tree_placement(TreeRule rule, DomainRule domains, int task_gpus,
                                                                   std::shared_ptr<const LevelTree> levels);

}  // namespace contend
