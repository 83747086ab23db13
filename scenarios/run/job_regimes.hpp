#pragma once
// Jobs whose batch changes while they train: what a rule of `workload.regimes` and the tables of throughputs make of
// their durations and paces.

#include "models/workload.hpp"
#include "scenarios/scenario.hpp"
#include "sim/job.hpp"
#include "traces/batch_rules.hpp"
#include "traces/throughputs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The rules of `workload.regimes`; nothing if the scenario names none. Throws InputError with their faults.
[[nodiscard]] std::optional<BatchRules> batch_rules_of(const WorkloadSetup& workload);

/// The reason why the batch of a job can't change by its rule; empty if it can, or if it has none. The table can time
/// the job at its first batch.
[[nodiscard]] std::string why_no_regimes(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                         const std::optional<BatchRules>& rules,
                                         const std::optional<ThroughputTable>& table, const JobRequest& job);

/// Gives a job of iterations that the table can time its duration: that on `workload.reference_type`, or on its fastest
/// type if it can't run on that one; in each of its regimes, if it has a rule.
void time_by_table(const ClusterSetup& cluster, const WorkloadSetup& workload, const ThroughputTable& table,
                   const std::optional<BatchRules>& rules, JobRequest& job);

/// Gives the jobs with a rule their regimes. They have their paces and sizes already, and lose those types and numbers
/// of GPUs on which one of their regimes can't run.
void add_regimes(const ClusterSetup& cluster, const WorkloadSetup& setup, const ThroughputTable& table,
                 const std::vector<JobRequest>& requests, Workload& workload);

}  // namespace contend
