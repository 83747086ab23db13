#pragma once
// These are the network models of the fidelities `analytic` and `contention`. A transfer of M bytes takes alpha + beta
// M if it is alone. In `contention`, k transfers that share the network interface of a server slow each other down.
//
// Contention (Wang et al., arXiv 2002.10105, equation of the k-way all-reduce): the time per byte of a transfer is
//   k beta + (k-1) eta,   k = the largest number of active transfers on any server that it touches.
// k changes when a transfer starts or ends; bytes already sent stay sent, and alpha does not depend on k. In `analytic`
// the time per byte is always beta.
//
// Assumptions: each server has one interface, the fabric behind it never limits, and the size of the group does not
// matter (alpha and beta contain the cost of a collective over n servers). The models are wrong if a core switch is
// oversubscribed, if servers differ, and for messages so short that alpha depends on the number of ranks.

#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <memory>

namespace contend {

/// The cost of a transfer.
struct AlphaBeta {
  Time alpha;        ///< start-up time of a transfer, >= 0
  TimePerByte beta;  ///< time per byte of a transfer alone, > 0
  TimePerByte eta;   ///< penalty per byte and further transfer, >= 0
  Time tick;         ///< transfers end at the next multiple of this, as in a time-stepped simulator; 0: exactly
};

/// A network in which no transfer slows another one down.
std::unique_ptr<NetworkModel> make_analytic_network(const AlphaBeta& cost, std::size_t servers, std::size_t jobs);
/// A network with k-way contention on the network interface of each server.
std::unique_ptr<NetworkModel> make_contention_network(const AlphaBeta& cost, std::size_t servers, std::size_t jobs);

}  // namespace contend
