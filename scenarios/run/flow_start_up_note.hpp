#pragma once
// Says that the start-up time of the network means less at fidelity `flow` than at the others.

#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"

#include <string>

namespace contend {

/// What the largest ring all-reduce of the scenario pays of network.alpha at fidelity `flow`, and what it pays at the
/// other fidelities. Empty at those, if alpha is 0, if NCCL says the start-up times, and if nothing has two ranks.
/// Throws InputError for a job list that can't be read.
[[nodiscard]] std::string flow_start_up_note(const Scenario& scenario, JobLists& lists);

}  // namespace contend
