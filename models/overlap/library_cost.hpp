#pragma once
// What a communication library expects of its collectives, as the cost of exchanging gradients: NCCL's own model
// (network/library/nccl_model.hpp) chooses an algorithm and a protocol for every size, so the cost is no line in it.

#include "models/overlap/exchange_cost.hpp"
#include "network/library/nccl_machine.hpp"

namespace contend {

/// How the ranks of a communicator lie.
struct LibraryRanks {
  int ranks = 2;
  int servers = 1;     ///< that hold them, equally many on each as far as possible
  int per_server = 1;  ///< the most ranks on one of them
  int sharing = 1;     ///< communicators like it that leave each server at once
};

/// `others` with NCCL's expectation in place of the costs of all collectives that NCCL has: among all ranks, the ranks
/// of a server, one of each server, and, for peers, as many communicators at once as a server has ranks. Communicators
/// that are in the network at once divide the interfaces of a server: bytes take k channels / interfaces times as long
/// where k of them have so many channels each together, if that is more than 1.
///
/// of() becomes a line below the times of every choice: the shortest start-up and the largest bandwidth of all
/// algorithms and protocols. Planners that take one line for all sizes plan with that one.
///
/// Throws InputError as nccl_communicator() and NcclModel.
[[nodiscard]] ExchangeCost library_cost(const NcclLibrary& library, const LibraryRanks& ranks,
                                        const ExchangeCost& others);

}  // namespace contend
