#pragma once
// FluidNetwork moves flows as fluids: each flow sends at its weighted max-min fair rate over the links it crosses, in
// what flows of higher priority leave of them.
// Rates are recomputed whenever a flow starts or ends or a link changes. The clock is in whole nanoseconds; completions
// are rounded up.

#include "network/end_times.hpp"
#include "network/max_min_rates.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// Receives the progress and the rates of flows.
class FlowObserver {
 public:
  virtual ~FlowObserver() = default;
  /// The flow sent `bytes` at a constant rate between the two instants, and now changes its rate or leaves.
  virtual void sent(FlowId flow, Time from, Time to, double bytes) = 0;
  /// From `now` on the flow sends at `rate` bytes per nanosecond. Also called for a flow that starts at rate 0.
  virtual void rate_changed(FlowId flow, Time now, double rate) = 0;
  /// At its rate the flow would send the bytes that it has left for longer than the clock counts.
  virtual void never_ends(FlowId /*flow*/, Time /*now*/, double /*bytes*/) {}
  /// All rates have been made fair after the changes of this instant.
  virtual void solved(Time /*now*/) {}
};

/// A set of links with the flows on them. `now` never decreases from call to call.
class FluidNetwork {
 public:
  /// Takes the capacities by link, in bytes per second.
  explicit FluidNetwork(std::span<const double> capacities);

  /// A flow to be started.
  struct Start {
    std::span<const LinkShare> links;  ///< each link once
    double bytes = 0;                  ///< > 0
    double weight = 1;                 ///< > 0
    double cap = 0;                    ///< bound on its rate in bytes per second; 0: none (then it must cross a link)
    int priority = 0;                  ///< >= 0; flows of priority 0 go first
  };
  /// Starts a flow that sends from `now` on. Its id may be the id of an earlier flow that has ended.
  FlowId start(const Start& start, Time now);
  /// Removes the flow and returns the bytes that it has not sent.
  double cancel(FlowId flow, Time now);
  /// Sets the capacity from `now` on, >= 0; at 0 the flows on the link stall.
  void set_capacity(LinkId link, double bytes_per_second, Time now);
  void set_efficiency(LinkId link, LinkEfficiency efficiency, Time now);

  /// The time at which the next flow ends if nothing changes before; Time::never() if none will. Changes made at one
  /// instant are solved together, at the first query after them.
  [[nodiscard]] Time next_end();
  /// Ends the flows that are due at `now` and appends them to `ended` in order of their starts.
  void finish_due(Time now, std::vector<FlowId>& ended);

  [[nodiscard]] double rate(FlowId flow);                 ///< bytes per second, now
  [[nodiscard]] double remaining(FlowId flow, Time now);  ///< bytes still to send
  [[nodiscard]] std::size_t active() const { return active_; }
  /// Bytes that have crossed the link until `now`.
  [[nodiscard]] double carried(LinkId link, Time now);
  /// Counts bytes that crossed links without being simulated.
  void carry(std::span<const LinkShare> links, double bytes);
  /// The rates after all changes made so far, with the bottleneck of each flow and the load of each link.
  [[nodiscard]] const MaxMinRates& shares() {
    solve();
    return shares_;
  }
  /// Reports to the observer the bytes that every flow has sent until `now`.
  void report_progress(Time now);
  void observe(FlowObserver* observer) { observer_ = observer; }
  /// If `yes`, each change recomputes all rates instead of those that it affects. Tests and benchmarks compare with
  /// this.
  void resolve_all(bool yes) { resolve_all_ = yes; }

 private:
  // What every change of a rate needs, apart from the rest.
  struct Progress {
    double remaining = 0;  // at `since`
    double rate = 0;       // bytes per nanosecond
    Time since;
    bool active = false;
  };
  struct Origin {
    double bytes = 0;
    std::uint64_t order = 0;
  };

  void advance(Time now);
  void solve();
  void schedule(FlowId flow);
  void progress(FlowId flow, Time now);
  void leave(FlowId flow, double sent);

  MaxMinRates shares_;  // in bytes per nanosecond
  std::vector<Progress> flows_;
  std::vector<Origin> origins_;  // by flow
  EndTimes ends_;                // by flow
  std::vector<FlowId> started_;  // since rates were computed
  std::vector<double> carried_;  // by flows that have left
  FlowObserver* observer_ = nullptr;
  std::size_t active_ = 0;
  std::uint64_t next_order_ = 0;
  Time now_;
  bool stale_ = false;
  bool resolve_all_ = false;
};

}  // namespace contend
