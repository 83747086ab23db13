#pragma once
// Runs jobs that a case builds in code. Scenarios (scenarios/run.hpp) take theirs from a file or the generator.

#include "scenarios/scenario.hpp"
#include "sim/job.hpp"
#include "sim/ports.hpp"
#include "sim/result.hpp"

#include <cstdint>
#include <memory>

namespace contend {

/// The workload on the cluster and network of `scenario`, whose own workload is not looked at. The scenario must give
/// beta and eta. `placement`, if given, takes the place of the scenario's placement policy: cases put jobs where they
/// want them.
[[nodiscard]] RunResult run_jobs(const Scenario& scenario, Workload workload, std::uint64_t seed,
                                 std::unique_ptr<PlacementPolicy> placement = nullptr);

}  // namespace contend
