#pragma once
// ExchangeCost is the cost of exchanging gradients among the workers of one job: a start-up time and a time per byte
// for each kind of collective, and the slowdown of several collectives in the network at once.

#include "models/overlap/cost_curve.hpp"
#include "models/overlap/linear_cost.hpp"
#include "network/alpha_beta.hpp"
#include "sim/graph.hpp"
#include "sim/interference.hpp"
#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>

namespace contend {

struct CollectiveAlgorithm;

/// The costs of one point-to-point link in closed forms of collectives.
struct ChannelCost {
  Time alpha;         ///< start-up time of a message
  TimePerByte beta;   ///< time to send a byte
  TimePerByte gamma;  ///< time to add a received byte
};

/// The kind of exchange by which gradients are summed.
enum class ExchangeKind : std::uint8_t {
  all_reduce,        ///< one all-reduce, or a reduce-scatter and an all-gather
  parameter_server,  ///< a push (`reduce`) to servers that hold a share each, and a pull (`broadcast`)
};

/// The costs of all collectives of one job. In all of them m is the size of the full tensor on one rank, also for an
/// all-gather (the data that a rank has at the end) and an all-to-all (the data that it has at the beginning).
class ExchangeCost {
 public:
  /// Workers and the machines that hold them, at most `per_machine` on each.
  struct Machines {
    int workers = 1, machines = 1, per_machine = 1;
  };
  /// The costs of collectives by an algorithm of the table (network/collectives/on_servers.hpp), and by the usual ones
  /// for the kinds that it does not do or on shapes that it refuses. Each worker has a link of its own `inside` its
  /// machine (alpha_i, beta_i), and each of the s machines has one full-duplex interface `between` machines for all of
  /// its g workers (alpha_b, beta_b).
  /// - `all`: all workers. In an exchange the partner is on another machine, and g messages share the interface.
  /// - `server`: the g workers of a machine. `leaders`: s workers, one of each machine, on the link between.
  /// - `peers`: g groups of s workers at once, so that each has 1/g of the interface: beta is g beta_b.
  /// With one machine `between` is not used, with one worker on each `inside` is not.
  static ExchangeCost by(const CollectiveAlgorithm& algorithm, const Machines& on, const ChannelCost& inside,
                         const ChannelCost& between);
  /// The costs of a ring with each worker on a machine of its own.
  static ExchangeCost ring(int workers, const ChannelCost& link);
  /// The costs of a ring on full machines. Bytes take as long as on the link with the larger beta, so an interface
  /// carries 2(n-1)/n m, not 2(s-1)/s m, as 1-bit Adam's figures for BERT-Large show (Tang et al., ICML 2021).
  static ExchangeCost two_level(int servers, int per_server, const ChannelCost& inside, const ChannelCost& between);
  /// The costs from a measured all-reduce t = alpha + beta m; its reduce-scatter and all-gather cost half of it each.
  static ExchangeCost measured(const LinearCost& all_reduce);
  /// The same among machines, with the other collectives on the link of a ring that has these costs. On one machine of
  /// several workers nothing of the measurement holds, and all collectives pay the link inside.
  static ExchangeCost measured(const LinearCost& all_reduce, const Machines& on, const ChannelCost& inside = {});
  /// The costs of parameter servers. Every worker sends its message by itself, spread evenly over the s servers, which
  /// send back the sum. A server on a machine of its own receives n/s of the message, and the interface of g workers
  /// carries g of them; links are full duplex, so push and pull do not slow each other down. Colocated servers are
  /// dealt out to the w machines of the workers, ceil(s/w) at most, and share the interface with the workers: both
  /// directions carry pushes and pulls, and the share of its own servers stays inside a machine, where each worker has
  /// a link of its own. All machines count as full.
  static ExchangeCost parameter_server(const Machines& on, int servers, bool colocated, const ChannelCost& inside,
                                       const ChannelCost& between);
  /// The same with each worker on a machine of its own.
  static ExchangeCost parameter_server(int workers, int servers, bool colocated, const ChannelCost& link) {
    return parameter_server({workers, workers, 1}, servers, colocated, {}, link);
  }

  /// The costs of workers whose links differ (models/overlap/link_cost.hpp): a curve for each kind of collective.
  static ExchangeCost on_links(std::array<CostCurve, kCollectiveKinds> curves);
  /// A line for some kinds of collectives; nothing for the others.
  using Lines = std::function<std::optional<LinearCost>(CollectiveKind, CollectiveScope)>;
  /// The line through the cost of one transfer alone at its size; nothing where of() holds for all sizes.
  using BySize = std::function<std::optional<LinearCost>(Bytes, CollectiveKind, CollectiveScope)>;
  /// These costs with the lines given in place of theirs.
  [[nodiscard]] ExchangeCost with_lines(const Lines& lines) const;
  /// The same with costs that are not one line in the size (models/overlap/library_cost.hpp); `least` lies nowhere
  /// above them.
  [[nodiscard]] ExchangeCost with_sized(BySize by_size, const Lines& least) const;

  [[nodiscard]] ExchangeKind kind() const { return kind_; }
  /// The cost of one transfer of that size alone. It differs from of() on links that differ, where it throws InputError
  /// if the collective is impossible, and with a library.
  [[nodiscard]] LinearCost sized(Bytes bytes, CollectiveKind collective,
                                 CollectiveScope scope = CollectiveScope::all) const {
    if (!by_size_) return of(collective, scope);
    return by_size_(bytes, collective, levels() ? scope : flat(scope)).value_or(of(collective, scope));
  }
  /// The cost of one transfer alone; where it is not one line in the size, a line that bounds it from below. Without
  /// levels each rank is a server of its own: `leaders` and `peers` then mean all ranks, and `server` costs nothing.
  [[nodiscard]] const LinearCost& of(CollectiveKind collective, CollectiveScope scope = CollectiveScope::all) const {
    return costs_[static_cast<std::size_t>(levels() ? scope : flat(scope))][static_cast<std::size_t>(collective)];
  }
  /// The same as a transfer of the engine's network: the lane on which it goes, and what others on it cost.
  [[nodiscard]] TransferCost transfer(CollectiveKind collective, CollectiveScope scope, Bytes bytes) const;
  /// Ranks of each server; 1 without levels.
  [[nodiscard]] int per_server() const { return per_server_; }
  /// True if there are levels but only one server, so that no message crosses an interface.
  [[nodiscard]] bool one_server() const { return levels() && one_server_; }
  /// True if servers have several ranks, with one link inside and one between servers.
  [[nodiscard]] bool levels() const { return per_server_ > 1; }
  /// True if push and pull use different directions, so that they don't share bandwidth.
  [[nodiscard]] bool duplex() const { return duplex_; }

  /// What computing and these transfers cost each other on the workers.
  Interference interference;

  /// Each of k transfers at once needs k + (k-1) x penalty times as long for a byte. 0 is fair sharing; > 0 is a cost
  /// of contention (arXiv 2002.10105); at -0.5 two transfers need 1.5 times as long, as measured for all-reduces that
  /// don't fill the link (ASC-WFBP, INFOCOM 2021); at -1 transfers do not slow each other down. It is at least -1.
  double penalty = 0;
  /// A pair of beta and eta that is known exactly: a transfer of this beta has this eta, any other `penalty` times its
  /// own beta.
  TimePerByte measured_beta, measured_eta;
  /// False if transfers do not slow each other down.
  [[nodiscard]] bool shares() const { return penalty > -1; }
  /// The least time per byte that any number of transfers at once can have together, in units of beta: 1, or less if
  /// the penalty is negative.
  [[nodiscard]] double best_slowdown() const { return penalty < 0 ? 1 + penalty : 1.0; }

 private:
  LinearCost& at(CollectiveScope scope, CollectiveKind kind) {
    return costs_[static_cast<std::size_t>(scope)][static_cast<std::size_t>(kind)];
  }

  static constexpr CollectiveScope flat(CollectiveScope scope) {
    return scope == CollectiveScope::server ? scope : CollectiveScope::all;
  }

  std::array<std::array<LinearCost, kCollectiveKinds>, kCollectiveScopes> costs_{};
  BySize by_size_;  // empty: costs_ holds for all sizes
  int per_server_ = 1;
  ExchangeKind kind_ = ExchangeKind::all_reduce;
  bool duplex_ = false;
  bool one_server_ = false;
};

}  // namespace contend
