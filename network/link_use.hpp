#pragma once
// What a run at fidelity `flow` tells of its fabric, if asked: what each job sent over each link in each interval, for
// those who draw it, and the transfers that stand still at its end.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace contend {

/// What a job sent over a link in one interval of the run.
struct LinkUseSample {
  std::size_t link = 0;  ///< index into NetworkReport::links
  JobId job;
  Time start;
  double utilisation = 0;  ///< the job's bytes over the link's capacity in the interval, 0..1
};

/// Gets them at the end of a run at fidelity `flow`: by link, job, then start; intervals of NetworkReport::interval.
using TakeLinkUses = std::function<void(std::vector<LinkUseSample>)>;

/// A transfer that stands still when the run ends, because links have failed.
struct StalledTransfer {
  JobId job;
  Time since;
  std::string from, to;        ///< the first pair of GPUs without a route
  bool goes_up_first = false;  ///< in a fabric of tiers, whose routes go up and then down
};
/// Gets them at the end of a run at fidelity `flow`, in no order.
using TakeStalls = std::function<void(std::vector<StalledTransfer>)>;

}  // namespace contend
