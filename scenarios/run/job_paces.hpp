#pragma once
// How fast jobs run on each of `cluster.types`: by a table of throughputs, by the device of the type, or by its factor.

#include "models/workload.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/spec/workload_setup.hpp"
#include "sim/job.hpp"
#include "traces/throughputs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The table of `workload.throughputs`, and what the models of `workload.goodput` give on any number of GPUs of each
/// type; nothing if the scenario names neither. Throws InputError with their faults.
[[nodiscard]] std::optional<ThroughputTable> throughputs_of(const ClusterSetup& cluster, const WorkloadSetup& workload);

/// The reason why the table can't time the job: its model has rows, but none for so many GPUs or none with a
/// throughput, or the duration holds on a type where it has none. Empty if it can, or if the model has no rows at all.
[[nodiscard]] std::string why_not_timed(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                        const ThroughputTable& table, const JobRequest& job);
/// The paces, on the types of the cluster, of a job on so many GPUs that the table can time. Its work takes the
/// duration at the nominal rate, in iterations a second.
[[nodiscard]] std::vector<JobPace> paces_by_table(const ClusterSetup& cluster, const ThroughputTable& table,
                                                  const std::string& model, int gpus, double nominal);
/// The rate at which a job takes its duration: that on the reference type, or its fastest if it can't run on that one.
[[nodiscard]] double nominal_rate(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                  const ThroughputTable& table, const std::string& model, int gpus);
/// The pace of a job whose work takes `ratio` times as long as its duration; 0 if the ratio is out of range.
[[nodiscard]] std::int64_t pace_of(double ratio);
/// The system with the servers of one of its types alone, whose device times the layers.
[[nodiscard]] TrainingSystem system_of_type(const TrainingSystem& system, const NamedServerType& type);

/// Gives the jobs of a workload their paces on the types of the system, which has some, and graphs for types with a
/// device of their own. The table is throughputs_of(system.cluster, setup).
void add_paces(const TrainingSystem& system, const WorkloadSetup& setup, const std::optional<ThroughputTable>& table,
               Workload& workload);

}  // namespace contend
