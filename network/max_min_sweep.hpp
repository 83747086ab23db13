#pragma once
// MaxMinSweep shares link capacities among flows of one priority by weighted max-min fairness, where flows may have
// caps. `MaxMinRates` (network/max_min_rates.hpp) has one for each priority.
//
// Flow f has a weight w_f and a cap c_f, and crosses link l with share a_lf. Its level is rate_f / w_f. An allocation
// is max-min fair if no level can grow without lowering one that is not larger (Bertsekas and Gallager, Data Networks,
// 6.5.2). Equivalently, every flow is at its cap or has a bottleneck: a saturated link on which no flow has a larger
// level.
//
// A change moves only some levels. `MaxMinSweep` sweeps the levels in ascending order, like water rising, and touches
// only links whose level may change and flows that a changed link limits. Where changes move many levels, as in a burst
// or on an overloaded network, looking for those that stay costs more than it saves: it then fills again from the
// lowest level that moves (`MaxMinFill`). Tests compare both with filling from empty.
//
// A link keeps sums over its flows, to which flows are added and from which they are taken. Weights and shares may
// differ by many decades, and what is left after a large flow has gone is then mostly rounding: a sum that has become
// small beside its former value is computed again from the flows.

#include "network/max_min_fill.hpp"
#include "network/routing.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace contend {

using FlowId = Id<struct FlowTag>;

/// The rates of flows that come and go, on a fixed set of links. Rates and capacities are in one unit of the caller's
/// choice. They depend only on the sequence of calls.
class MaxMinSweep {
 public:
  /// Takes the capacities by link, finite and >= 0.
  explicit MaxMinSweep(std::span<const double> capacities);

  /// Adds a flow under an id that no flow has; `links` has each link once. Its rate is 0 until `solve`.
  void add(FlowId flow, std::span<const LinkShare> links, double weight, double cap);
  void remove(FlowId flow);
  void set_capacity(LinkId link, double capacity);

  /// Makes all rates max-min fair again. Returns the existing flows whose rates have changed since the last call; the
  /// span is valid until the next call of a non-const member.
  std::span<const FlowId> solve();
  /// Does the same as `solve` by filling from empty, O(entries log links).
  std::span<const FlowId> solve_all();

  [[nodiscard]] double rate(FlowId flow) const { return flows_[flow.index()].weight * levels_[flow.index()].level; }
  /// The link that limits the flow; none() if its cap does.
  [[nodiscard]] LinkId bottleneck(FlowId flow) const;
  [[nodiscard]] std::span<const LinkShare> links(FlowId flow) const { return flows_[flow.index()].links; }
  /// Number of flows that cross the link.
  [[nodiscard]] std::size_t flows_on(LinkId link) const { return entries_[link.index()].size(); }
  [[nodiscard]] FlowId flow_on(LinkId link, std::size_t i) const { return FlowId{entries_[link.index()][i].flow}; }
  [[nodiscard]] double capacity(LinkId link) const { return links_[link.index()].capacity; }
  /// The sum of the rates on the link, times their shares.
  [[nodiscard]] double load(LinkId link) const;

  /// Counts of the work done so far.
  struct Work {
    std::uint64_t solves = 0;
    std::uint64_t links = 0;  ///< links whose level may have changed
    std::uint64_t scans = 0;  ///< such links whose flows were scanned
    std::uint64_t flows = 0;  ///< levels of flows set
    std::uint64_t fills = 0;  ///< solves that filled from some level on
  };
  [[nodiscard]] const Work& work() const { return work_; }

  /// Levels that differ by a smaller part count as equal: sums in another order differ by rounding, and that must not
  /// spread.
  static constexpr double kSame = 1e-12;
  /// A link with a larger free part than this is not full, whatever the rounding of its sums.
  static constexpr double kClear = 1e-9;

 private:
  static constexpr std::uint32_t kLoose = UINT32_MAX;       // the level is not known yet in this sweep
  static constexpr std::uint32_t kCapped = UINT32_MAX - 1;  // limited by its cap
  static constexpr std::uint16_t kStale = 4096;             // sums are recomputed after so many updates
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  // The data from which the levels of links are computed. It is packed because it is read most often.
  struct Level {
    double level = 0;
    double cap_level = kUnlimited;
    std::uint32_t bottleneck = kLoose;
    bool changed = false;
    bool alive = false;
  };
  // A flow on one of its links.
  struct Hop {
    std::uint32_t link;
    std::uint32_t at;  // index of the flow among the entries of the link
    double per_level;
  };
  // A link with one flow bounds the level of that flow and no other. Of all such links of a flow only the tightest can
  // be its bottleneck, so a flow whose level changes marks its shared links and that one. A flow of a collective
  // operation crosses hundreds of links, most of them alone.
  struct Flow {
    double weight = 1;
    std::vector<LinkShare> links;
    std::vector<Hop> hops;     // the shared links first, then the tightest of those that the flow has alone
    std::uint32_t shared = 0;  // number of its shared links
    bool unordered = false;    // true if the links that the flow has alone have changed
  };
  using Entry = FlowOnLink;
  struct LinkState {
    double capacity = 0;
    double level = kUnlimited;  // of the flows that it limits; unlimited if it is not saturated
    double key = kUnlimited;    // its place in the sweep; a level below this does not matter
    double exact = kUnlimited;  // the result of `scan`, while `scanned`
    // Sums over its flows. A flow is open if this link limits it or nothing limits it yet; otherwise it is held.
    double held_load = 0;
    double open_per_level = 0;
    double top = 0;       // upper bound on the levels of the held flows
    float held_peak = 0;  // the largest values of the sums since `scan` computed them, whose rounding they may have
    float open_peak = 0;
    std::uint32_t open = 0;
    std::uint32_t loose = 0;  // open flows that nothing limits yet
    std::uint32_t flows = 0;
    std::uint16_t updates =
        kStale;  // updates of the sums since `scan` computed them; the sums of one flow are not kept
    bool scanned : 1 = false;
    bool waiting : 1 = false;  // true if it has a place in the sweep
    bool dirty : 1 = false;

    void add_open(double per_level, bool is_loose) {
      open_per_level += per_level;
      open_peak = std::max(open_peak, static_cast<float>(open_per_level));
      ++open;
      loose += is_loose ? 1U : 0U;
    }
    void add_held(double load, double its_level) {
      held_load += load;
      held_peak = std::max(held_peak, static_cast<float>(held_load));
      top = std::max(top, its_level);
    }
    // True if the sums have to be computed again.
    [[nodiscard]] bool is_worn() const {
      return updates >= kStale || open_per_level < MaxMinFill::kRemnant * open_peak ||
             capacity < MaxMinFill::kRemnant * held_peak;
    }
  };
  struct Place {
    double key;
    std::uint32_t item;  // a link, or links + flow for the cap of a flow
    auto operator<=>(const Place&) const = default;
  };

  void touch(std::uint32_t link);
  void swap_hops(std::uint32_t flow, std::uint32_t a, std::uint32_t b);
  void share_link(std::uint32_t link);
  void leave_alone(std::uint32_t link);
  void disorder(std::uint32_t flow);
  void order_hops();
  [[nodiscard]] double level_of_hop(const Hop& hop) const;
  static void drop(LinkState& link, double per_level, const Level& flow, std::uint32_t l);
  void move(std::uint32_t flow, std::uint32_t bottleneck, double level, std::uint32_t except);
  void loosen(std::uint32_t flow, std::uint32_t except);
  void settle(std::uint32_t flow, double level, std::uint32_t bottleneck);
  void place_dirty_links();
  void place(std::uint32_t item, double key);
  [[nodiscard]] double full_level(double full, double open) const;
  double scan(std::uint32_t link);
  [[nodiscard]] double level_alone(std::uint32_t link) const;
  double estimate(std::uint32_t link);
  [[nodiscard]] bool rests(std::uint32_t link, double level) const;
  void wait(std::uint32_t link, double key);
  void take_turn(std::uint32_t link);
  void raise(std::uint32_t link);
  void fix(std::uint32_t link, double level);
  void begin_solve();
  bool sweep();
  void abandon_sweep();
  void fill();
  void begin_fill();
  void end_fill();
  [[nodiscard]] bool may_fill() const { return hops_ >= links_.size(); }
  [[nodiscard]] bool most_are_new() const;
  void weigh_sweep(std::uint64_t links_seen);
  void weigh_fill();
  [[nodiscard]] static bool differ(double a, double b);
  Place take_next();
  void note_change(std::uint32_t flow);

  std::vector<LinkState> links_;
  FlowsOnLinks entries_;       // by link
  std::vector<Level> levels_;  // by flow
  std::vector<Flow> flows_;
  std::size_t alive_ = 0;
  std::vector<std::uint32_t> dirty_;
  std::vector<std::uint32_t> unordered_;  // flows
  std::vector<std::uint32_t> new_;
  std::vector<Place> heap_;
  std::vector<FlowId> changed_;
  std::vector<std::pair<double, double>> ceilings_;  // scratch of level_of: ceiling, load for one unit of level
  std::size_t loose_flows_ = 0;
  std::size_t waiting_links_ = 0;
  std::size_t hops_ = 0;        // of all flows
  std::size_t hops_moved_ = 0;  // in this sweep
  std::size_t stops_ = 0;       // in this filling
  std::unique_ptr<MaxMinFill> fill_;
  bool filling_ = false;      // while true, fill_ follows the flows, and the sums of links are out of date
  bool fill_is_old_ = false;  // capacities have changed since it began
  std::uint64_t regret_ = 0;  // what the other way would have saved of late
  Work work_;
};

}  // namespace contend
