#pragma once
// Makes of the keys `failures.*` and `checkpoints.*` what the engine takes.

#include "scenarios/scenario.hpp"
#include "sim/cluster.hpp"
#include "sim/failure_spec.hpp"
#include "sim/job.hpp"
#include "sim/scheduling_rules.hpp"
#include "traces/job_list.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The law that a scenario describes, which has no faults.
[[nodiscard]] DurationLaw law_of(const LawChoice& choice);
/// The law of the repair of these components: their own law, or the law of all components.
[[nodiscard]] DurationLaw repair_law(const FailingComponents& each, const FailureSetup& failures);

/// The kinds of components that fail, of the preset and of the list, without the components of the fabric.
[[nodiscard]] std::vector<ComponentClass> failing_components(const ClusterSetup& cluster, const FailureSetup& failures);

/// The failures of a run with this seed, but for the failures of the fabric. Throws InputError with the faults of
/// `failures.events`.
[[nodiscard]] FailureSpec failure_spec(const ClusterSetup& cluster, const FailureSetup& failures,
                                       const LoanSetup& loans, std::uint64_t seed);

/// A job whose work is saved: its GPUs, and of its model IterationNotes::state and passes, both 0 if they aren't known.
struct SavedJob {
  int gpus = 1;
  Bytes state{};
  Time passes{};
  int per_server = 0;           ///< GPUs of each of its servers, ClusterSetup::gpus_per_server or fewer; 0: so many
  std::optional<Time> start{};  ///< PreemptionCosts::start, as drawn; none: its mean for one worker
  auto operator<=>(const SavedJob&) const = default;
};

/// The mean running time between two interruptions of a job, on as few servers as can hold it, by the laws of the
/// scenario without `failures.events`; 0 if it has none.
[[nodiscard]] double interruption_mean_s(const ClusterSetup& cluster, const FailureSetup& failures,
                                         const SavedJob& job);

/// What is saved of the work of a job, and what that costs. Throws InputError, which names the key, if a checkpoint
/// takes longer than the work between two of them.
[[nodiscard]] PreemptionCosts checkpoint_costs(const ClusterSetup& cluster, const FailureSetup& failures,
                                               const CheckpointSetup& checkpoints, const SavedJob& job);

/// checkpoint_costs() for the engine if they differ from job to job; else empty. Of several types of servers a job is
/// taken to run on the one that the engine tries first. The start of a job is drawn from a stream of its name.
[[nodiscard]] std::function<PreemptionCosts(const JobSpec&)> costs_by_job(
    const ClusterSpec& servers, const ClusterSetup& cluster, const FailureSetup& failures,
    const CheckpointSetup& checkpoints, const Workload& workload, std::uint64_t seed = 1);

/// Throws InputError, which names the key, if a job of the list can't go on without some of its GPUs as the redundancy
/// says; `training` has the entries of jobs of iterations, and `interferes` says whether their tasks and transfers slow
/// each other down.
void check_redundancy(const RedundancyRule& rule, const std::vector<TrainingEntry>& training, bool interferes,
                      const JobList& list);

/// The same of the jobs of a workload, and if one of them can't be saved, or can't be slowed, as the scenario
/// and its failure_spec() say.
void check_failures(const Scenario& scenario, const Workload& workload, const FailureSpec& spec);

}  // namespace contend
