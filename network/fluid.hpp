#pragma once
// Flows as fluids: each moves its bytes at its weighted max-min fair rate over the links it crosses, re-solved whenever
// a flow starts, ends, or a link changes. The clock is in whole nanoseconds; a completion is rounded up.

#include "network/fair_share.hpp"
#include "sim/units.hpp"

#include <span>
#include <vector>

namespace contend {

class FluidNetwork {
 public:
  /// Capacities by link, in bytes per second.
  explicit FluidNetwork(std::span<const double> capacities);
  ~FluidNetwork();
  FluidNetwork(FluidNetwork&&) noexcept;
  FluidNetwork& operator=(FluidNetwork&&) noexcept;

  struct Start {
    std::span<const LinkShare> links;  ///< each link once
    double bytes = 0;                  ///< > 0
    double weight = 1;                 ///< > 0
    double cap = 0;                    ///< bytes per second; 0: none
  };
  /// The flow sends from `now`, which never decreases between calls. The id is free again after the flow has ended.
  FlowId start(const Start& flow, Time now);
  void cancel(FlowId flow, Time now);
  /// A new capacity from `now`, >= 0; at 0 the flows on the link stall.
  void set_capacity(LinkId link, double bytes_per_second, Time now);

  /// When the next flow ends if nothing changes before; Time::never() if none will. Changes made at one instant are
  /// solved together, at the first question after them.
  [[nodiscard]] Time next_end();
  /// Ends the flows that are due at `now` and appends them in order of their ends, then of their starts.
  void finish_due(Time now, std::vector<FlowId>& ended);

  [[nodiscard]] double rate(FlowId flow);  ///< bytes per second, now
  [[nodiscard]] double remaining(FlowId flow, Time now);
  [[nodiscard]] std::size_t active() const;
  /// Bytes that have crossed the link until `now`.
  [[nodiscard]] double carried(LinkId link, Time now);

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace contend
