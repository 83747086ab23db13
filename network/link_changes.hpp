#pragma once
// LinkChanges says when links lose bandwidth and get it back: by a list of events, and by laws of failures and repairs.
//
// Links that fail together, such as the links of a switch, are a group with a random stream of its own. While a group
// is ill, its links have a part of their bandwidth. Several causes on one link multiply.

#include "network/topology.hpp"
#include "sim/failure_spec.hpp"
#include "sim/units.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend {

/// A change of a link: from `time` on it has `factor` times its bandwidth.
struct LinkEvent {
  Time time;
  LinkId link;
  double factor = 1;  ///< >= 0; 0: the link has failed
};

/// Links that fail together, again and again.
struct FailingLinks {
  std::string name;  ///< names the random stream; unique
  std::vector<LinkId> links;
  DurationLaw failure;  ///< of the time for which they work, whether flows use them or not
  DurationLaw repair;
  double factor = 0;  ///< of their bandwidth until the repair ends, 0..1; 0: they are down
};

class LinkChanges {
 public:
  /// Takes the number of links of the topology, events in any order, and the seed of the streams.
  LinkChanges(std::size_t links, std::vector<LinkEvent> events, std::vector<FailingLinks> failing, std::uint64_t seed);

  /// The time of the next change; never() if there is none.
  [[nodiscard]] Time next() const;
  /// Carries out all changes until `now` in order of time, and calls changed(event) for each link whose factor is then
  /// another one.
  void advance(Time now, const std::function<void(const LinkEvent&)>& changed);
  /// What is left of the bandwidth of the link.
  [[nodiscard]] double factor(LinkId link) const { return factor_[link.index()]; }
  /// True if the factor of the link may be another one later. Takes a linear search.
  [[nodiscard]] bool may_change(LinkId link) const;

 private:
  struct Due {
    Time at;
    std::uint32_t group;
    auto operator<=>(const Due&) const = default;
  };

  void set(LinkId link, Time at, const std::function<void(const LinkEvent&)>& changed);
  void schedule(std::uint32_t group, Time now);

  std::vector<LinkEvent> events_;
  std::size_t next_event_ = 0;
  std::vector<FailingLinks> failing_;
  std::vector<RandomStream> streams_;                  // by group
  std::vector<bool> is_ill_;                           // by group
  std::vector<std::vector<std::uint32_t>> groups_of_;  // by link
  std::vector<Due> due_;                               // a heap: the earliest is in front
  std::vector<double> listed_;                         // by link: the factor of the last event
  std::vector<double> factor_;                         // by link
};

}  // namespace contend
