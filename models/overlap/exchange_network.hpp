#pragma once
// Models the transfers of one job whose workers all see the same network. There is one lane between servers, or two
// (push and pull of parameter servers on machines of their own), and one inside servers. On a lane, k transfers at once
// need k + (k-1) x penalty times as long for a byte, as in the k-way contention of network/alpha_beta.hpp, but with a
// cost for each kind of collective.

#include "models/overlap/exchange_cost.hpp"
#include "sim/ports.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

/// The transfers in the network and when they end. `now` never decreases.
class ExchangeLanes {
 public:
  explicit ExchangeLanes(const ExchangeCost& cost) : cost_{cost} {}

  TransferId start(CollectiveKind kind, CollectiveScope scope, Bytes bytes, Time now);
  [[nodiscard]] Time next_end() const;
  /// Ends the transfers that are due and appends them to `ended` in order of ids.
  void finish_due(Time now, std::vector<TransferId>& ended);
  void cancel(TransferId transfer, Time now);
  /// As NetworkModel::slow_down.
  void slow_down(TransferId transfer, double factor, Time now);
  /// Appends everything that determines the future of the transfer, relative to `now`.
  void save_state(TransferId transfer, Time now, std::vector<std::uint64_t>& words) const;
  [[nodiscard]] double remaining_bytes(TransferId transfer, Time now) const;
  [[nodiscard]] const ExchangeCost& cost() const { return cost_; }
  /// Number of active transfers on all lanes.
  [[nodiscard]] std::size_t active() const { return active_.size(); }
  /// Number of active transfers that share their lane with another.
  [[nodiscard]] std::size_t contended() const;

 private:
  struct Transfer {
    std::size_t lane = 0;
    double beta = 0;  // ns per byte when alone
    Time latency;     // rest of the start-up at `updated`
    double bytes = 0;
    Time updated, end;
    std::size_t ways = 0;
    double factor = 1;  // of slow_down()
  };

  void progress(Transfer& transfer, Time now) const;
  [[nodiscard]] double per_byte(const Transfer& transfer) const {
    return transfer.factor * transfer.beta * cost_.slowdown(transfer.ways);
  }
  void set_ways(std::size_t lane, Time now);
  void set_rate(Transfer& transfer, std::size_t ways, double factor, Time now);
  void remove(TransferId transfer);

  ExchangeCost cost_;
  std::vector<Transfer> transfers_;
  std::vector<TransferId> active_, free_;
  std::array<std::size_t, 3> on_lane_{};
};

/// The lanes as a NetworkModel for the engine. Runs with it do not leap; a transfer is active on every server it
/// touches.
[[nodiscard]] std::unique_ptr<NetworkModel> make_exchange_network(const ExchangeCost& cost, std::size_t servers,
                                                                  std::size_t jobs);

}  // namespace contend
