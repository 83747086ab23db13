#pragma once
// The jobs of one run of a scenario: drawn, or from a job list, and then scaled and assigned to virtual clusters.

#include "models/workloads/resampling.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"
#include "sim/simulation.hpp"
#include "sim/statistics.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace contend {

/// The jobs of the replica with this seed; a job list comes from `lists`. The lines tell from
/// which jobs of that list the jobs have their demands; drawn jobs have neither lines nor a hash. Throws InputError,
/// e.g. with the rows that name a virtual cluster which `cluster.vcs` lacks.
[[nodiscard]] std::shared_ptr<const JobList> scenario_jobs(const Scenario& scenario, std::uint64_t seed,
                                                           JobLists& lists);

/// What jobs of iterations in a job list may name. Throws InputError if workload.throughputs can't be read.
[[nodiscard]] std::vector<std::string> listed_models(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                                     const std::vector<TrainingEntry>& training);

/// Which jobs count, as `measure` says.
[[nodiscard]] MeasuredWindow measured_window(const MeasureSetup& measure);
/// True if the jobs depend on the seed.
[[nodiscard]] bool draws_jobs(const WorkloadSetup& workload, const IterationStudy& study);
/// The blocks in which the job list is resampled best. Throws InputError if the list can't be read, or
/// if all its jobs are submitted at one instant.
[[nodiscard]] ChosenBlock choose_block(const TrainingSystem& system, const WorkloadSetup& workload, JobLists& lists);
/// Why intervals over resamples of the scenario's job list are too narrow, if it has few blocks; else empty. Throws
/// InputError if the list can't be read.
[[nodiscard]] std::string few_blocks_note(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                          const std::vector<TrainingEntry>& training, JobLists& lists);
/// How many jobs are submitted after others because of workload.think_time; empty without it. Throws InputError if the
/// list can't be read.
[[nodiscard]] std::string think_time_note(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                          const std::vector<TrainingEntry>& training, JobLists& lists);
/// Which entries of `training` have no effect because no job and no entry of `rl` names them, in one line; empty if
/// there is none. Throws InputError if the job list can't be read.
[[nodiscard]] std::string untrained_entries_note(const TrainingSystem& system, const WorkloadSetup& workload,
                                                 JobLists& lists);
/// Which entries of `serving` have no effect because no job names them; empty if there is none. Throws InputError if
/// the job list can't be read.
[[nodiscard]] std::string unserved_entries_note(const TrainingSystem& system, const WorkloadSetup& workload,
                                                JobLists& lists);
/// Tables of rates and profiles that hold for none of the types or jobs: a sentence each. Throws InputError if a table
/// or the job list can't be read.
[[nodiscard]] std::vector<std::string> unused_tables_notes(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                                           const SharingSetup& sharing,
                                                           const std::vector<TrainingEntry>& training, JobLists& lists);
/// Which entry of `training` has tensor-parallel ranks whose messages take no time, because nothing says how fast
/// transfers inside a server are; empty if none has.
[[nodiscard]] std::string free_tensor_note(const NetworkSetup& network, const std::vector<TrainingEntry>& training);
/// For each entry of `training` with `parallel` that jobs train: the batch of an iteration, if the entry says neither
/// global_batch nor accumulate. Throws InputError if the job list can't be read.
[[nodiscard]] std::vector<std::string> taken_batch_notes(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                                         const std::vector<TrainingEntry>& training, JobLists& lists);
/// What the jobs of different seeds have in common: those drawn from one list are resamples of it.
[[nodiscard]] Draws draws_of(const WorkloadSetup& workload);

}  // namespace contend
