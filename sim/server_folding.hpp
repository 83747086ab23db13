#pragma once
// Folding of servers. Servers that the same transfers touch are in the same state: each of these transfers begins on
// all of them and ends on all of them. So the courier and the network simulate one of them in place of all
// (NetworkModel::fold), and a transfer costs as much among 2 servers as among 2000, if all ranks of its stages do the
// same. Such servers are found when a job begins: those that no other job with several servers has, and that are in the
// same sets of servers between which operations of the job pass. Where a second job begins to send through one of them,
// that server is simulated by itself from then on. Nothing is approximated: `leap: false` simulates every server, and
// gives the same nanosecond.

#include "sim/engine_state.hpp"

#include <span>

namespace contend {

/// True if a group of ranks, of which rank i is on ranks[i], lies on several servers.
[[nodiscard]] bool leave_servers(const EngineState& state, std::span<const GpuId> ranks, const RankGroups& groups);

/// Fills JobExecution::joined of a job that has GPUs.
void join_servers(EngineState& state, JobId job);

/// Folds servers of a job that begins, and unfolds those that it shares with others.
void fold_servers(EngineState& state, JobId job);

/// Unfolds the servers of a job that has no transfers any more.
void unfold_servers(EngineState& state, JobId job);

}  // namespace contend
