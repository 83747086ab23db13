#pragma once
// The network of the fidelity `contention` that writes down by whose traffic transfers are slowed down.

#include "network/alpha_beta.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace contend {

/// As make_contention_network(). `watched`, by job: whether NetworkReport::delays has its delays. A transfer loses
/// 1 - beta / (k beta + (k-1) eta) of its time after its start-up, at the first of its servers with k transfers, in
/// equal parts to the k-1 others there. SharedDelay::link is the index of that server.
std::unique_ptr<NetworkModel> make_contention_network(const AlphaBeta& cost, std::size_t servers, std::size_t jobs,
                                                      std::vector<bool> watched);

}  // namespace contend
