#pragma once
// What a policy that chooses among running and waiting jobs has yet to give them. GPUs count as a number of each type:
// where they lie is left to the placement policy. CPUs and host memory count server by server, because a rank has them
// where its GPU is. They don't count where every server has enough for the neediest of the jobs on all of its GPUs.

#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/host_room.hpp"
#include "sim/cluster_view.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

class RoomLeft {
 public:
  /// `gpus`: by type, those that may be given. `jobs`: all that will be asked about.
  RoomLeft(const ClusterView& cluster, std::vector<int> gpus, std::span<const JobView> jobs);

  /// Takes what these jobs need, which are to have the same GPUs of the type, as many as each of them has. False, and
  /// nothing is taken, if less is left. A job that runs there keeps its GPUs, so that its servers alone count; several
  /// jobs have the GPUs of the first of them that runs where there is room for all, else others. For jobs that wait,
  /// the placement policy may want other servers than those that have room.
  bool take(std::size_t type, std::span<const JobView> jobs);
  /// As above, and takes the GPUs of each job from its quota.
  bool take(std::size_t type, std::span<const JobView> jobs, QuotasLeft& quotas);

 private:
  /// Ranks on a server.
  struct Part {
    std::size_t server = 0;
    int ranks = 0;
    int free_now = 0;  ///< ranks for which it has room beside all jobs that run now
  };
  [[nodiscard]] std::vector<Part> held_by(JobId job) const;
  /// Servers for ranks that need so much: one rather than several, those on which no job has to give way before others,
  /// then those with the fewest GPUs left, or of several those with room for most. Nothing: they have no room.
  [[nodiscard]] std::vector<Part> parts_for(const ServerRange& range, int gpus, const HostRoom& need) const;

  const ClusterView& cluster_;
  std::vector<int> gpus_;             // by type
  std::vector<WholeServer> servers_;  // what is left of them; empty if their CPUs and memory suffice anyway
};

}  // namespace contend
