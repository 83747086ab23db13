#pragma once
// Runs jobs on clusters that fail, for the tables of the suite.

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

/// A job of iterations of one graph, and what happens to it.
struct InterruptedTraining {
  int servers = 1, gpus_per_server = 1;
  int gpus = 1;       ///< of the job
  std::string graph;  ///< graph_from_text()
  std::int64_t iterations = 1;
  RankLayout layout{};
  FailureSpec failures{};
  PreemptionCosts costs{};
};

/// Interfaces have 1 GB/s.
[[nodiscard]] RunResult run_interrupted(const InterruptedTraining& what);

/// The share of their time since submission in which the jobs did work that was kept.
[[nodiscard]] double effective_share(const RunResult& result);

}  // namespace contend
