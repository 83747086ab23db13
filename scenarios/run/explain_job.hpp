#pragma once
// Explains why a job of a scenario waited.

#include "results/wait_recorder.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/scenario.hpp"

#include <cstdint>
#include <string>

namespace contend {

struct ExplainedJob {
  JobId job;
  Explanation explanation;
  RunResult result;  ///< of the explaining run; equal to that of a run without explanation
};

/// Runs the scenario under this seed and explains one of its jobs. Throws InputError, also if no job has this name.
[[nodiscard]] ExplainedJob explain_job(const Scenario& scenario, std::uint64_t seed, const std::string& name,
                                       const RunHooks& hooks = {});

}  // namespace contend
