#pragma once
// What it costs to exchange gradients among the workers of one job: a start-up and a time per byte for each kind of
// collective, and how much several of them in the network at once slow each other down.

#include "models/overlap/cost_curve.hpp"
#include "models/overlap/linear_cost.hpp"
#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace contend {

/// One point-to-point link, as closed forms of collectives see it.
struct ChannelCost {
  Time alpha;         ///< start-up of a message
  TimePerByte beta;   ///< sending a byte
  TimePerByte gamma;  ///< adding up a received byte
};

/// How gradients are added up.
enum class ExchangeKind : std::uint8_t {
  all_reduce,        ///< one all-reduce, or a reduce-scatter and an all-gather
  parameter_server,  ///< a push (`reduce`) to servers that hold a share each, and a pull (`broadcast`)
};

class ExchangeCost {
 public:
  // In all of them m is the size of the full tensor on one rank, also of an all-gather (all that a rank has in the end)
  // and an all-to-all (all that it has in the beginning).

  /// A measured all-reduce t = alpha + beta m; its reduce-scatter and all-gather are half of it each.
  static ExchangeCost measured(const LinearCost& all_reduce);
  /// The same for `workers` >= 2, and the other collectives as of the link that a ring with these costs has.
  static ExchangeCost measured(const LinearCost& all_reduce, int workers);
  /// Ring (Patarasuk and Yuan, JPDC 2009): all-reduce 2(n-1) alpha + 2(n-1)/n m beta + (n-1)/n m gamma; its two halves
  /// n-1 steps each, the reduce-scatter with all of gamma. All-to-all in n-1 steps of a block each (pairwise exchange),
  /// reduce and broadcast down a binomial tree of log2(n) steps, rounded up (Thakur et al., IJHPCA 2005). An exchange
  /// is one message.
  static ExchangeCost ring(int workers, const ChannelCost& link);
  /// Recursive halving and doubling (Thakur et al., IJHPCA 2005): as the ring with log2(n) steps a half, rounded up;
  /// the other collectives as above.
  static ExchangeCost halving_doubling(int workers, const ChannelCost& link);
  /// Every message is spread evenly over the servers, which send back the sum. A server of its own machine receives
  /// n/s of the message and worker and server links are full duplex: push and pull don't disturb each other. Colocated
  /// servers (on s of the n worker machines) share the interface with the worker: both directions carry pushes and
  /// pulls, a machine's own share stays inside.
  static ExchangeCost parameter_server(int workers, int servers, bool colocated, const ChannelCost& link);
  /// n = s x g ranks: `per_server` (g) on each of `servers` (s), each rank with a link of its own `inside` its server
  /// (alpha_i, beta_i) and each server with one full-duplex interface for all of its ranks `between` (alpha_b, beta_b).
  /// A step takes as long as its slowest message, and needs the start-up of the slower link where both are used.
  /// - `all`: reduce-scatter, all-gather and all-reduce go around a flat ring in order of servers, which enters and
  ///   leaves each server once: ring(n) on a link with the larger alpha and beta. So an interface carries 2(n-1)/n m,
  ///   not 2(s-1)/s m, as 1-bit Adam's figures for BERT-Large show (Tang et al., ICML 2021). All-to-all: n-1 pairwise
  ///   steps; at distance k, min(k, g, n-k) ranks of a server send through its interface. Reduce and broadcast: a
  ///   binomial tree among servers and one inside each. Exchange: the partner is on another server, g messages share
  ///   the interface.
  /// - `server`: the ring's costs on g ranks and the inside link. `leaders`: on s ranks and the link between.
  /// - `peers`: g groups of s ranks at once, so that each has 1/g of the interface: beta is g beta_b.
  /// One server has no use for `between`, one rank a server none for `inside`: then it is ring(n) on the other link.
  static ExchangeCost two_level(int servers, int per_server, const ChannelCost& inside, const ChannelCost& between);

  /// Workers whose links differ (models/overlap/link_cost.hpp): a curve for each kind of collective.
  static ExchangeCost on_links(std::array<CostCurve, kCollectiveKinds> curves);

  [[nodiscard]] ExchangeKind kind() const { return kind_; }
  /// Of one transfer of that size alone; differs from of() on links that differ. Throws InputError if there the
  /// collective can't be done.
  [[nodiscard]] LinearCost sized(Bytes bytes, CollectiveKind collective,
                                 CollectiveScope scope = CollectiveScope::all) const {
    if (curves_.empty() || scope == CollectiveScope::server) return of(collective, scope);
    return curves_[static_cast<std::size_t>(collective)].at(bytes);
  }
  /// Of one transfer alone; on links that differ that of the smallest, which no size falls below. Free where nothing
  /// was given: without levels each rank is a server of its own, so that `leaders` and `peers` are all ranks, and
  /// nothing happens inside servers.
  [[nodiscard]] const LinearCost& of(CollectiveKind collective, CollectiveScope scope = CollectiveScope::all) const {
    return costs_[static_cast<std::size_t>(levels() ? scope : flat(scope))][static_cast<std::size_t>(collective)];
  }
  /// Ranks of each server; 1 without levels.
  [[nodiscard]] int per_server() const { return per_server_; }
  /// There are levels, but only one server: nothing passes an interface.
  [[nodiscard]] bool one_server() const { return levels() && one_server_; }
  /// There are servers of several ranks, with a link between them and one inside.
  [[nodiscard]] bool levels() const { return per_server_ > 1; }
  /// Push and pull have a direction each, so that they don't share bandwidth.
  [[nodiscard]] bool duplex() const { return duplex_; }

  /// k transfers at once need k + (k-1) x penalty times as long for a byte, each. 0: fair sharing; > 0: contention
  /// costs (arXiv 2002.10105); -0.5: two need 1.5 times as long, as measured for all-reduces that don't fill the link
  /// (ASC-WFBP, INFOCOM 2021); -1: no sharing at all. Not below -1.
  double penalty = 0;
  [[nodiscard]] double slowdown(std::size_t transfers) const {
    const auto k = static_cast<double>(transfers);
    return k + (k - 1) * penalty;
  }
  /// Of any number of transfers at once, the least time per byte in units of beta: 1, or less if the penalty is a gain.
  [[nodiscard]] double best_slowdown() const { return penalty < 0 ? 1 + penalty : 1.0; }

 private:
  void add_others(int workers, const ChannelCost& link, CollectiveScope scope = CollectiveScope::all);
  void add_ring(int workers, const ChannelCost& link, CollectiveScope scope);
  LinearCost& at(CollectiveScope scope, CollectiveKind kind) {
    return costs_[static_cast<std::size_t>(scope)][static_cast<std::size_t>(kind)];
  }

  static constexpr CollectiveScope flat(CollectiveScope scope) {
    return scope == CollectiveScope::server ? scope : CollectiveScope::all;
  }

  std::array<std::array<LinearCost, kCollectiveKinds>, kCollectiveScopes> costs_{};
  std::vector<CostCurve> curves_;  // by kind; empty: costs_ says all
  int per_server_ = 1;
  ExchangeKind kind_ = ExchangeKind::all_reduce;
  bool duplex_ = false;
  bool one_server_ = false;
};

}  // namespace contend
