#pragma once
// What transfers cost at the fidelities `analytic` and `contention`, by the keys of `network`: where the ranks of a
// request lie, and what the table of costs (cost_formulas.hpp) says of such ranks. A study of one iteration and a run
// of jobs share these costs.

#include "models/overlap/usual_interference.hpp"
#include "network/alpha_beta.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/spec/cluster_setup.hpp"
#include "scenarios/spec/iteration_study.hpp"
#include "scenarios/spec/network_setup.hpp"
#include "scenarios/spec/training_entry.hpp"
#include "sim/error.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// The interference of the keys `network.interference`, rounded to millionths, where the ranks of transfers lie on one
/// server or on several. At fidelity `flow` only computing is slowed down.
[[nodiscard]] Interference interference_of(const NetworkSetup& network, const IterationStudy& study,
                                           const std::vector<TrainingEntry>& training, TransferPath path);
/// Where the transfers of a job on so many servers go.
[[nodiscard]] TransferPath path_of(int servers);
/// The rows of the table behind `network.interference: auto`, one for each device of the study or of the jobs.
[[nodiscard]] std::vector<const UsualInterference*> usual_interferences_of(const IterationStudy& study,
                                                                           const std::vector<TrainingEntry>& training,
                                                                           TransferPath path);
/// What is wrong with `network.interference: auto`: no figure is known for a device, or they differ.
[[nodiscard]] std::vector<Complaint> interference_complaints(const ClusterSetup& cluster, const NetworkSetup& network,
                                                             const IterationStudy& study,
                                                             const std::vector<TrainingEntry>& training);

/// How the GPUs of a cluster lie to each other, as far as costs depend on it.
struct Ground {
  int per_server = 1;          ///< GPUs of each server
  std::vector<int> islands{};  ///< by server; empty: there are none
  bool sites = false;          ///< each server is a site of `network.sites`

  /// True if it makes a difference to a job on which servers it lies.
  [[nodiscard]] bool differs() const { return sites || !islands.empty(); }
};
[[nodiscard]] Ground ground_of(const ClusterSetup& cluster, const NetworkSetup& network);
/// The shape of a job on the first so many GPUs.
[[nodiscard]] JobShape first_shape(const ClusterSetup& cluster, const NetworkSetup& network, int ranks);
/// The shapes of groups of ranks: for each network that carries what groups send, and each size of these groups, the
/// shape of the group which spans most servers; ties go to the most ranks on a server. Between sites each group of two
/// or more has a shape of its own. Rank i runs on gpus[i].
[[nodiscard]] std::vector<JobShape> group_shapes(std::span<const GpuId> gpus, const RankGroups& groups,
                                                 const Ground& ground);
/// The shape among `shapes` on which an all-reduce of so many bytes takes longest.
[[nodiscard]] const JobShape& slowest_shape(const CostTable& costs, const std::vector<JobShape>& shapes, Bytes bytes);

/// The costs of the transfers of all jobs of a run, each by the shape of its job or group. A message takes
/// network.alpha + bytes beta between servers, and the figures of network.inside in one; joint messages share each
/// direction of the interface of a server. Between sites a message takes what its link does, and joint messages as long
/// as the slowest of them. `exchanges` are by job; empty: all jobs exchange as JobExchange{} says.
[[nodiscard]] AlphaBeta transfer_costs(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed,
                                       const std::vector<JobExchange>& exchanges = {});

}  // namespace contend
