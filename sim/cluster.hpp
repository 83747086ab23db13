#pragma once
// ClusterSpec describes a cluster; Capacity is the index of its free resources, which answers in O(1) or in O(log n) of
// n servers.

#include "sim/cluster_view.hpp"
#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/levels.hpp"
#include "sim/server_tree.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The part of the cluster that belongs to a group of users: servers of its own, or a number of GPUs anywhere.
struct VirtualCluster {
  ServerRange servers{};  ///< its own; empty: it uses the servers that no virtual cluster owns
  int quota = INT_MAX;    ///< GPUs that its jobs may hold at once
  bool borrows = false;   ///< the scheduling policy may exceed the quota, which is then only a guarantee
};

/// Servers that are alike.
struct ServerType {
  std::string name;         ///< unique; jobs may demand it by this name (JobSpec::gpu_type)
  int servers = 1;          ///< >= 1
  int gpus_per_server = 1;  ///< >= 1
  Bytes gpu_memory;         ///< of each GPU
  double price = 0;         ///< of a GPU for an hour, in any currency; >= 0
};

struct ClusterSpec {
  int servers = 1;              ///< >= 1
  int gpus_per_server = 1;      ///< >= 1
  Bytes gpu_memory;             ///< of each GPU
  std::int64_t milli_cpus = 0;  ///< thousandths of CPUs in each server; 0: not counted
  Bytes host_memory{};          ///< of each server; 0: not counted
  /// The virtual clusters of Workload::vcs in that order, then any others that own servers. They own the first servers
  /// of the cluster, without gaps; all other jobs use the rest. If empty, a job's virtual cluster has no effect.
  std::vector<VirtualCluster> vcs{};
  /// Types of servers. The first type has the first servers, and so on; together they have all. Then gpus_per_server is
  /// the largest of theirs, and gpu_memory has no meaning. Empty: all servers are alike.
  std::vector<ServerType> types{};
  /// Names of JobSpec::gpu_type: a job that demands a type runs on servers of that name only. One that demands `a+b`
  /// runs on servers of type a, or of type b, or on GPUs of both, which stand next to each other in `types`. Without
  /// `types`, and if this is empty, that demand has no effect.
  std::vector<std::string> demanded{};
  LevelTree levels{};  ///< above the servers, and what JobSpec::level means
};

/// The number that stands for all types that the job may mix, wherever a type is asked for: the types of `types` come
/// first. -1 if the job runs on servers of one type.
[[nodiscard]] std::int32_t mix_of(const ClusterSpec& spec, const JobSpec& job);
/// The types of this number: itself, or the types of a mix, in their order.
[[nodiscard]] std::vector<std::int32_t> types_within(const ClusterSpec& spec, std::int32_t type);
/// The servers of a type or a mix; all for -1.
[[nodiscard]] ServerRange servers_of_type(const ClusterSpec& spec, std::int32_t type);
/// The servers in both ranges.
[[nodiscard]] inline ServerRange common(const ServerRange& a, const ServerRange& b) {
  const ServerRange both{std::max(a.first, b.first), std::min(a.last, b.last)};
  return both.first < both.last ? both : ServerRange{both.first, both.first};
}
/// The type of a server; -1 without types.
[[nodiscard]] std::int32_t type_of(const ClusterSpec& spec, ServerId server);
/// GPUs of each server of a type; for -1, and for a mix, of the server that has most.
[[nodiscard]] int gpus_per_server(const ClusterSpec& spec, std::int32_t type);
/// False for a number of a GPU that its server does not have (ClusterView::gpus_per_server).
[[nodiscard]] bool has_gpu(const ClusterSpec& spec, GpuId gpu);
/// GPUs on these servers.
[[nodiscard]] std::int64_t gpus_on(const ClusterSpec& spec, const ServerRange& servers);
/// The cluster without its last servers, of which their owner has more than so many: what jobs can have if these are
/// spares.
[[nodiscard]] ClusterSpec without_last(ClusterSpec spec, int servers);
/// True if the job may run on servers of the type, as far as its demand for a type and its pace say.
[[nodiscard]] bool may_run_on(const ClusterSpec& spec, const JobSpec& job, std::span<const JobPace> paces,
                              std::int32_t type);

/// The servers that no virtual cluster owns: the last ones of the cluster.
[[nodiscard]] ServerRange unowned_servers(const ClusterSpec& spec);
/// The servers that jobs of a virtual cluster may use: its own. A virtual cluster without servers, and vc -1, use those
/// that no virtual cluster owns.
[[nodiscard]] ServerRange servers_of_vc(const ClusterSpec& spec, std::int32_t vc);
/// Ranks of the job for which an empty server has GPUs, CPUs and host memory.
[[nodiscard]] std::int64_t ranks_by_host(const ClusterSpec& spec, const JobSpec& job, std::int32_t type = -1);
/// The reason why the cluster does not have what the job demands, even if it is empty; an empty text if it has. With
/// types of servers, `type` says on which; -1: on any of them, where the paces of the job (one for each type, or none)
/// let it run. Whether the placement policy uses it is another question (Simulation::why_never_start).
[[nodiscard]] std::string why_never(const ClusterSpec& spec, const JobSpec& job, std::span<const JobPace> paces = {},
                                    std::int32_t type = -1);
/// The reason why the job can't run on these GPUs, even if the cluster is empty: there are not as many as it needs, the
/// cluster doesn't have one of them, or one is named twice or on a server of another virtual cluster; or a server has
/// too few CPUs or too little memory for its ranks there. Empty if it can.
[[nodiscard]] std::string why_no_place(const ClusterSpec& spec, const JobSpec& job, std::span<const GpuId> place);

/// A set of the integers 0..size-1; every operation is O(log n), with base 64.
class BitSet {
 public:
  explicit BitSet(std::size_t size);
  void insert(std::size_t i);
  void erase(std::size_t i);
  /// The smallest member >= `from`; `size` if there is none.
  [[nodiscard]] std::size_t next(std::size_t from) const;

 private:
  std::size_t size_;
  std::vector<std::vector<std::uint64_t>> levels_;  // a bit is set if its word of the level below is not 0
};

/// The resources that one rank of a job takes on its GPU and server.
struct RankDemand {
  explicit RankDemand(const JobSpec& job);
  explicit RankDemand(const JobView& job);
  auto operator<=>(const RankDemand&) const = default;
  Bytes memory;
  std::int32_t share, milli_cpus;
  Bytes host_memory;
};

/// `time` times the reserved share of a GPU, in thousandths; rounded down.
[[nodiscard]] Time reserved_part(Time time, std::int32_t share);

/// The most room that a GPU of some servers has: the memory for jobs that share GPUs as their memory allows, and the
/// share that may be reserved; -1: no such job fits on any.
struct ServerRoom {
  Bytes memory{-1};
  std::int32_t share = -1;
  bool operator==(const ServerRoom&) const = default;
  friend ServerRoom join(const ServerRoom& a, const ServerRoom& b) {
    return {std::max(a.memory, b.memory), std::max(a.share, b.share)};
  }
  /// False if no rank of this demand fits on any of the GPUs.
  [[nodiscard]] bool may_fit(const RankDemand& rank) const {
    return rank.share > 0 ? share >= rank.share : memory >= rank.memory;
  }
};

/// Counts the resources that jobs hold. The jobs on a GPU either all reserve shares of it, or all share it as its
/// memory allows; of those that reserve all of it there may be several (sim/sharing.hpp), and no other job fits beside
/// them. Queries mean what the queries of the same name in ClusterView mean.
class Capacity {
 public:
  explicit Capacity(const ClusterSpec& spec);

  void take(GpuId gpu, const RankDemand& rank) { change(gpu, rank, 1); }
  void give_back(GpuId gpu, const RankDemand& rank) { change(gpu, rank, -1); }
  void use_quota(std::int32_t vc, int gpus);
  /// One GPU less is in service, -1, or one more, 1; it is held as long as it is not. To be called once for each.
  void count_in_service(GpuId gpu, int change);

  [[nodiscard]] std::size_t gpus() const { return gpus_.size(); }
  [[nodiscard]] ServerId server_of(GpuId gpu) const { return ServerId{gpu.index() / gpus_per_server_}; }
  [[nodiscard]] Bytes free_memory(GpuId gpu) const;
  [[nodiscard]] int free_gpus() const { return free_; }
  [[nodiscard]] int free_gpus(ServerId server) const { return servers_[server.index()].free; }
  [[nodiscard]] bool owns_servers(std::int32_t vc) const { return has(vc) && spec_.vcs[index(vc)].servers.size() > 0; }
  [[nodiscard]] int free_gpus_of_vc(std::int32_t vc) const { return free_by_owner_[owner_of_servers_for(vc)].all; }
  [[nodiscard]] int free_gpus_on(std::int32_t vc, std::int32_t type) const {
    return sum_of(free_by_owner_[owner_of_servers_for(vc)], type);
  }
  [[nodiscard]] int gpus_in_service(std::int32_t vc, std::int32_t type) const {
    return sum_of(in_service_[owner_of_servers_for(vc)], type);
  }
  [[nodiscard]] std::uint64_t times_given_back(std::int32_t vc) const { return given_back_[owner_of_servers_for(vc)]; }
  [[nodiscard]] std::uint64_t service_changes(std::int32_t vc) const {
    return service_changes_[owner_of_servers_for(vc)];
  }
  [[nodiscard]] ServerId next_server(int free, ServerId from) const;
  /// The first GPU >= `from` on these servers on which the rank fits; none() if there is none. O(log servers), but for
  /// ranks that ask for a share and memory, more if GPUs have the one and not the other.
  [[nodiscard]] GpuId next_gpu(const RankDemand& rank, GpuId from, const ServerRange& servers) const;
  /// The room on each server. It is kept up to date from the first call on.
  [[nodiscard]] const ServerTree<ServerRoom>& rooms() const;
  /// True if no job holds a part of the GPU.
  [[nodiscard]] bool is_free(GpuId gpu) const { return gpus_[gpu.index()].jobs == 0; }
  [[nodiscard]] int free_share(GpuId gpu) const { return std::max(0, kWholeGpu - gpus_[gpu.index()].reserved); }
  /// Jobs that hold the GPU or a part of it, and memory that they leave, whoever may have it.
  [[nodiscard]] int jobs_on(GpuId gpu) const { return gpus_[gpu.index()].jobs; }
  [[nodiscard]] Bytes memory_left(GpuId gpu) const { return gpus_[gpu.index()].free_memory; }
  [[nodiscard]] std::int64_t free_milli_cpus(ServerId server) const { return servers_[server.index()].milli_cpus; }
  [[nodiscard]] Bytes free_host_memory(ServerId server) const { return servers_[server.index()].host_memory; }
  [[nodiscard]] bool fits(GpuId gpu, const RankDemand& rank) const;
  [[nodiscard]] ServerRange servers_of_vc(std::int32_t vc) const;
  /// The servers of the virtual cluster that are of the type, all for -1.
  [[nodiscard]] ServerRange servers_of(std::int32_t vc, std::int32_t type) const {
    const ServerRange all = servers_of_vc(vc);
    return type < 0 ? all : common(all, servers_of_type(spec_, type));
  }
  [[nodiscard]] int vc_quota(std::int32_t vc) const { return has(vc) ? spec_.vcs[index(vc)].quota : INT_MAX; }
  [[nodiscard]] int vc_used(std::int32_t vc) const { return has(vc) ? used_[index(vc)] : 0; }
  /// GPUs that the quota still leaves to the virtual cluster; INT_MAX if it has no quota or may exceed it.
  [[nodiscard]] int quota_left(std::int32_t vc) const;

 private:
  struct Gpu {
    Bytes free_memory;
    std::int32_t reserved = 0;  ///< thousandths
    std::int32_t jobs = 0;      ///< that hold it
  };
  struct Server {
    std::int32_t free = 0;
    std::int32_t type = -1;
    std::int64_t milli_cpus = 0;
    Bytes host_memory;
  };
  void change(GpuId gpu, const RankDemand& rank, int sign);
  void add_free(ServerId server, int change);
  void set_type(std::int32_t type);
  [[nodiscard]] std::size_t owner_index(std::size_t server) const {
    return static_cast<std::size_t>(owner_[server] + 1);
  }
  /// The index of the owner of the servers that jobs of the virtual cluster may use.
  [[nodiscard]] std::size_t owner_of_servers_for(std::int32_t vc) const { return owns_servers(vc) ? index(vc) + 1 : 0; }
  /// GPUs of some servers: all, and by type.
  struct Counts {
    int all = 0;
    std::vector<int> of_type;
  };
  /// Of the type or mix of types; all for -1.
  [[nodiscard]] int sum_of(const Counts& counts, std::int32_t type) const;
  [[nodiscard]] ServerRoom room_of(ServerId server) const;
  [[nodiscard]] BitSet& servers_with(int free);
  [[nodiscard]] bool has(std::int32_t vc) const { return vc >= 0 && index(vc) < used_.size(); }
  static std::size_t index(std::int32_t vc) { return static_cast<std::size_t>(vc); }

  ClusterSpec spec_;
  std::size_t gpus_per_server_;
  ServerRange unowned_;
  int free_ = 0;
  std::vector<Counts> free_by_owner_, in_service_;  // by owner (0: none, else virtual cluster + 1)
  std::vector<std::uint64_t> given_back_;           // by owner, how often
  std::vector<std::uint64_t> service_changes_;      // by owner, GPUs that went out of service or came back
  std::vector<Gpu> gpus_;
  std::vector<Server> servers_;
  std::vector<int> used_;            // by virtual cluster: GPUs that its jobs hold
  std::vector<std::int32_t> owner_;  // by server: the virtual cluster that owns it; -1: none
  std::vector<BitSet> by_free_;      // servers, by their free GPUs
  mutable std::optional<ServerTree<ServerRoom>> rooms_;
};

}  // namespace contend
