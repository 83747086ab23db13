#pragma once
// How fast jobs run on each of `cluster.types`: by a table of throughputs, by the device of the type, or by its factor.

#include "models/workload.hpp"
#include "scenarios/scenario.hpp"
#include "sim/job.hpp"
#include "traces/throughputs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The table of `workload.throughputs`; nothing if the scenario names none. Throws InputError with its faults.
[[nodiscard]] std::optional<ThroughputTable> throughputs_of(const Scenario& scenario);

/// The reason why the table can't time the job: its model has rows, but none for so many GPUs or none with a
/// throughput, or the duration holds on a type where it has none. Empty if it can, or if the model has no rows at all.
[[nodiscard]] std::string why_not_timed(const Scenario& scenario, const ThroughputTable& table, const JobRequest& job);
/// Gives a job of iterations that the table can time its duration: that on `workload.reference_type`, or on its fastest
/// type if it can't run on that one.
void time_by_table(const Scenario& scenario, const ThroughputTable& table, JobRequest& job);

/// Gives the jobs of a workload their paces on the types of the scenario, which has some, and graphs for types with a
/// device of their own.
void add_paces(const Scenario& scenario, Workload& workload);

}  // namespace contend
