#pragma once
// The closed form of a collective among ranks on servers, for the fidelities `analytic` and `contention`. Each rank has
// a full-duplex link of its own inside its server, and each server has one full-duplex interface to the others for all
// of its ranks. The rows of algorithm.hpp give the costs: every algorithm of the table has a time here.

#include "network/collectives/algorithm.hpp"
#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace contend {

/// Where the ranks of a collective run.
struct RanksOnServers {
  int ranks = 2;       ///< >= 1
  int servers = 2;     ///< that hold them
  int per_server = 1;  ///< the most ranks on one server
};

/// The links of those ranks. They may have any unit of time; the costs of collectives have the same one.
struct ServerLinks {
  LinkCost inside;   ///< of a rank to the others on its server
  LinkCost between;  ///< of a server to the others
  double gamma = 0;  ///< time per byte reduced
};

/// The algorithm that collectives of this kind take unless another one is named: a ring for all-reduce, reduce-scatter
/// and all-gather, a binomial tree for reduce and broadcast, pairwise for all-to-all, swap for exchange.
[[nodiscard]] const CollectiveAlgorithm& usual_algorithm(CollectiveKind kind);

/// One kind of collective by a named algorithm, or by usual_algorithm() where that does not do the kind or refuses the
/// ranks. Reduce and broadcast always go along the binomial tree.
///
/// A ring goes around the servers in order and enters and leaves each once. Bytes take as long as on the slower link.
/// Ranks wait for their own data only, so start-ups are those that data meet on their way (hops.hpp). The closed forms
/// of other algorithms sum over levels, or count the messages of each step of their schedule: a step takes the start-up
/// of its slowest message and as long as the busiest link or interface. These count every server as full.
class CollectiveOnServers {
 public:
  CollectiveOnServers(const CollectiveAlgorithm& named, CollectiveKind kind, const RanksOnServers& on,
                      const ServerLinks& links);

  [[nodiscard]] const CollectiveAlgorithm& algorithm() const { return *algorithm_; }
  /// Whether the line depends on the size, because the number of chunks does.
  [[nodiscard]] bool pipelined() const { return pipelined_; }
  /// The line through the cost of a collective of that size, and nothing among fewer than 2 ranks.
  [[nodiscard]] LinkCost line(Bytes bytes) const;
  /// A line that is nowhere above the cost of any size; that cost itself unless it is pipelined.
  [[nodiscard]] LinkCost least() const;

 private:
  [[nodiscard]] const LinkCost& with_chunks(int chunks) const;
  [[nodiscard]] LinkCost counted(int chunks) const;

  const CollectiveAlgorithm* algorithm_;
  CollectiveKind kind_;
  RanksOnServers on_;
  ServerLinks links_;
  CollectiveShape shape_;
  CollectiveCosts costs_;
  bool pipelined_ = false;
  /// The lines by number of chunks. Threads share them.
  struct Lines {
    std::mutex mutex;
    std::map<int, LinkCost> by_chunks;
  };
  std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

}  // namespace contend
