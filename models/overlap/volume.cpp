#include "models/overlap/volume.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
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
    case CollectiveScope::all:
      break;
  }
  if (servers == 1) return {flat, 0};
  if (kind == CollectiveKind::all_to_all) return {flat, size * g * (workers - g) / workers};
  return {flat, kind == CollectiveKind::exchange ? flat * g : flat};
}

IterationTraffic iteration_traffic(const IterationGraph& graph, int workers, int per_server) {
  IterationTraffic traffic;
  const std::vector<double> shares = graph.phases().shares();
  for (std::size_t phase = 0; phase < shares.size(); ++phase) {
    if (shares[phase] <= 0) continue;
    std::size_t messages = 0;
    for (const Op& op : graph.ops()) {
      if (op.kind != OpKind::collective || !op.is_in(phase)) continue;
      const SentVolume sent = sent_volume(op.collective, op.scope, op.bytes, workers, per_server);
      traffic.sent_bytes += shares[phase] * sent.by_worker;
      traffic.interface_bytes += shares[phase] * sent.by_interface;
      ++messages;
    }
    traffic.messages = std::max(traffic.messages, messages);
  }
  return traffic;
}

}  // namespace contend
