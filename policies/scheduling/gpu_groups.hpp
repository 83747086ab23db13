#pragma once
// Groups of jobs with a duration that are to run on the same GPUs (sim/sharing.hpp), each group on GPUs of its own.

#include "policies/scheduling/host_room.hpp"
#include "sim/ports.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// Jobs of as many GPUs each; one alone has its GPUs to itself.
struct GpuGroup {
  std::vector<JobId> jobs;
  std::int32_t type = -1;  ///< of the servers that it is to run on; -1: any
};

/// Has the groups run, and of the `running` jobs no others. The first job of a group that runs on servers of its type
/// keeps its GPUs, unless a group in front of it has those; the others of the group join it there, and those that are
/// there already stay. All other running jobs are preempted first. A group without such a job starts, in the order of
/// the groups, where the placement policy puts its first job; it waits if there is no place. A job that can't join its
/// group waits, too.
///
/// A group keeps GPUs, and starts, where the CPUs and the memory of the servers suffice for all of its jobs. Where they
/// do so nowhere, the first job that they suffice for keeps its GPUs or starts, and those of the others that they
/// suffice for join it.
void run_groups(const ClusterView& cluster, SchedulingActions& actions, std::span<const GpuGroup> groups,
                std::span<const JobId> running);

/// whole_servers(), or nothing if none of the jobs needs CPUs or memory.
[[nodiscard]] std::vector<WholeServer> servers_to_share(const ClusterView& cluster, std::span<const JobId> jobs);

/// True if the servers of that type (-1: any) that the jobs may use have CPUs and memory for all of these jobs on the
/// same GPUs, as long as no other job runs there. `servers`: servers_to_share() of these jobs and others.
[[nodiscard]] bool could_share(const ClusterView& cluster, std::span<const WholeServer> servers,
                               std::span<const JobId> jobs, std::int32_t type);

/// The sum of the speeds of jobs beside each other over those alone; 0 if they can't share. 1 for one job.
[[nodiscard]] double joint_speed(const ClusterView& cluster, std::span<const JobId> jobs, std::int32_t type);

}  // namespace contend
