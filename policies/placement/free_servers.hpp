#pragma once
// FreeServers answers the queries of the placement policies for gangs from the index of free GPUs
// (ClusterView::next_server). A query costs O(log servers) for each number of free GPUs that a server may have, and
// more only if CPUs or host memory are short. No query looks at all GPUs.

#include "sim/ports.hpp"

#include <cstddef>
#include <vector>

namespace contend {

/// The servers that a job may use, at one decision. Only wholly free GPUs count, even for jobs that could share a GPU.
/// After take(), queries no longer return the server.
class FreeServers {
 public:
  FreeServers(const ClusterView& cluster, const JobView& job);

  /// Returns the number of GPUs of each of these servers.
  [[nodiscard]] int per_server() const { return per_server_; }
  /// Returns the number of GPUs that the job could get on the server: the free ones, limited by CPUs and
  /// host memory, and 0 where GPUs have too little memory.
  [[nodiscard]] int room(ServerId server) const;

  /// Returns the server of smallest id, at or after `from`, with room for `needed` GPUs. This query and those below
  /// return none() if there is no such server.
  [[nodiscard]] ServerId first_from(int needed, ServerId from) const;
  [[nodiscard]] ServerId first(int needed) const { return first_from(needed, begin()); }
  /// Returns the server with the fewest free GPUs among those with room for `needed`; ties go to the smaller id.
  [[nodiscard]] ServerId fullest(int needed) const;
  /// Returns the server with the most free GPUs among those with room for `needed`; ties go to the smaller id.
  [[nodiscard]] ServerId emptiest(int needed) const;

  /// Returns the server of smallest id, at or after `from`, with exactly `free` free GPUs and room for `needed`.
  [[nodiscard]] ServerId next(int free, int needed, ServerId from) const;
  /// Appends servers with room, those with the most free GPUs first, then by id, until it has found `servers` of them
  /// or room for `gpus`.
  void emptiest_first(int servers, int gpus, std::vector<ServerId>& found) const;
  [[nodiscard]] ServerId begin() const { return ServerId{range_.first}; }
  [[nodiscard]] const ServerRange& range() const { return range_; }

  /// Appends the first `count` free GPUs of the server, which must have room for them.
  void take(ServerId server, int count, std::vector<GpuId>& chosen);
  /// The same for groups of `together` ranks, of which `count` is a multiple: first neighbouring GPUs from a multiple
  /// of `together` on, then whatever else is free.
  void take_groups(ServerId server, int count, int together, std::vector<GpuId>& chosen);
  /// Takes the first `count` wholly free servers by id. Returns false and takes nothing if there are fewer.
  bool take_whole(int count, std::vector<GpuId>& chosen);

 private:
  const ClusterView& cluster_;
  JobView job_;
  ServerRange range_;
  int per_server_;
  std::size_t stride_;           // of the numbers of GPUs from server to server
  std::vector<ServerId> taken_;  // ascending
};

/// Returns the next id.
[[nodiscard]] inline ServerId after(ServerId server) {
  return ServerId{server.value() + 1};
}

/// Returns true if the job asks for a part of each of its GPUs.
[[nodiscard]] bool asks_for_share(const JobView& job);
/// Places a job that asks for shares on the GPUs with the smallest sufficient share left (best fit), or with the
/// largest if `spread`. Ties go to the smaller id. Leaves `chosen` empty if the job has to wait. Looks at all GPUs that
/// the job may use.
void place_share(const ClusterView& cluster, const JobView& job, bool spread, std::vector<GpuId>& chosen);

}  // namespace contend
