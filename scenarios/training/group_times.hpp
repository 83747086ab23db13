#pragma once
// Times of the collectives that lie inside the passes of a parallel job: collectives of tensor, context and expert
// parallelism. They are times of a network with no other transfer.

#include "scenarios/spec/cluster_setup.hpp"
#include "scenarios/spec/network_setup.hpp"
#include "sim/graph.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace contend {

class GroupTimes {
 public:
  /// For a pipeline rank of so many GPUs, which fill servers one after the other from this GPU of the cluster on.
  GroupTimes(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed, int ranks, int first = 0);

  /// The time of the collective in all groups at once, over a tensor of `bytes` on each rank.
  [[nodiscard]] Time operator()(CollectiveKind kind, const RankGroups& groups, Bytes bytes);
  /// The time of a message from each rank to the next one of its group, all at once; of the first `ranks` only, if
  /// that is more than 0. These must be whole groups.
  [[nodiscard]] Time to_next(const RankGroups& groups, Bytes bytes, int ranks = 0);
  /// The time of a message from each rank of the pipeline rank that begins with GPU `from` of the cluster to the rank
  /// in its place of the one that begins with `to`, all at once.
  [[nodiscard]] Time between(int from, int to, Bytes bytes) const;
  [[nodiscard]] int ranks() const { return static_cast<int>(gpus_.size()); }
  /// True if a group has ranks on several servers.
  [[nodiscard]] bool leaves_servers(const RankGroups& groups) const;

 private:
  [[nodiscard]] Time solo(TransferRequest request, bool leaves) const;
  [[nodiscard]] ServerId server_of(GpuId gpu) const;

  int per_server_;
  std::unique_ptr<NetworkModel> network_;
  std::vector<GpuId> gpus_;
  std::vector<ServerId> servers_;
  std::map<std::tuple<CollectiveKind, int, int, std::int64_t>, Time> known_;
};

}  // namespace contend
