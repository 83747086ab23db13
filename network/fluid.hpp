#pragma once
// Flows as fluids: each moves its bytes at its weighted max-min fair rate over the links it crosses, re-solved whenever
// a flow starts, ends, or a link changes. The clock is in whole nanoseconds; a completion is rounded up.

#include "network/max_min_rates.hpp"
#include "sim/calendar.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// Listens to the rates of flows.
class FlowObserver {
 public:
  virtual ~FlowObserver() = default;
  /// The flow has sent `bytes` at a steady rate between the two instants, and now changes its rate or leaves.
  virtual void sent(FlowId flow, Time from, Time to, double bytes) = 0;
  /// From now on it sends at `rate` bytes a nanosecond.
  virtual void rate_changed(FlowId flow, Time now, double rate) = 0;
};

class FluidNetwork {
 public:
  /// Capacities by link, in bytes per second.
  explicit FluidNetwork(std::span<const double> capacities);

  struct Start {
    std::span<const LinkShare> links;  ///< each link once
    double bytes = 0;                  ///< > 0
    double weight = 1;                 ///< > 0
    double cap = 0;                    ///< bytes per second; 0: none (then it must cross a link)
  };
  /// The flow sends from `now`, which never decreases between calls. The id is used again after the flow has ended.
  FlowId start(const Start& start, Time now);
  /// Takes the flow out; returns the bytes that it has not sent.
  double cancel(FlowId flow, Time now);
  /// A new capacity from `now`, >= 0; at 0 the flows on the link stall.
  void set_capacity(LinkId link, double bytes_per_second, Time now);
  void set_efficiency(LinkId link, LinkEfficiency efficiency, Time now);

  /// When the next flow ends if nothing changes before; Time::never() if none will. Changes made at one instant are
  /// solved together, at the first question after them.
  [[nodiscard]] Time next_end();
  /// Ends the flows that are due at `now` and appends them in order of their starts.
  void finish_due(Time now, std::vector<FlowId>& ended);

  [[nodiscard]] double rate(FlowId flow);                 ///< bytes per second, now
  [[nodiscard]] double remaining(FlowId flow, Time now);  ///< bytes still to send
  [[nodiscard]] std::size_t active() const { return active_; }
  /// Bytes that have crossed the link until `now`.
  [[nodiscard]] double carried(LinkId link, Time now);
  /// The rates of the flows after all changes made so far; for what limits a flow, and for loads.
  [[nodiscard]] const MaxMinRates& shares() {
    solve();
    return shares_;
  }
  /// Reports what every flow has sent until `now` to the observer.
  void report_progress(Time now);
  void observe(FlowObserver* observer) { observer_ = observer; }
  /// Solves from scratch at each change instead of what the change touches: the oracle, and what speed is measured by.
  void resolve_all(bool yes) { resolve_all_ = yes; }

 private:
  struct Progress {
    double remaining = 0;  // at `since`
    double bytes = 0;
    double rate = 0;  // bytes a nanosecond
    Time since;
    bool active = false;
    std::uint64_t order = 0;
    EventHandle end;
  };

  void advance(Time now);
  void solve();
  void schedule(FlowId flow);
  void progress(FlowId flow, Time now);
  void leave(FlowId flow, double sent);

  MaxMinRates shares_;  // in bytes a nanosecond
  std::vector<Progress> flows_;
  std::vector<double> carried_;  // by flows that have left
  Calendar<FlowId> calendar_;
  FlowObserver* observer_ = nullptr;
  std::size_t active_ = 0;
  std::uint64_t next_order_ = 0;
  Time now_;
  bool stale_ = false;
  bool resolve_all_ = false;
};

}  // namespace contend
