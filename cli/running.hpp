#pragma once
// Code shared by the verbs that simulate: options, and runs with a progress line.

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "results/expectations.hpp"
#include "results/replica.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"
#include "sim/ports.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// The mode that the options `progress` and `quiet` select. Throws UsageError.
[[nodiscard]] ProgressMode progress_mode(const Arguments& arguments);
/// The number of threads that the option `jobs` selects. Throws UsageError.
[[nodiscard]] unsigned thread_count(const Arguments& arguments);

/// Says on stderr, unless the option `quiet` is given, which batch jobs train whose entries say none, how many jobs
/// come after others because of workload.think_time, and what network.alpha means at fidelity `flow`. Throws InputError
/// for a job list that can't be read.
void note_workloads(const Arguments& arguments, std::span<const Scenario> scenarios, JobLists& lists);
/// Says on stderr, once for each reason, why the figures of these workloads mean less than they seem to: generated jobs
/// that rank no policies, resamples of few blocks, training entries that no job names. Throws InputError for a job list
/// that can't be read.
void warn_of_workloads(std::span<const Scenario> scenarios, JobLists& lists);

/// Runs all replicas of all scenarios. An interrupt ends them early: see catch_interrupts(). `observer` is only for a
/// batch of a single run, else nullptr. `keep_failed` and `certify` as in BatchHooks.
[[nodiscard]] std::vector<std::vector<Replica>> simulate(std::span<const Scenario> scenarios, ProgressMode mode,
                                                         unsigned threads, Observer* observer, JobLists& lists,
                                                         bool keep_failed = false, bool certify = false);

/// What a reader of the figures of a scenario has to know if its jobs were preempted so many times and that cost them
/// nothing, and the keys that set a cost. Empty otherwise.
[[nodiscard]] std::string free_preemptions_note(const CheckpointSetup& checkpoints, double preemptions);

/// Prints the bounds that were not met on stderr.
void print_unmet(std::string_view name, std::span<const ExpectationOutcome> outcomes);

}  // namespace contend
