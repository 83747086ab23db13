#pragma once
// `contend sweep` on a cluster with Slurm: submit, look, submit again what did not end well.

#include "cli/command.hpp"
#include "cli/sweep_load.hpp"

namespace contend {

inline constexpr Option kSlurmOptions[] = {
    {.name = "slurm", .letter = '\0', .value = "FOLDER", .text = "submit as a job array that works in this new folder"},
    {.name = "chunk", .letter = '\0', .value = "N", .text = "with --slurm: runs a task (1000 tasks at most)"},
    {.name = "partition", .letter = '\0', .value = "NAME", .text = "with --slurm: as for sbatch"},
    {.name = "time", .letter = '\0', .value = "LIMIT", .text = "with --slurm: of a task, as for sbatch"},
    {.name = "mem", .letter = '\0', .value = "SIZE", .text = "with --slurm: of a task, as for sbatch"},
    {.name = "dry-run", .letter = '\0', .value = "", .text = "with --slurm: write the scripts and submit nothing"},
    {.name = "status", .letter = '\0', .value = "", .text = "of the folder of --slurm, in place of the scenario"},
    {.name = "resubmit",
     .letter = '\0',
     .value = "",
     .text = "of that folder: shards that are neither done nor queued"},
};

/// Writes the folder and submits it. Throws InputError and UsageError.
[[nodiscard]] int submit_sweep(const Arguments& arguments, const LoadedSweep& sweep);
/// --status and --resubmit.
[[nodiscard]] int look_at_sweep(const Arguments& arguments);

}  // namespace contend
