#pragma once
// MaxMinFill shares link capacities by progressive filling and remembers how it went, so that the next filling begins
// where the flows that came or left first make a difference.
//
// Filling raises the levels of all flows like water. Whatever has stopped below the level of a flow that leaves stopped
// there without regard to that flow, and so does everything below the level at which a new flow fills one of its links.
// The state of all links is kept at some levels on the way, and filling resumes from the highest that still holds. This
// suits changes that move many levels; `MaxMinSweep` decides which changes do.

#include "network/routing.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace contend {

/// A flow among those on a link.
struct FlowOnLink {
  std::uint32_t flow;
  std::uint32_t which;  ///< index of the link among the links of the flow
  double per_level;     ///< share x weight: load on the link for one unit of level
};
using FlowsOnLinks = std::vector<std::vector<FlowOnLink>>;  ///< by link

/// A filling that can be resumed. Flows are numbered by the caller, who may use a number again.
class MaxMinFill {
 public:
  static constexpr std::uint32_t kByCap = UINT32_MAX;
  /// Where less than this part of a sum is left after subtractions, rounding may have taken too much of it, and the sum
  /// is computed again: with 1e-4, a thousand of them leave at least nine digits.
  static constexpr double kRemnant = 1e-4;

  /// The level at which a flow has stopped.
  struct Stop {
    std::uint32_t flow;
    std::uint32_t bottleneck;  ///< a link, or kByCap
    double level;
  };

  /// Forgets all flows. Takes the capacities by link, >= 0.
  void begin(std::vector<double> capacities);
  /// Adds a flow; a cap level of infinity is none.
  void add(std::uint32_t flow, std::span<const LinkShare> links, double weight, double cap_level);
  /// `flows` has the flows that were added and not removed, without this one.
  void remove(std::uint32_t flow, const FlowsOnLinks& flows);
  /// Fills up, and returns the flows that stopped since filling was resumed, in order of their levels. `flows` has the
  /// flows that were added and not removed. The span is valid until the next call of a non-const member.
  std::span<const Stop> fill(const FlowsOnLinks& flows);
  /// All flows, in order of their levels. Valid after `fill`.
  [[nodiscard]] std::span<const Stop> stops() const { return stops_; }

  [[nodiscard]] std::size_t changes() const { return changes_; }  ///< calls of add and remove since `begin`
  /// Links that were looked at, and links that stopped flows, in the last filling.
  [[nodiscard]] std::size_t links_seen() const { return links_seen_; }
  [[nodiscard]] std::size_t links_full() const { return links_full_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Only links that flows have crossed have a slot.
  struct Slot {
    double room = 0;            // capacity that the stopped flows leave
    double open_per_level = 0;  // of the other flows
    std::uint32_t open = 0;     // their number
  };
  struct Hop {
    double per_level;
    std::uint32_t slot;
  };
  struct Path {
    std::uint32_t first = 0;  // among the hops
    std::uint32_t hops = 0;
    double cap_level = std::numeric_limits<double>::infinity();
    bool alive = false;
  };
  struct Checkpoint {
    std::size_t stopped = 0;  // so many flows have stopped
    double water = 0;
    std::vector<Slot> slots;
  };
  struct Place {
    double level;        // a lower bound
    std::uint32_t item;  // a slot, or slots + flow for the cap of a flow
  };
  struct Later {
    bool operator()(const Place& a, const Place& b) const {
      return a.level > b.level || (a.level == b.level && a.item > b.item);
    }
  };

  std::uint32_t slot_of(std::uint32_t link);
  [[nodiscard]] bool holds(const Checkpoint& state, const Path& path) const;
  void keep_checkpoint(double water);
  void resume();
  void sum_up(Slot& slot, std::uint32_t link, std::size_t stopped, const std::vector<FlowOnLink>& flows) const;
  [[nodiscard]] bool is_worn(const Slot& slot, std::uint32_t s) const;
  void stop(std::uint32_t flow, std::uint32_t bottleneck, double level);

  std::vector<double> capacities_;
  std::vector<std::uint32_t> slot_of_link_;
  std::vector<std::uint32_t> links_;  // by slot
  std::vector<double> most_open_;     // by slot: the largest Slot::open_per_level that the present one comes from
  std::vector<Hop> hops_;
  std::vector<Path> paths_;                // by flow
  std::vector<std::uint32_t> stopped_at_;  // by flow: its index among the stops; kNone: it has not stopped
  std::vector<Stop> stops_;
  std::vector<std::uint32_t> new_;       // flows that were added since the last filling
  std::vector<Checkpoint> checkpoints_;  // the first `kept_` are valid; the first of all has empty links
  std::size_t kept_ = 0;
  std::vector<Slot> slots_;  // now
  std::vector<Place> heap_;
  std::size_t alive_ = 0;
  std::size_t changes_ = 0;
  std::size_t links_seen_ = 0;
  std::size_t links_full_ = 0;
};

}  // namespace contend
