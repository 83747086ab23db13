#pragma once
// Users who wait for their jobs. A replay submits jobs when the trace says, however long they queue, so a slow cluster
// gets as much work as a fast one (an open loop). Users look at a result before they submit the next job. Here the time
// between the recorded end of a job and the next submission of its user, the think time, is kept, and not the time of
// submission (Zakay and Feitelson, "Preserving User Behavior Characteristics in Trace-Based Simulation of Parallel Job
// Scheduling", MASCOTS 2014).

#include "models/workload.hpp"

#include <cstddef>
#include <vector>

namespace contend {

/// Has each job come after the one job of its user that ended last before it was submitted, if that was at most
/// `longest` before, and if the job doesn't come after others already. A job ended, as recorded, its wait, attempts and
/// duration after its submission; one without a duration, or without a user, is left out of account. Returns how many
/// jobs come after another now.
std::size_t close_loop(std::vector<JobRequest>& jobs, Time longest);

/// Lets jobs come after those only that are among the jobs.
void forget_absent(std::vector<JobRequest>& jobs);

}  // namespace contend
