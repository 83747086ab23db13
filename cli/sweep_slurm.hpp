#pragma once
// Runs `contend sweep` on a Slurm cluster: submits it, shows its state, and resubmits failed shards.

#include "cli/command.hpp"
#include "cli/sweep_load.hpp"

namespace contend {

inline constexpr Option kSlurmOptions[] = {
    {.name = "slurm", .letter = '\0', .value = "FOLDER", .text = "submit a job array that uses this new folder"},
    {.name = "chunk",
     .letter = '\0',
     .value = "N",
     .text = "with --slurm: runs of each task (as many as make 100 tasks)"},
    {.name = "partition", .letter = '\0', .value = "NAME", .text = "with --slurm: partition, as for sbatch"},
    {.name = "time", .letter = '\0', .value = "LIMIT", .text = "with --slurm: time limit of a task, as for sbatch"},
    {.name = "mem", .letter = '\0', .value = "SIZE", .text = "with --slurm: memory of a task, as for sbatch"},
    {.name = "dry-run", .letter = '\0', .value = "", .text = "with --slurm: write the scripts and submit nothing"},
    {.name = "status",
     .letter = '\0',
     .value = "",
     .text = "show the state of a --slurm folder, given instead of a scenario"},
    {.name = "resubmit",
     .letter = '\0',
     .value = "",
     .text = "submit the shards of that folder that are neither done nor queued"},
};

/// Writes the folder and submits it. Throws InputError and UsageError.
[[nodiscard]] int submit_sweep(const Arguments& arguments, const LoadedSweep& sweep);
/// Executes --status and --resubmit.
[[nodiscard]] int look_at_sweep(const Arguments& arguments);

}  // namespace contend
