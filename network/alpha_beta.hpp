#pragma once
// These are the network models of the fidelities `analytic` and `contention`. A transfer of M bytes takes alpha + beta
// M if it is alone. In `contention`, k transfers that share the network interface of a server slow each other down.
//
// Contention (Wang et al., arXiv 2002.10105, equation of the k-way all-reduce): the time per byte of a transfer is
//   k beta + (k-1) eta,   k = the largest number of active transfers on any server that it touches.
// k changes when a transfer starts or ends; bytes already sent stay sent, and alpha does not depend on k. In `analytic`
// the time per byte is always beta.
//
// alpha and beta are either the same for all transfers between servers, or a function of the transfer. Transfers inside
// servers are carried only if the costs say so. They don't touch an interface; transfers of one job from the same GPUs
// share the links between these, and transfers of different jobs or of other ranks don't slow each other down.
//
// Assumptions: each server has one interface, and the fabric behind it never limits. The models are wrong if a core
// switch is oversubscribed, if servers differ, and if jobs that share a GPU communicate inside their server at once.

#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace contend {

/// What transfers share with each other.
enum class TransferLane : std::uint8_t {
  interface,  ///< the interfaces of the servers that the transfer touches
  pull,       ///< their other direction, where pushes and pulls don't slow each other down
  inside,     ///< the links between the GPUs of a server
};

/// The cost of one transfer.
struct TransferCost {
  Time alpha;        ///< start-up time, >= 0
  TimePerByte beta;  ///< time per byte if the transfer is alone, >= 0
  TimePerByte eta;   ///< penalty per byte and further transfer
  TransferLane lane = TransferLane::interface;
};

/// The costs of all transfers.
struct AlphaBeta {
  Time alpha;        ///< as in TransferCost, of every transfer if there is no `each`
  TimePerByte beta;  ///< > 0
  TimePerByte eta;
  Time tick;  ///< transfers end at the next multiple of this, as in a time-stepped simulator; 0: exactly
  /// The cost of a transfer by its kind, scope, size and servers.
  std::function<TransferCost(const TransferRequest&)> each{};
  bool carries_inside = false;  ///< transfers inside a server take time
};

/// A network in which no transfer slows another one down.
std::unique_ptr<NetworkModel> make_analytic_network(const AlphaBeta& cost, std::size_t servers, std::size_t jobs);
/// A network with k-way contention on the network interface of each server. `watched`, by job: whether
/// NetworkReport::delays has its delays; empty: no job's. A transfer loses 1 - beta / (k beta + (k-1) eta) of its time
/// after its start-up, at the first of its servers with k transfers, in equal parts to the k-1 others there.
/// SharedDelay::link is the index of that server.
std::unique_ptr<NetworkModel> make_contention_network(const AlphaBeta& cost, std::size_t servers, std::size_t jobs,
                                                      std::vector<bool> watched = {});

}  // namespace contend
