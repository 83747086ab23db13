#pragma once
// The table of costs: each row derives the time of every collective, by its ranks and bytes, from what the keys of
// `network` say about links. `network.formula` takes a row by its name: there is one for each algorithm of
// network/collectives, one for a measured all-reduce, and one for NCCL. Jobs with parameter servers and jobs between
// sites take a row of their own.

#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/peers.hpp"
#include "network/alpha_beta.hpp"
#include "network/collectives/algorithm.hpp"
#include "network/library/nccl_machine.hpp"
#include "network/link_matrix.hpp"
#include "scenarios/run/islands.hpp"
#include "scenarios/spec/network_setup.hpp"
#include "scenarios/spec/training_entry.hpp"
#include "sim/error.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// How the ranks of a job lie, or the ranks of a group within the job.
struct JobShape {
  int ranks = 1;
  int servers = 1;                   ///< that hold them
  int per_server = 1;                ///< the most ranks on one server
  int sharing = 1;                   ///< groups that send through one interface at once
  int island = kNoIsland;            ///< whose network carries what leaves a server
  std::vector<std::size_t> sites{};  ///< of each rank, by number in `network.sites`; empty: all links are alike

  friend auto operator<=>(const JobShape&, const JobShape&) = default;
};
/// What the costs of the transfers of a job depend on besides its GPUs.
struct JobExchange {
  bool served = false;           ///< parameter servers sum its gradients
  std::optional<int> servers{};  ///< how many; none: as many as ranks
  bool colocated = false;        ///< TrainingSetup::colocated
  std::vector<int> hosts{};      ///< TrainingSetup::hosts
  PeerRule peers{};              ///< of its compression method, where links differ

  friend bool operator==(const JobExchange&, const JobExchange&) = default;
};
/// Of a job that trains that way, without a compression method.
[[nodiscard]] JobExchange exchange_of(const TrainingSetup& setup);

/// What alpha and beta of `network` are the costs of.
enum class CostBasis : std::uint8_t {
  link,     ///< a link, on which an algorithm sends
  whole,    ///< a whole all-reduce, whatever the number of ranks
  library,  ///< messages only; collectives take what a library expects
  servers,  ///< a link, on which workers and parameter servers send
  store,    ///< a request to a store, over which workers exchange
  sites,    ///< nothing: each pair of sites has a link of its own
};

/// What a row derives costs from.
struct CostInputs {
  const NetworkSetup& network;
  const JobShape& shape;
  const JobExchange& exchange;
  AlphaBeta between;        ///< costs of a link between servers, as these ranks have it
  const LinkMatrix& sites;  ///< of `network.sites`
  std::uint64_t seed = 0;   ///< draws who swaps with whom
};

/// A row of the table.
struct CostFormula {
  std::string_view name;
  CostBasis basis = CostBasis::link;
  const CollectiveAlgorithm* algorithm = nullptr;  ///< of a link; else null
  /// The costs of the collectives of these ranks.
  ExchangeCost (*cost)(const CostFormula& row, const CostInputs& inputs);
};

/// The rows that `network.formula` names: the algorithms in the order of their catalogue, then the measured all-reduce,
/// NCCL and stores.
[[nodiscard]] std::span<const CostFormula> cost_formulas();
/// The row in effect for jobs that exchange gradients that way.
[[nodiscard]] const CostFormula& cost_formula(const NetworkSetup& network, const JobExchange& exchange = {});

/// Start-up, time per byte and penalty as the keys have them, every one of them filled in: of a link, or of a whole
/// all-reduce if the formula is `measured`. The costs of the network of an island, or of the network that joins all
/// servers.
[[nodiscard]] AlphaBeta network_cost(const NetworkSetup& network, int island = kNoIsland);
/// The sites of `network.sites`, whose links are no faster than `network.in_flight` over their round trip; none if it
/// is not given. Throws InputError.
[[nodiscard]] LinkMatrix read_sites(const NetworkSetup& network);

/// The time of each collective in a network, by the shape of its ranks and the way in which its job exchanges.
class CostTable {
 public:
  /// Reads `network.sites`. Throws InputError.
  explicit CostTable(const NetworkSetup& network, std::uint64_t seed = 0)
      : network_{network}, seed_{seed}, sites_{read_sites(network)} {}

  /// Transfers slow each other down at fidelity `contention` only. Without the interference between computing and
  /// transfers (interference_of()).
  [[nodiscard]] ExchangeCost of(const JobShape& shape, const JobExchange& exchange = {}) const;
  [[nodiscard]] const NetworkSetup& network() const { return network_; }
  [[nodiscard]] const LinkMatrix& sites() const { return sites_; }

 private:
  NetworkSetup network_;
  std::uint64_t seed_;
  LinkMatrix sites_;
};

/// NCCL on the machine of `network.nccl`, which names one. Throws InputError for one that it does not know.
[[nodiscard]] NcclLibrary nccl_library(const NetworkSetup& network);
/// The version of NCCL that is given, or the usual version on the machine.
/// The servers that NVLink joins to one domain on the library's machine; 1 without such a machine.
[[nodiscard]] int servers_of_domain(const NetworkSetup& network);
[[nodiscard]] NcclVersion nccl_version(const NetworkSetup& network);
/// What is wrong with `network.formula` and the keys that belong to it, for servers of so many GPUs.
[[nodiscard]] std::vector<Complaint> formula_complaints(const NetworkSetup& network, int per_server);
/// The time per byte on a link of that rate.
[[nodiscard]] TimePerByte at_rate(ByteRate rate);
/// The cost of a link inside a server; zero if `network.inside` is not given.
[[nodiscard]] ChannelCost inside_cost(const NetworkSetup& network);

}  // namespace contend
