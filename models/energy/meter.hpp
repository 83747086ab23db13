#pragma once
// Meters of energy, carbon, water and money. They read when jobs held GPUs and for how long they computed meanwhile
// (sim/use_log.hpp), in whole nanoseconds, and multiply each state of a GPU by its power once. Nothing comes back to
// the engine: a run with meters makes the same decisions as one without.

#include "sim/result.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace contend {

/// The power of a GPU and of the parts that are counted with it, in watts.
struct StatePower {
  double idle = 0;       ///< no job holds it, or it is out of service
  double waiting = 0;    ///< a job holds it and does not compute: exchange, barriers, restarts and checkpoints
  double computing = 0;  ///< tasks run; all the time of a job with a duration
  bool operator==(const StatePower&) const = default;
};

/// The figures of a kWh at a site, by the hour from the start of the run; after its last hour a list begins again. A
/// list that is empty is not known.
struct SiteRates {
  std::string name;
  double pue = 1;              ///< energy of the data centre over energy of its computers, >= 1
  std::vector<double> price;   ///< of a kWh from the grid
  std::vector<double> carbon;  ///< g CO2e of a kWh from the grid
  std::vector<double> water;   ///< litres of a kWh of its computers (WUE)
  bool operator==(const SiteRates&) const = default;
};

/// GPUs with equal power at one site: a type of servers, or all.
struct MeteredGpus {
  StatePower power;
  SiteRates site;
};

/// Adds to the result of a run that kept uses: consumption of jobs, GPUs, types and hours, and electricity to the cost
/// of jobs. `gpus` are the GPUs of each type of servers, or a single element if all servers are alike. Jobs that are on
/// a GPU at once, each with the whole of it, are charged as if they were alone, as JobResult::cost is; the figures of
/// GPUs, hours and of the run count such a GPU once.
void measure(const std::vector<MeteredGpus>& gpus, RunResult& result);

}  // namespace contend
