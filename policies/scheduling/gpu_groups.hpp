#pragma once
// Groups of jobs with a duration that are to run on the same GPUs (sim/sharing.hpp), each group on GPUs of its own.

#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/host_room.hpp"
#include "policies/scheduling/next_places.hpp"
#include "sim/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
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
/// do so nowhere, the first job that they suffice for keeps its GPUs or starts, and the other jobs that they
/// suffice for join it.
///
/// `rest` are jobs without a group, some of them running, that the caller starts then in this order where the groups
/// leave GPUs. One that runs and would get its GPUs again keeps them.
void run_groups(const ClusterView& cluster, SchedulingActions& actions, std::span<const GpuGroup> groups,
                std::span<const JobId> running, std::span<const JobId> rest = {});

/// Says which jobs could have the same GPUs if no others ran. To be used within one pass.
class SharedPlaces {
 public:
  /// `jobs`: all that will be asked about.
  SharedPlaces(const ClusterView& cluster, SchedulingActions& actions, std::span<const JobId> jobs);

  /// True if the placement policy has a place for these jobs together on servers of that type (-1: any) which have CPUs
  /// and memory for all of them: on no more servers than it gives to the job that it spreads most, if that is alone. So
  /// jobs that it wants on one server don't share GPUs of two.
  [[nodiscard]] bool could_share(std::span<const JobId> jobs, std::int32_t type);

 private:
  const ClusterView& cluster_;
  std::optional<NextPlaces> places_;  // without any job; nothing if none of the jobs needs CPUs or memory
  Shapes shapes_;
  std::map<std::pair<std::vector<std::int32_t>, std::int32_t>, bool> known_;         // by shapes and type
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> servers_when_alone_;  // by shape and type
};

/// The sum of the speeds of jobs beside each other over those alone; 0 if they can't share. 1 for one job.
[[nodiscard]] double joint_speed(const ClusterView& cluster, std::span<const JobId> jobs, std::int32_t type);

}  // namespace contend
