#pragma once
// Computes the bytes that a collective sends, under the assumptions of models/overlap/exchange_cost.hpp.

#include "sim/graph.hpp"
#include "sim/result.hpp"
#include "sim/units.hpp"

namespace contend {

/// The bytes sent by a GPU and by a server.
struct SentVolume {
  double by_worker = 0;     ///< by the GPU that sends most (a leader if only those send), over all its links
  double by_interface = 0;  ///< through the interface of a server, to other servers
};

/// The volume of one collective, of any scope but `groups`, over a tensor of `bytes` on each rank, among `workers` on
/// servers of `per_server` ranks (one server if there are not more workers). With n ranks in a group, an all-reduce
/// sends 2(n-1)/n of the tensor per rank; its halves and an all-to-all send (n-1)/n; a reduce, a broadcast and an
/// exchange send all of it. An interface carries the bytes of one rank in a flat ring and among leaders. Among peers,
/// in an exchange and in an all-to-all it carries the bytes of all ranks of the server; for the all-to-all, without the
/// bytes that stay inside.
[[nodiscard]] SentVolume sent_volume(CollectiveKind kind, CollectiveScope scope, Bytes bytes, int workers,
                                     int per_server);

/// The volume of a collective or message of the graph, whose ranks fill servers of `per_server` ranks one after
/// another. To parameter servers elsewhere only pushes are sent; those on the servers of the job send back as much. Of
/// messages, `by_worker` is the volume of a sender, and `by_interface` the volume of a server with senders.
[[nodiscard]] SentVolume sent_volume(const IterationGraph& graph, const Op& op, int per_server);

/// What an iteration of the graph sends from servers of `per_server` ranks: the figures of the role that sends most.
[[nodiscard]] IterationTraffic iteration_traffic(const IterationGraph& graph, int per_server);

}  // namespace contend
