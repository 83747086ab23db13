#pragma once
// The messages of NCCL's tree: a chain through the ranks of each server, and a double binary tree over the servers
// (NVIDIA/nccl, src/graph/trees.cc, connect.cc). Trees among ranks (network/collectives/trees.cpp) cross the border of
// a server more often.

#include "network/collectives/schedule.hpp"
#include "sim/units.hpp"

#include <span>
#include <vector>

namespace contend {

/// An all-reduce of `bytes` on each of two ranks or more, as one step: which rank sends how much to which, over all
/// chunks, without saying when. `stripes` are orders of the ranks, which keep the ranks of a server together and the
/// servers in one order (ring_stripes()); each carries an equal part through the chains that it names and the tree over
/// the first rank of each server. Without them there is one, in order of rank. server_of[r] is the number of the server
/// of rank r.
/// If the switches of servers add (NVLS), the tensor goes to them and comes back once, which is half of what chains
/// send: only the messages upwards are there then.
[[nodiscard]] CollectiveSchedule nccl_tree(std::span<const int> server_of, std::span<const std::vector<int>> stripes,
                                           Bytes bytes, bool switches_add = false);

}  // namespace contend
