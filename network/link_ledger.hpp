#pragma once
// What single links have carried, for whom and when.

#include "network/routing.hpp"
#include "network/topology.hpp"
#include "sim/result.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace contend {

/// Bytes that a flow has sent, in all and by interval of the run: in order of the intervals, those with traffic only.
class FlowHistory {
 public:
  /// It has sent `bytes` at a steady rate between the two instants; `interval` 0: only the sum is kept.
  void sent(Time from, Time to, double bytes, Time interval);
  [[nodiscard]] double bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<std::pair<std::int64_t, double>>& intervals() const { return intervals_; }

 private:
  double bytes_ = 0;
  std::vector<std::pair<std::int64_t, double>> intervals_;
};

class LinkLedger {
 public:
  LinkLedger(const Topology& topology, Time interval);

  /// A flow over these links begins, or ends, to move.
  void enter(std::span<const LinkShare> links, Time now);
  void leave(std::span<const LinkShare> links, Time now);
  /// From `when`, which never decreases for a link, it has `factor` times the bandwidth that it was built with.
  void set_factor(LinkId link, double factor, Time when);
  /// The history of a flow of the job, once, when it is complete.
  void add(JobId job, std::span<const LinkShare> links, const FlowHistory& history);
  /// Adds what the ledger knows to the empty report.
  void write(Time now, NetworkReport& report) const;

 private:
  struct LinkAccount {
    int moving = 0;
    Time since, busy;
    double bytes = 0;
    std::vector<std::pair<Time, double>> factors;            // from when, how much; before the first: 1
    std::vector<FabricLinkResult::User> users;               // by job
    std::vector<std::pair<std::int64_t, double>> intervals;  // in any order
  };
  /// The time between the two instants, weighted with the factor of the link.
  [[nodiscard]] static double full_time(const LinkAccount& link, Time from, Time to);

  const Topology& topology_;
  Time interval_;
  std::vector<LinkAccount> links_;
};

}  // namespace contend
