#pragma once
// ExchangeLanes are the network models of network/alpha_beta.hpp for one job whose workers all see the same network.
// The fast executor of an iteration uses them, and is compared with the engine on the network model itself.

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
  /// As NetworkModel::slow_down.
  void slow_down(TransferId transfer, double factor, Time now);
  /// Appends everything that determines the future of the transfer, relative to `now`.
  void save_state(TransferId transfer, Time now, std::vector<std::uint64_t>& words) const;

 private:
  struct Transfer {
    TransferCost cost;
    Time latency;  // rest of the start-up at `updated`, as `bytes` is of `all_bytes`
    double bytes = 0, all_bytes = 0;
    Time updated, end;
    std::size_t ways = 0;
    double factor = 1;  // of slow_down()
  };

  void progress(Transfer& transfer, Time now) const;
  [[nodiscard]] double per_byte(const Transfer& transfer) const {
    const auto k = static_cast<double>(transfer.ways);
    return transfer.factor * (k * transfer.cost.beta.ns_per_byte() + (k - 1) * transfer.cost.eta.ns_per_byte());
  }
  void set_ways(TransferLane lane, Time now);
  void set_rate(Transfer& transfer, std::size_t ways, double factor, Time now);
  void remove(TransferId transfer);

  ExchangeCost cost_;
  std::vector<Transfer> transfers_;
  std::vector<TransferId> active_, free_;
  std::array<std::size_t, 3> on_lane_{};
};

/// The network model with these costs for every job.
[[nodiscard]] std::unique_ptr<NetworkModel> make_exchange_network(const ExchangeCost& cost, std::size_t servers,
                                                                  std::size_t jobs);

}  // namespace contend
