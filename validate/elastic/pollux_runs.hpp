#pragma once
// Pollux' workloads in the engine.

#include "validate/elastic/timed_run.hpp"

#include <optional>

namespace contend {

/// One of the workloads 1 to 4 of 160 jobs. The speed of a job on so many GPUs is the speed of its training from the
/// first to the last epoch on as few nodes as can hold them, at the measured times of a step and the measured gains of
/// batches. `adapts_batch`: in each epoch with the fastest of the batches that were measured; else with the listed one.
/// Nothing if the data are not there.
[[nodiscard]] std::optional<Workload> pollux_workload(int workload, bool adapts_batch);

/// Runs it on 16 nodes of 4 GPUs, with restarts of 30 s.
[[nodiscard]] RunResult run_pollux_jobs(Workload workload, const std::string& policy, const PolicyValues& parameters);

}  // namespace contend
