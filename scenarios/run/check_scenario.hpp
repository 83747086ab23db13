#pragma once
// What is wrong with a scenario whose keys are sound: the files that it names, jobs that the cluster could never run, a
// network that can't be built. `contend check` asks for all of it; a run asks for its parts as it needs them.

#include "scenarios/scenario.hpp"
#include "traces/job_list.hpp"

namespace contend {

/// Reads every file that the scenario names and builds its network, but runs nothing. Throws InputError with all
/// complaints; those without a file are about the scenario's own.
void check_scenario(const Scenario& scenario);

/// Throws InputError with the rows that name a virtual cluster that `cluster.vcs` lacks. Without `cluster.vcs` those of
/// the jobs mean nothing.
void check_virtual_clusters(const Scenario& scenario, const JobList& list);

}  // namespace contend
