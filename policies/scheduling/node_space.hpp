#pragma once
// NodeSpace is the list of intervals with which Slurm's backfilling plans: in each, the servers that no plan holds. A
// plan holds whole servers. What running jobs hold is not in it (src/plugins/sched/backfill/backfill.c, node_space).

#include "policies/scheduling/server_set.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace contend {

class NodeSpace {
 public:
  /// No plan holds any of the servers in [begin, end), begin < end.
  NodeSpace(Time begin, Time end, std::size_t servers)
      : intervals_{{begin, end, ServerSet{servers, {0, static_cast<std::uint32_t>(servers)}}}} {}

  struct Usable {
    ServerSet servers;
    /// The end of the first interval after which others of the servers are free; nothing if there is none.
    std::optional<Time> later{};
  };
  /// The servers of `servers` that no plan holds in an interval that ends after `from` and begins at `to` or before.
  [[nodiscard]] Usable usable(const ServerSet& servers, Time from, Time to) const;
  /// True if a plan holds any of these servers in [from, to).
  [[nodiscard]] bool is_held(const ServerSet& servers, Time from, Time to) const;
  /// A plan holds these servers in [from, to), as far as that is before the end of the list. As in _add_reservation of
  /// the released code, of the intervals from the one before it to the one after it only the first two that have the
  /// same servers free become one. It matters for `Usable::later`.
  void hold(const ServerSet& servers, Time from, Time to);
  /// Records that the released code has made for the list: it never gives one back.
  [[nodiscard]] std::size_t records() const { return records_; }

 private:
  struct Interval {
    Time begin, end;
    ServerSet free;
  };
  std::vector<Interval> intervals_;  // without gaps
  std::size_t records_ = 1;
};

}  // namespace contend
