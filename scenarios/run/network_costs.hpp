#pragma once
// What transfers cost at the fidelities `analytic` and `contention`, by the keys of `network`: alpha and beta are those
// of a link, from which a formula derives the cost of each collective, or those of a whole all-reduce. A study of one
// iteration and a run of jobs share these costs.

#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/peers.hpp"
#include "models/overlap/usual_interference.hpp"
#include "network/alpha_beta.hpp"
#include "network/link_matrix.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/run/islands.hpp"
#include "scenarios/spec/cluster_setup.hpp"
#include "scenarios/spec/iteration_study.hpp"
#include "scenarios/spec/network_setup.hpp"
#include "scenarios/spec/training_entry.hpp"
#include "sim/error.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace contend {

/// Start-up, time per byte and penalty as the keys have them, every one of them filled in: of a link, or of a whole
/// all-reduce if the formula is `measured`. Those of the network of an island, or of that which joins all servers.
[[nodiscard]] AlphaBeta network_cost(const NetworkSetup& network, int island = kNoIsland);
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

/// How the ranks of a job lie, or those of a group of its ranks.
struct JobShape {
  int ranks = 1;
  int servers = 1;            ///< that hold them
  int per_server = 1;         ///< the most ranks on one server
  int sharing = 1;            ///< groups that send through one interface at once
  int parameter_servers = 0;  ///< that sum the gradients of ranks on servers of their own; 0: a collective does
  bool colocated = false;     ///< they run on the servers of the ranks
  int island = kNoIsland;     ///< whose network carries what leaves a server

  friend auto operator<=>(const JobShape&, const JobShape&) = default;
};
/// What the costs of the transfers of a job depend on besides its GPUs.
struct JobExchange {
  bool served = false;           ///< parameter servers sum its gradients
  std::optional<int> servers{};  ///< how many; none: as many as ranks
  bool colocated = false;        ///< TrainingSetup::colocated
  std::vector<int> hosts{};      ///< TrainingSetup::hosts
  PeerRule peers{};              ///< of its compression method, where links differ
};
/// Of a job that trains that way, without a compression method.
[[nodiscard]] JobExchange exchange_of(const TrainingSetup& setup);
/// The same shape with the parameter servers of the job, if it has any.
[[nodiscard]] JobShape with_servers(const JobExchange& exchange, JobShape shape);
/// The costs of the all-reduces and other collectives of a job of that shape. Transfers slow each other down at
/// fidelity `contention` only. Without the interference between computing and transfers (interference_of()).
[[nodiscard]] ExchangeCost exchange_cost(const NetworkSetup& network, const JobShape& shape);

/// The sites of `network.sites`, which must be given. Throws InputError.
[[nodiscard]] LinkMatrix read_sites(const NetworkSetup& network);
/// These costs for a job with a rank on each of two or more sites; `peers` says who swaps with whom, and draws from
/// `seed`.
[[nodiscard]] ExchangeCost exchange_cost(const NetworkSetup& network, const LinkMatrix& sites, const PeerRule& peers,
                                         std::uint64_t seed);

/// The shapes of groups of ranks: for each network that carries what groups send, and each size of these groups, the
/// shape of the group which spans most servers; ties go to the most ranks on a server. Rank i runs on gpus[i], of which
/// each server has `per_server`. `islands` are by server; empty: there are none.
[[nodiscard]] std::vector<JobShape> group_shapes(std::span<const GpuId> gpus, const RankGroups& groups, int per_server,
                                                 std::span<const int> islands);
/// That of the shapes on which an all-reduce of so many bytes takes longest.
[[nodiscard]] const JobShape& slowest_shape(const NetworkSetup& network, const std::vector<JobShape>& shapes,
                                            Bytes bytes);

/// The costs of the transfers of all jobs of a run, each by the shape of its job or group. A message takes
/// network.alpha + bytes beta between servers, and the figures of network.inside in one; joint messages share each
/// direction of the interface of a server. Between sites a message takes what its link does, and joint messages as long
/// as the slowest of them. `exchanges` are by job; empty: no job has parameter servers or swaps between sites.
[[nodiscard]] AlphaBeta transfer_costs(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed,
                                       std::vector<JobExchange> exchanges = {});

}  // namespace contend
