#pragma once
// Checks the batch regimes of jobs (BatchRegime) before a run.

#include "sim/job.hpp"

namespace contend {

/// Throws InputError that names a job whose regimes don't fit it: in time, in progress, or in paces and sizes. The
/// paces and sizes themselves have been checked.
void check_regimes(const Workload& workload);

}  // namespace contend
