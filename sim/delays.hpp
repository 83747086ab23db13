#pragma once
// What transfers of jobs lose to others (SharedDelay in sim/result.hpp): where that is, and how it is leapt over.

#include "sim/ids.hpp"
#include "sim/result.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace contend {

/// By job in the way and place (SharedDelay::link), nanoseconds that a job's transfers have lost.
using DelayTotals = std::map<std::pair<JobId, std::size_t>, double>;

/// A network model that can be leapt over and writes down delays derives from this, too.
class LeapableDelays {
 public:
  virtual ~LeapableDelays() = default;
  /// What the transfers of the job have lost until `now`; empty if its delays aren't written down.
  [[nodiscard]] virtual DelayTotals delay_totals(JobId job, Time now) const = 0;
  /// Adds `times` times what the job has lost between the two.
  virtual void leap_delays(JobId job, const DelayTotals& then, const DelayTotals& now, std::int64_t times) = 0;
};

/// The name of the link that limited the transfers, or of the interface if the network model doesn't know links.
[[nodiscard]] inline const std::string& place_of(const RunResult& run, const SharedDelay& delay) {
  return run.fabric.links.empty() ? run.links[delay.link].name : run.fabric.links[delay.link].name;
}

}  // namespace contend
