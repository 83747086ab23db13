#pragma once
// How many bytes a collective sends, as the costs of models/overlap/exchange_cost.hpp have it.

#include "sim/graph.hpp"
#include "sim/units.hpp"

namespace contend {

struct SentVolume {
  double by_worker = 0;     ///< by the GPU that sends most of them, over whatever link: a leader, where only those send
  double by_interface = 0;  ///< out of a server, between servers
};

/// Of one collective over a tensor of `bytes` on each rank, among `workers` on servers of `per_server` (one server if
/// there are not more). An all-reduce sends 2(n-1)/n of it, its halves and an all-to-all (n-1)/n, a reduce, a broadcast
/// and an exchange all of it; n are the ranks that take part together. Through an interface go one rank's bytes around
/// a flat ring and of leaders, those of all ranks of a server among peers, in an exchange and in an all-to-all, the
/// last without what stays inside.
[[nodiscard]] SentVolume sent_volume(CollectiveKind kind, CollectiveScope scope, Bytes bytes, int workers,
                                     int per_server);

}  // namespace contend
