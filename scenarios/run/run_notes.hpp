#pragma once
// Notes about what a scenario says or its run did that its author may not mean: defaults of an old version, start-up
// times that mean less at fidelity `flow`, interfaces that sit idle, an unfit machine of NCCL, and groups of ranks that
// lie on several servers.

#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"
#include "sim/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace contend {

/// What a scenario of that version has as ideals because of it (Scenario::ideals), and what to write instead; empty if
/// it has none.
[[nodiscard]] std::string version_note(int schema_version, const std::vector<std::string>& ideals);

/// What the largest ring all-reduce of the scenario pays of network.alpha at fidelity `flow`, and what the all-reduce
/// pays at the other fidelities. Empty at those, if alpha is 0, if NCCL says the start-up times, and if nothing has two
/// ranks. Throws InputError for a job list that can't be read.
[[nodiscard]] std::string flow_start_up_note(const Scenario& scenario, JobLists& lists);

/// What an all-reduce over all GPUs of the first two servers leaves idle under `network.collectives`; empty if nothing
/// does, and at other fidelities than `flow`. Throws InputError for a network that can't be built.
[[nodiscard]] std::string expected_idle_interfaces(const ClusterSetup& cluster, const NetworkSetup& network,
                                                   std::uint64_t seed);

/// What the jobs of a run left idle, with the first such job; empty if they left nothing.
[[nodiscard]] std::string seen_idle_interfaces(const ClusterSetup& cluster, const NetworkSetup& network,
                                               const RunResult& result);

/// Keys of the network and of training entries that change nothing, or whose value another key caps: a sentence
/// each.
[[nodiscard]] std::vector<std::string> effectless_notes(const NetworkSetup& network,
                                                        const std::vector<TrainingEntry>& training);

/// What network.nccl.machine contradicts, with the keys: at fidelity `flow` another machine in network.server, at the
/// others interfaces whose rate differs from network.nic by a tenth or more, which collectives then don't heed. Empty
/// if nothing does, or if no collective takes what NCCL expects.
[[nodiscard]] std::string nccl_machine_note(const NetworkSetup& network);

/// The first such job and how many more there were; empty if there was none, or if their entries allow it
/// (ParallelSetup::across_servers).
[[nodiscard]] std::string seen_torn_groups(const std::vector<TrainingEntry>& training, const RunResult& result);

/// What the scheduling policy weighs and the scenario lacks: deadlines of its jobs, for which the note asks if they
/// matter, or prices of types of servers. Empty if it has them, or the policy weighs neither.
[[nodiscard]] std::string nothing_to_weigh_note(const PolicyChoice& scheduling, const ClusterSetup& cluster,
                                                const std::function<std::shared_ptr<const JobList>()>& jobs);

/// The share of time for which a GPU is in service in the long run, and the components that are out of service for most
/// of the time; empty if the share is at least a tenth. By the laws of `failures.preset` and `failures.components`, for
/// a GPU that no spare replaces.
[[nodiscard]] std::string service_share_note(const ClusterSetup& cluster, const FailureSetup& failures);

}  // namespace contend
