#pragma once
// What the placement policies for gangs ask of the index of free GPUs (ClusterView::next_server). A question costs
// O(log) of the servers for each number of GPUs that a server may have free, and more only where CPUs or memory of
// servers are short; no call looks at all GPUs.

#include "sim/ports.hpp"

#include <cstddef>
#include <vector>

namespace contend {

/// The servers that a job may use, at one decision. Only GPUs that no job holds count, for jobs that would share a GPU
/// as its memory allows, too. Servers of which GPUs have been taken are out of the question from then on.
class FreeServers {
 public:
  FreeServers(const ClusterView& cluster, const JobView& job);

  /// GPUs of a server.
  [[nodiscard]] int per_server() const { return per_server_; }
  /// GPUs that the job could get on the server: those free, as far as CPUs and memory last.
  [[nodiscard]] int room(ServerId server) const;

  /// The server of smallest id, `from` or later, with room for `needed` GPUs; none() if there is none.
  [[nodiscard]] ServerId first_from(int needed, ServerId from) const;
  [[nodiscard]] ServerId first(int needed) const { return first_from(needed, begin()); }
  /// Of those with room for `needed` GPUs one with the fewest free; ties to the smaller id.
  [[nodiscard]] ServerId fullest(int needed) const;
  /// Of those with room for `needed` GPUs one with the most free; ties to the smaller id.
  [[nodiscard]] ServerId emptiest(int needed) const;

  /// The next server at or after `from`, in order of id, with exactly `free` free GPUs and room for `needed`.
  [[nodiscard]] ServerId next(int free, int needed, ServerId from) const;
  /// Appends servers with room, those with the most free GPUs first, then by id, until there are `servers` of them or
  /// they have room for `gpus`.
  void emptiest_first(int servers, int gpus, std::vector<ServerId>& found) const;
  [[nodiscard]] ServerId begin() const { return ServerId{range_.first}; }
  [[nodiscard]] const ServerRange& range() const { return range_; }

  /// Appends the first `count` free GPUs of the server. The server has room for them.
  void take(ServerId server, int count, std::vector<GpuId>& chosen);
  /// Takes the first `count` servers, by id, that are free as a whole; false, and nothing taken, if there are fewer.
  bool take_whole(int count, std::vector<GpuId>& chosen);

 private:
  const ClusterView& cluster_;
  JobView job_;
  ServerRange range_;
  int per_server_;
  std::vector<ServerId> taken_;  // ascending
};

/// The next id.
[[nodiscard]] inline ServerId after(ServerId server) {
  return ServerId{server.value() + 1};
}

/// Whether the job asks for a part of each of its GPUs.
[[nodiscard]] bool asks_for_share(const JobView& job);
/// Places such a job on the GPUs with the least share left that is enough (best fit; `spread`: with the most); ties to
/// the smaller id. Looks at all GPUs that the job may use.
void place_share(const ClusterView& cluster, const JobView& job, bool spread, std::vector<GpuId>& chosen);

}  // namespace contend
