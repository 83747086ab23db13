#pragma once
// ClusterView and JobView are the read-only views of the cluster and of its jobs on which policies decide.

#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/rank_layout.hpp"
#include "sim/sharing.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace contend {

/// gpu_share of a job that has its GPUs to itself.
inline constexpr std::int32_t kWholeGpu = 1000;

/// A job as policies see it at one instant. Service is GPU time: for a job with an iteration graph, the compute time of
/// its operations summed over its GPUs; for a timed job, the time it holds its GPUs times their number.
struct JobView {
  JobId id;
  Time submit;   ///< or its last retry, if that counts as a submission (RetryRule::at_end)
  int gpus = 1;  ///< of an elastic job: those that it holds or is to be placed on; while it waits those it prefers
  Bytes memory_per_gpu;
  GpuTime total_service;      ///< over all attempts of the job: done, and remaining
  GpuTime remaining_service;  ///< graph: falls when an operation ends on a rank; timed: exact at any time, but for jobs
                              ///< with regimes as SchedulingRules::foresees_batches says
  GpuTime attained_service{};   ///< GPU time held so far, over all attempts, failed ones included
  std::optional<Time> limit{};  ///< wall-clock limit that the user asked for
  std::int64_t tie = 0;         ///< breaks ties of equal keys in a queue, smaller first; unique to the job
  std::int32_t priority = 0;    ///< larger is more urgent
  std::int32_t vc = -1, user = -1, gpu_type = -1;  ///< indices into the tables of the Workload; -1: none
  std::int32_t place = -1;  ///< an index, or -1: the GPUs on which it must run; only make_pinned_placement() places it
  std::int32_t level = -1;  ///< an index, or -1: how it must lie; make_level_placement() sees to it
  std::int32_t pace = -1;   ///< an index, or -1: how fast it is on each type of server; -1: as fast on all
  std::int32_t gpu_share = 0;   ///< thousandths of each GPU that it reserves; 0: shares GPUs as their memory allows
  std::int32_t milli_cpus = 0;  ///< for each GPU
  Bytes host_memory{};          ///< for each GPU
  bool timed = false;           ///< has a given duration instead of an iteration graph
  bool running = false;
  bool finished = false;  ///< it has ended, and not because failures interrupted it too often
  Time since{};           ///< since when it has been running, or waiting
  /// Type of the servers on which it runs or is to be placed, an index into ClusterSpec::types; -1: it waits and may be
  /// placed on several, or the cluster has no types.
  std::int32_t server_type = -1;
  std::optional<Time> deadline{};  ///< by which it should end
  /// GPUs on which its duration holds; the service of a timed job counts time on so many. Equals `gpus` unless it was
  /// resized.
  int preferred_gpus = 1;
  RankLayout layout{};  ///< how its ranks depend on each other
};

/// The servers first, first + 1, ..., last - 1.
struct ServerRange {
  std::uint32_t first = 0, last = 0;
  [[nodiscard]] std::size_t size() const { return last - first; }
  [[nodiscard]] bool contains(ServerId server) const { return server.value() >= first && server.value() < last; }
  bool operator==(const ServerRange&) const = default;
};

/// How a job works from now until `until`, whatever else happens meanwhile, unless it ends or leaves its GPUs before.
struct SteadySpeed {
  double speed = 0;  ///< work in each second, in seconds of its duration; 0: it restarts or stops for a checkpoint
  Time until{};      ///< not after now: nothing is known
};

/// The cluster as a policy sees it, at the current instant.
class ClusterView {
 public:
  virtual ~ClusterView() = default;
  [[nodiscard]] virtual Time now() const = 0;
  [[nodiscard]] virtual std::size_t servers() const = 0;
  [[nodiscard]] virtual std::size_t gpus() const = 0;  ///< of the cluster; their ids are numbered server by server
  [[nodiscard]] virtual ServerId server_of(GpuId gpu) const = 0;
  /// Memory that no job holds; negative on a GPU that is reserved, so that no job that asks for memory alone fits.
  [[nodiscard]] virtual Bytes free_memory(GpuId gpu) const = 0;
  /// Appends the jobs that hold the GPU, in order of start.
  virtual void jobs_on(GpuId gpu, std::vector<JobId>& jobs) const = 0;
  [[nodiscard]] virtual JobView job(JobId job) const = 0;
  /// The GPUs that a running job holds, by rank; empty for any other job.
  [[nodiscard]] virtual std::span<const GpuId> gpus_of(JobId job) const = 0;
  /// Work left on a GPU, summed over its jobs: the compute time left on this GPU plus the communication time that the
  /// job would still take alone in the network (Ada-SRSF, arXiv 2002.10105: L_J = C_J + E_J). A message counts until it
  /// has been delivered; a timed job counts with the time it has left.
  [[nodiscard]] virtual Time load(GpuId gpu) const = 0;

  // Free resources, from an index kept up to date: O(1) or O(log n) for n servers.

  /// GPUs that no job holds.
  [[nodiscard]] virtual int free_gpus() const = 0;
  [[nodiscard]] virtual int free_gpus(ServerId server) const = 0;
  /// The first server >= `from` with exactly `free` GPUs that no job holds; none() if there is none.
  [[nodiscard]] virtual ServerId next_server(int free, ServerId from) const = 0;
  /// Thousandths of the GPU that no job has reserved.
  [[nodiscard]] virtual int free_share(GpuId gpu) const = 0;
  /// Thousandths of CPUs, and host memory, that no job holds; beyond any demand if the cluster does not count them.
  [[nodiscard]] virtual std::int64_t free_milli_cpus(ServerId server) const = 0;
  [[nodiscard]] virtual Bytes free_host_memory(ServerId server) const = 0;
  /// True if the memory and the free share of the GPU suffice for a rank of the job now.
  [[nodiscard]] virtual bool fits(GpuId gpu, const JobView& job) const = 0;
  /// The servers that the job may use: the servers of its virtual cluster, else the servers that no virtual cluster
  /// owns; of these, only the servers of JobView::server_type if a type is given.
  [[nodiscard]] virtual ServerRange servers_for(const JobView& job) const = 0;
  [[nodiscard]] virtual bool owns_servers(std::int32_t vc) const = 0;
  /// GPUs that no job holds on the servers that jobs of the virtual cluster may use; vc -1: jobs of no virtual cluster.
  [[nodiscard]] virtual int free_gpus_of_vc(std::int32_t vc) const = 0;
  /// GPUs that jobs can have on the servers of that type (-1: of all types) that jobs of the virtual cluster may use:
  /// those that a running job holds, and those that are free. Not among them are GPUs that failed, that are drained,
  /// that belong to spares, that are not lent, or that an interrupted job still keeps. O(1), but for a mix of types.
  [[nodiscard]] virtual int gpus_in_service(std::int32_t vc, std::int32_t type) const = 0;
  /// Counts how often a GPU of the servers that jobs of the virtual cluster may use has gone out of service or come
  /// back. As long as the count does not change, the same GPUs are in service; gpus_in_service() says only how many
  /// are.
  [[nodiscard]] virtual std::uint64_t service_changes(std::int32_t /*vc*/) const { return 0; }
  /// Counts how often something has been given back on the servers that jobs of the virtual cluster may use: a GPU, or
  /// a part of one. As long as the count does not change, a job of theirs for which there was no room has none.
  [[nodiscard]] virtual std::uint64_t times_given_back(std::int32_t /*vc*/) const { return 0; }
  /// GPUs that the jobs of a virtual cluster may hold at once (INT_MAX: any number), and that they hold now.
  [[nodiscard]] virtual int vc_quota(std::int32_t vc) const = 0;
  [[nodiscard]] virtual int vc_used(std::int32_t vc) const = 0;
  /// GPUs that start() still lets the virtual cluster take; INT_MAX if it has no quota or the policy may exceed it.
  [[nodiscard]] virtual int quota_left(std::int32_t vc) const = 0;

  /// Servers that others lend to the cluster at times (sim/loans.hpp): the last ones. No GPU is free on one that is not
  /// lent.
  [[nodiscard]] virtual ServerRange loanable() const { return {}; }

  // Types of servers, which are numbered from 0. Without ClusterSpec::types all servers are of one type.

  [[nodiscard]] virtual std::size_t types() const { return 1; }
  [[nodiscard]] virtual ServerRange servers_of_type(std::int32_t /*type*/) const {
    return {0, static_cast<std::uint32_t>(servers())};
  }
  /// GPUs of each server of that type; -1: of the server that has most. GPUs are numbered as if every server had as
  /// many as that one, so a number may denote no GPU: it never `fits`.
  [[nodiscard]] virtual int gpus_per_server(std::int32_t /*type*/) const {
    return static_cast<int>(gpus() / servers());
  }
  /// Memory of each GPU of the server.
  [[nodiscard]] virtual Bytes gpu_memory(ServerId /*server*/) const { return Bytes{INT64_MAX}; }
  /// GPUs that no job holds on the servers of that type that jobs of the virtual cluster may use.
  [[nodiscard]] virtual int free_gpus_on(std::int32_t vc, std::int32_t /*type*/) const { return free_gpus_of_vc(vc); }
  /// Work that the job does in a second on servers of that type, in seconds of its duration (JobView::total_service
  /// counts these); 0: it can't run there, even alone. A graph job counts with its computing.
  [[nodiscard]] virtual double speed_on(const JobView& /*job*/, std::int32_t /*type*/) const { return 1; }
  /// How a running job works for a while. Nothing is known of a job that waits, may be resized, may share its GPUs,
  /// writes checkpoints to a store, has redundancy or regimes, or does iterations.
  [[nodiscard]] virtual SteadySpeed steady_speed(JobId /*job*/) const { return {}; }
  /// The numbers of GPUs on which an elastic job can run, rising; empty for any other job.
  [[nodiscard]] virtual std::span<const int> sizes_of(JobId /*job*/) const { return {}; }
  /// As speed_on(), if the job had so many GPUs, one of sizes_of() or JobView::preferred_gpus.
  [[nodiscard]] virtual double speed_with(const JobView& job, int /*gpus*/, std::int32_t type) const {
    return speed_on(job, type);
  }
  /// The stretches of the training of a job whose batch changes, in order; empty for any other job. JobView counts the
  /// work of all of them, and speed_on() is the speed of the present one.
  [[nodiscard]] virtual std::span<const BatchRegime> regimes_of(JobId /*job*/) const { return {}; }
  /// Price of a GPU of that type for an hour; 0 if it is not known.
  [[nodiscard]] virtual double price_of(std::int32_t /*type*/) const { return 0; }

  // Jobs with a duration that share GPUs (sim/sharing.hpp).

  /// The most such jobs on a GPU; 1: none share any.
  [[nodiscard]] virtual int most_on_gpu() const { return 1; }
  /// The speed of the job beside others on all of its GPUs, over its speed alone there; 0: they can't run there
  /// together, because of the law, their memory or their number. 1 without others.
  [[nodiscard]] virtual double speed_beside(JobId /*job*/, std::span<const JobId> others, std::int32_t /*type*/) const {
    return others.empty() ? 1 : 0;
  }
  /// What its iterations need one after the other; all 0 if that is not known.
  [[nodiscard]] virtual StageTimes stages_of(JobId /*job*/) const { return {}; }

  // Searches for GPUs with room for a rank of a job. What is written here looks at every server; the engine answers the
  // same from indices. A GPU has room if the job may use its server, it `fits`, and the CPUs and host memory of the
  // server suffice for ranks on it and on the GPUs of smaller id that fit.

  /// The first GPU >= `from` with room, whatever the CPUs and host memory; none() if there is none.
  [[nodiscard]] virtual GpuId next_gpu(const JobView& job, GpuId from) const;
  /// Appends the first `count` GPUs with room in order of load, then id; fewer if there are fewer.
  virtual void least_loaded(const JobView& job, std::size_t count, std::vector<GpuId>& gpus) const;
  /// Appends servers with room, in order of the load of all their GPUs, then by id, until they have room for `ranks`.
  virtual void least_loaded_servers(const JobView& job, std::size_t ranks, std::vector<ServerId>& servers) const;

  /// Appends the GPUs of the server with room, by id. The job must be allowed to use the server.
  void gpus_with_room(ServerId server, const JobView& job, std::vector<GpuId>& gpus) const;
  /// Load of all GPUs of the server.
  [[nodiscard]] Time load_of_server(ServerId server) const;

  /// Ranks of the job for which the server has free CPUs and host memory; its GPUs are not considered.
  [[nodiscard]] std::int64_t ranks_by_host(ServerId server, const JobView& job) const {
    std::int64_t ranks = INT32_MAX;
    if (job.milli_cpus > 0) ranks = free_milli_cpus(server) / job.milli_cpus;
    if (job.host_memory > Bytes{}) {
      const std::int64_t by_memory = free_host_memory(server).count() / job.host_memory.count();
      if (by_memory < ranks) ranks = by_memory;
    }
    return ranks;
  }
};

}  // namespace contend
