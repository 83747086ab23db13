#pragma once
// Network fidelities `analytic` and `contention`: a transfer costs alpha + beta M on its own; k transfers that share
// the network interface of a server slow each other down.
//
// Contention (Wang et al., arXiv 2002.10105, equation of the k-way all-reduce): the time per byte of a transfer is
//   k beta + (k-1) eta,   k = the largest number of active transfers on any server that it touches.
// k changes when a transfer starts or ends; what has been sent stays sent. alpha passes at the same speed whatever k
// is. Analytic: the time per byte is always beta.
//
// Assumptions: one interface a server, the fabric behind it never limits, the size of the group does not matter (the
// cost of a collective over n servers is in alpha and beta). Wrong where a core switch is oversubscribed, where servers
// differ, and for messages so short that alpha depends on the number of ranks.

#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <memory>

namespace contend {

struct AlphaBeta {
  Time alpha;        ///< start-up of a transfer, >= 0
  TimePerByte beta;  ///< > 0
  TimePerByte eta;   ///< penalty per byte and further transfer, >= 0
  Time tick;         ///< transfers end at the next multiple of this, as in a time-stepped simulator; 0: exactly
};

/// No transfer slows another one down.
std::unique_ptr<NetworkModel> make_analytic_network(const AlphaBeta& cost, std::size_t servers, std::size_t jobs);
/// k-way contention on the network interface of each server.
std::unique_ptr<NetworkModel> make_contention_network(const AlphaBeta& cost, std::size_t servers, std::size_t jobs);

}  // namespace contend
