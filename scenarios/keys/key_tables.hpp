#pragma once
// The parts of the key table, each in the file named after it, and what is wrong with the keys of a part that only all
// of them together show: empty if nothing is.

#include "scenarios/keys/keys.hpp"
#include "sim/cluster.hpp"
#include "sim/error.hpp"
#include "sim/job.hpp"
#include "sim/scheduling_rules.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// `network.*`, which runs of jobs and iteration studies read alike.
[[nodiscard]] std::vector<ScenarioKey> network_keys();
/// `overlap.*`.
[[nodiscard]] std::vector<ScenarioKey> study_keys();

// What fails, how jobs come back, and what is saved of their work.
[[nodiscard]] std::vector<ScenarioKey> failure_keys();
[[nodiscard]] std::vector<ScenarioKey> checkpoint_keys();
[[nodiscard]] std::vector<Complaint> failure_complaints(const FailureSetup& failures,
                                                        const CheckpointSetup& checkpoints, const ClusterSetup& cluster,
                                                        const NetworkSetup& network, const SharingSetup& sharing);

// Servers that others lend to the cluster.
[[nodiscard]] std::vector<ScenarioKey> loan_keys();
[[nodiscard]] std::vector<Complaint> loan_complaints(const LoanSetup& loans, const ClusterSetup& cluster,
                                                     const FailureSetup& failures);

// Jobs like the jobs of a real trace: `workload: {like: philly, jobs: 100000}`.
inline constexpr std::int64_t kMaxGpus = 1 << 20;  ///< of a generated job
/// `workload.jobs`: the path of a job list or, together with `workload.like`, the number of jobs to generate.
[[nodiscard]] ScenarioKey jobs_key();
/// `workload.like`, `workload.scaling.*` and `workload.resample.*`.
[[nodiscard]] std::vector<ScenarioKey> like_keys();
/// The complaint about a number of jobs without `workload.like`, about two ways of drawing the jobs of a list, or about
/// a measured window that no time lies in; nothing if all is well.
[[nodiscard]] std::optional<Complaint> jobs_complaint(const WorkloadSetup& workload, const MeasureSetup& measure);

// Scheduling besides the policies: quantum, ties, preemption costs, retries, virtual clusters, and the CPUs and memory
// of servers.
[[nodiscard]] std::vector<ScenarioKey> scheduling_keys();
/// The keys `cluster.*` that only matter to scheduling.
[[nodiscard]] std::vector<ScenarioKey> host_keys();
[[nodiscard]] ScenarioKey scatter_penalty_key();
/// The faults of `cluster.vcs`.
[[nodiscard]] std::vector<Complaint> vcs_complaints(const ClusterSetup& cluster);
/// The cluster for the engine. Throws InputError if `cluster.vcs` lacks a virtual cluster that the workload names.
[[nodiscard]] ClusterSpec cluster_spec(const ClusterSetup& cluster, const WorkloadSetup& setup,
                                       const Workload& workload);
[[nodiscard]] SchedulingRules scheduling_rules(SchedulingRules rules, const WorkloadSetup& workload);

// Which jobs with a duration share GPUs, and how fast they are then.
[[nodiscard]] std::vector<ScenarioKey> sharing_keys();
/// What is wrong with these keys together, and with a policy that needs them.
[[nodiscard]] std::vector<Complaint> sharing_complaints(const PolicyChoice& scheduling, const SharingSetup& sharing);

// Levels above the servers.
[[nodiscard]] std::vector<ScenarioKey> level_keys();
[[nodiscard]] std::vector<ScenarioKey> level_wish_keys();
/// The faults of `cluster.levels`, and of `workload.level` beside it.
[[nodiscard]] std::vector<Complaint> level_complaints(const ClusterSetup& cluster, const LevelWish& wish);

// What GPUs draw, and what that costs and emits.
[[nodiscard]] std::vector<ScenarioKey> meter_keys();
/// A map of the power of a GPU by state, and under a cap.
[[nodiscard]] Codec<std::optional<PowerSetup>> power_codec(bool with_caps);

// Types of servers, and how fast jobs are on them.
[[nodiscard]] ScenarioKey types_key();
/// `workload.throughputs` and what belongs to it.
[[nodiscard]] std::vector<ScenarioKey> throughput_keys();
/// The faults of `cluster.types` and of the keys that name a type.
[[nodiscard]] std::vector<Complaint> types_complaints(const ClusterSetup& cluster, const PolicyChoice& scheduling,
                                                      const WorkloadSetup& workload);
/// Sets the servers of the cluster, and the most GPUs and memory that one has, by the types; there is at least one.
void take_types(Scenario& scenario);
/// Why the scheduling policy can't have the job mix types, which it may by its demand; empty if there is no such fault.
[[nodiscard]] std::string why_not_mixed(const PolicyChoice& scheduling, const ClusterSpec& cluster, const JobSpec& job);

}  // namespace contend
