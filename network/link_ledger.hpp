#pragma once
// LinkLedger records the bytes that each link carried, by job and by interval of the run.

#include "network/link_use.hpp"
#include "network/routing.hpp"
#include "network/topology.hpp"
#include "sim/result.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace contend {

/// The bytes that a flow sent, in total and by interval of the run.
class FlowHistory {
 public:
  /// Adds `bytes` sent at a constant rate between the two instants, not before what was added last; negative bytes take
  /// back what was added. If `interval` is 0, only the sum is kept.
  void sent(Time from, Time to, double bytes, Time interval);
  /// Adds `bytes`, as often as that, to the sum only.
  void sent(double bytes, std::int64_t times) { bytes_ += bytes * static_cast<double>(times); }
  [[nodiscard]] double bytes() const { return bytes_; }
  /// (number of the interval, bytes), ascending; intervals without traffic are left out.
  [[nodiscard]] const std::vector<std::pair<std::int64_t, double>>& intervals() const { return intervals_; }

 private:
  double bytes_ = 0;
  std::vector<std::pair<std::int64_t, double>> intervals_;
};

/// The figures of all links of a topology over a run.
class LinkLedger {
 public:
  /// `interval` is the length of the samples; 0: no samples.
  LinkLedger(const Topology& topology, Time interval);

  /// A flow over these links begins to send (its rate becomes positive).
  void enter(std::span<const LinkShare> links, Time now);
  /// A flow over these links stops sending.
  void leave(std::span<const LinkShare> links, Time now);
  /// For how long flows have sent over the link until `now`.
  [[nodiscard]] Time busy(LinkId link, Time now) const {
    const LinkAccount& account = links_[link.index()];
    return account.busy + (account.moving > 0 ? now - account.since : Time{});
  }
  /// Flows sent over the link for longer.
  void add_busy(LinkId link, Time more) { links_[link.index()].busy += more; }
  /// From `when` on, the link has `factor` times its bandwidth in the topology; `when` never decreases for a link.
  void set_factor(LinkId link, double factor, Time when);
  /// Adds the complete history of a flow of the job; to be called once for each flow.
  void add(JobId job, std::span<const LinkShare> links, const FlowHistory& history);
  /// Fills an empty report.
  void write(Time now, NetworkReport& report) const;
  /// The bytes that each job sent over each link, in samples like the samples of the report.
  [[nodiscard]] std::vector<LinkUseSample> uses(Time now) const;

 private:
  struct Sent {
    std::int64_t interval;
    JobId job;
    double bytes;
  };
  struct LinkAccount {
    int moving = 0;
    Time since, busy;
    double bytes = 0;
    std::vector<std::pair<Time, double>> factors;  // (start, factor); before the first: 1
    std::vector<FabricLinkResult::User> users;     // by job
    std::vector<Sent> intervals;                   // in any order
  };
  /// The time between the two instants, weighted with the factor of the link.
  [[nodiscard]] static double full_time(const LinkAccount& link, Time from, Time to);

  /// Bytes on the link over the bytes that it could have carried between the two instants.
  [[nodiscard]] double utilisation(std::size_t link, double bytes, Time from, Time to) const;

  /// How long its factor was at least `least` and below `below`, until `to`.
  [[nodiscard]] static Time time_between(const LinkAccount& link, double least, double below, Time to);

  const Topology& topology_;
  Time interval_;
  std::vector<LinkAccount> links_;
};

}  // namespace contend
