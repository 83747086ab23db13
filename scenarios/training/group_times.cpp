#include "scenarios/training/group_times.hpp"

#include "models/parallel/pass_traffic.hpp"
#include "scenarios/run/make_network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace contend {

namespace {

/// TransferRequest::same_ranks of the one job whose times are asked for.
std::uint64_t number_of(const RankGroups& groups, bool is_message) {
  const auto stride = static_cast<std::uint64_t>(groups.stride), size = static_cast<std::uint64_t>(groups.size);
  return (stride << 32 | size) << 1 | (is_message ? 1U : 0U);
}

/// The network for tensors of passes, each of which has a buffer of its own (torch.empty in
/// transformer_engine/pytorch/distributed.py), so that no result takes the place of its input.
NetworkSetup for_passes(NetworkSetup network) {
  network.nccl.in_place = false;
  return network;
}

}  // namespace

GroupTimes::GroupTimes(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed, int ranks,
                       int first)
    : per_server_{cluster.gpus_per_server}, network_{make_network(cluster, for_passes(network), {}, seed, 1)} {
  for (int gpu = first; gpu < first + ranks; ++gpu) {
    gpus_.emplace_back(static_cast<std::size_t>(gpu));
    if (gpu == first || gpu % per_server_ == 0) servers_.emplace_back(static_cast<std::size_t>(gpu / per_server_));
  }
}

bool GroupTimes::leaves_servers(const RankGroups& groups) const {
  return contend::leaves_servers(groups, per_server_) && servers_.size() > 1;
}

Time GroupTimes::operator()(CollectiveKind kind, const RankGroups& groups, Bytes bytes) {
  if (groups.most() < 2 || bytes <= Bytes{}) return {};
  const auto [known, is_new] = known_.try_emplace({kind, groups.stride, groups.size, bytes.count()});
  if (!is_new) return known->second;
  TransferRequest request;
  request.collective = kind;
  request.scope = CollectiveScope::groups;
  request.groups = groups;
  request.bytes = bytes;
  request.gpus = gpus_;
  request.same_ranks = number_of(groups, false);
  return known->second = solo(request, leaves_servers(groups));
}

Time GroupTimes::to_next(const RankGroups& groups, Bytes bytes, int ranks) {
  if (groups.most() < 2 || bytes <= Bytes{}) return {};
  const std::span<const GpuId> senders{gpus_.data(), ranks > 0 ? static_cast<std::size_t>(ranks) : gpus_.size()};
  std::vector<GpuId> receivers;
  const int block = groups.stride * groups.size;
  for (std::size_t rank = 0; rank < senders.size(); ++rank) {
    const int in_block = static_cast<int>(rank) % block;
    const int next = static_cast<int>(rank) - in_block + (in_block + groups.stride) % block;
    receivers.push_back(gpus_[static_cast<std::size_t>(next)]);
  }
  TransferRequest request;
  request.kind = OpKind::message;
  request.bytes = bytes;
  request.gpus = senders;
  request.peers = receivers;
  const bool are_all = senders.size() == gpus_.size();
  if (are_all) request.same_ranks = number_of(groups, true);
  const bool are_apart = server_of(senders.front()) != server_of(senders.back());
  return solo(request, leaves_servers(groups) && (are_all || are_apart));
}

Time GroupTimes::between(int from, int to, Bytes bytes) const {
  if (bytes <= Bytes{}) return {};
  std::vector<GpuId> senders, receivers;
  bool leaves = false;
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    senders.emplace_back(static_cast<std::size_t>(from) + rank);
    receivers.emplace_back(static_cast<std::size_t>(to) + rank);
    leaves = leaves || server_of(senders.back()) != server_of(receivers.back());
  }
  TransferRequest request;
  request.kind = OpKind::message;
  request.bytes = bytes;
  request.gpus = senders;
  request.peers = receivers;
  return solo(request, leaves);
}

ServerId GroupTimes::server_of(GpuId gpu) const {
  return ServerId{gpu.index() / static_cast<std::size_t>(per_server_)};
}

Time GroupTimes::solo(TransferRequest request, bool leaves) const {
  if (!leaves && !network_->carries_inside_servers()) return {};
  request.job = JobId{0U};
  request.ranks = static_cast<int>(request.gpus.size());
  std::vector<ServerId> servers;
  if (leaves) {
    for (const std::span<const GpuId> side : {request.gpus, request.peers})
      for (const GpuId gpu : side) servers.push_back(server_of(gpu));
    std::ranges::sort(servers);
    servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
    request.servers = servers;
  }
  return network_->solo_time(request);
}

}  // namespace contend
