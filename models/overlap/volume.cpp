#include "models/overlap/volume.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace contend {

namespace {

/// The volume that a rank sends among n ranks, in units of the tensor.
double share_sent(CollectiveKind kind, int n) {
  if (n < 2) return 0;
  const double others = static_cast<double>(n - 1) / n;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * others;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
      return others;
    case CollectiveKind::reduce:
    case CollectiveKind::broadcast:
    case CollectiveKind::exchange:
      return 1;
  }
  check_failed(__FILE__, __LINE__, "a collective of the enum", "unknown");
}

}  // namespace

SentVolume sent_volume(CollectiveKind kind, CollectiveScope scope, Bytes bytes, int workers, int per_server) {
  CONTEND_CHECK(workers >= 1 && per_server >= 1, "there is a worker");
  const int g = std::min(per_server, workers);
  const int servers = workers / g;
  const double size = bytes.to_double();
  const double flat = size * share_sent(kind, workers);
  const double between = size * share_sent(kind, servers);
  switch (scope) {
    case CollectiveScope::server:
      return {size * share_sent(kind, g), 0};
    case CollectiveScope::leaders:
      return {between, between};
    case CollectiveScope::peers:
      return {between, between * g};
    case CollectiveScope::groups:
      check_failed(__FILE__, __LINE__, "the volume of groups is the volume of Op::groups", "unknown");
    case CollectiveScope::all:
      break;
  }
  if (servers == 1) return {flat, 0};
  if (kind == CollectiveKind::all_to_all) return {flat, size * g * (workers - g) / workers};
  return {flat, kind == CollectiveKind::exchange ? flat * g : flat};
}

namespace {

/// What a collective in listed groups sends, with ranks on servers one after the other: the most that a worker sends,
/// and the most that leaves a server, which is for each of its groups what a group with as many ranks on each server
/// sends.
SentVolume sent_in_lists(const Op& op, int per_server) {
  SentVolume most;
  std::map<int, double> leaving;  // by server
  for (const std::vector<int>& ranks : op.groups.lists->groups()) {
    std::map<int, int> here;  // ranks by server
    int together = 0;
    for (const int rank : ranks) together = std::max(together, ++here[rank / per_server]);
    const auto size = static_cast<int>(ranks.size());
    const int each = size % together == 0 ? together : 1;  // as if spread evenly
    const SentVolume one = sent_volume(op.collective, CollectiveScope::all, op.bytes, size, each);
    most.by_worker = std::max(most.by_worker, one.by_worker);
    if (here.size() < 2) continue;
    for (const auto& on_server : here) {
      double& leaves = leaving[on_server.first];
      leaves += one.by_interface;
      most.by_interface = std::max(most.by_interface, leaves);
    }
  }
  return most;
}

/// What the operation sends if it runs once.
SentVolume sent_once(const IterationGraph& graph, const Op& op, int per_server) {
  const int ranks = graph.ranks_of(op);
  if (op.servers != ParameterServers::none) {  // each rank pushes by itself, and servers send back
    const bool pushes = op.collective == CollectiveKind::reduce;
    const double bytes = op.bytes.to_double(), sent = pushes ? bytes : 0;
    const int together = std::min(per_server, ranks);
    if (op.servers == ParameterServers::elsewhere) return {sent, sent * together};
    // The servers on the machines of the job hold equal shares, and what a machine has of its own doesn't leave it.
    return {sent, bytes * together * (ranks - together) / ranks};
  }
  if (op.kind == OpKind::collective && op.scope != CollectiveScope::groups)
    return sent_volume(op.collective, op.scope, op.bytes, ranks, per_server);
  if (op.kind == OpKind::collective) {
    if (op.groups.lists) return sent_in_lists(op, per_server);
    // The groups that have ranks on a server, and how many ranks each of them has there.
    const int stride = op.groups.stride, size = op.groups.size;
    const int groups = std::min({stride, per_server, ranks});
    const int together = std::clamp(per_server / stride, 1, size);
    const SentVolume one = sent_volume(op.collective, CollectiveScope::all, op.bytes, size, together);
    return {one.by_worker, one.by_interface * groups};
  }
  const auto first_of = [&](RoleId role) {
    int first = 0;
    for (std::size_t before = 0; before < role.index(); ++before) first += graph.roles()[before].ranks;
    return first;
  };
  const int from = first_of(op.role), to = first_of(op.peer);
  int leaving = 0, most = 0;
  // After two servers the count repeats itself.
  for (int i = 0; i < std::min(ranks, 2 * per_server); ++i) {
    if (i == 0 || (from + i) % per_server == 0) leaving = 0;
    if ((from + i) / per_server != (to + i) / per_server) most = std::max(most, ++leaving);
  }
  return {op.bytes.to_double(), op.bytes.to_double() * most};
}

}  // namespace

SentVolume sent_volume(const IterationGraph& graph, const Op& op, int per_server) {
  const SentVolume once = sent_once(graph, op, per_server);
  return {once.by_worker * op.times, once.by_interface * op.times};
}

IterationTraffic iteration_traffic(const IterationGraph& graph, int per_server) {
  IterationTraffic traffic;
  std::vector<SentVolume> by_role(graph.roles().size());
  const std::vector<double> shares = graph.phases().shares();
  for (std::size_t phase = 0; phase < shares.size(); ++phase) {
    if (shares[phase] <= 0) continue;
    std::vector<std::size_t> messages(graph.roles().size());
    for (const Op& op : graph.ops()) {
      if (!op.is_traffic() || !op.is_in(phase)) continue;
      const SentVolume sent = sent_volume(graph, op, per_server);
      const std::int64_t often = graph.often(op);
      for (std::size_t role = op.role.index(); role < op.role.index() + static_cast<std::size_t>(op.roles); ++role) {
        by_role[role].by_worker += shares[phase] * sent.by_worker * static_cast<double>(often);
        by_role[role].by_interface += shares[phase] * sent.by_interface * static_cast<double>(often);
        messages[role] += static_cast<std::size_t>(op.times * often);
      }
    }
    traffic.messages = std::max(traffic.messages, *std::max_element(messages.begin(), messages.end()));
  }
  for (const SentVolume& sent : by_role) {
    traffic.sent_bytes = std::max(traffic.sent_bytes, sent.by_worker);
    traffic.interface_bytes = std::max(traffic.interface_bytes, sent.by_interface);
  }
  return traffic;
}

}  // namespace contend
