#pragma once
// What each job sent over each link in each interval of a run, for those who draw it.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <functional>
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

}  // namespace contend
