#pragma once
// Runs jobs with a duration on clusters that fail, for the tables of the suite.

#include "scenarios/run/run_scenario.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// Many jobs that run at once.
struct InterruptedJobs {
  int servers = 1, gpus_per_server = 1;
  int jobs = 1, gpus = 1;  ///< gpus: of each job
  Time work;               ///< of each job
  std::string keys;        ///< further keys of the scenario
};

[[nodiscard]] RunResult run_interrupted(const InterruptedJobs& what, std::uint64_t seed);

/// The share of their time since submission in which the jobs did work that was kept.
[[nodiscard]] double effective_share(const RunResult& result);

}  // namespace contend
