#pragma once
// Runs `contend sweep` on a Slurm cluster: submits it, shows its state, and resubmits failed shards.

#include "cli/command.hpp"
#include "cli/sweep_load.hpp"

namespace contend {

/// Writes the folder and submits it. Throws InputError and UsageError.
[[nodiscard]] int submit_sweep(const Arguments& arguments, const LoadedSweep& sweep);
/// Executes --status and --resubmit.
[[nodiscard]] int look_at_sweep(const Arguments& arguments);

}  // namespace contend
