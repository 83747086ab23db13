#pragma once
// The iteration graph of a job as a recording: the way back of recording_graph(), so that a job can be handed on in the
// formats of recordings.

#include "sim/graph.hpp"
#include "traces/recording/recording.hpp"

namespace contend {

/// One iteration of a job, a trace without starts for each of its ranks. Nodes are numbered in the order in which lanes
/// take ready tasks (priority, then number of the operation). The GPU is stream 0 and the further streams follow; a
/// channel that carries one message at a time is a stream, and so is each timer, and each collective without such a
/// channel, because nothing orders them but what they wait for. Communication takes no time until a network gives it
/// some. A collective has a rank in no group where the group would be that rank alone: the rank then waits itself for
/// the tasks that the collective waits for. Collectives within servers have the groups of a job on full servers of
/// `gpus_per_server` >= 1.
///
/// The next iteration of a trace begins when this one has ended, whatever it waits for in the graph. Waits of ranks for
/// others without a message are left out and counted in `not_understood` of the first rank. Throws InputError for a
/// graph that no trace of one iteration can hold: iterations that differ, counters, parameter servers, ranks that are
/// left behind, rounds left out, and pairs that exchange.
[[nodiscard]] Recording graph_recording(const IterationGraph& graph, int gpus_per_server);

}  // namespace contend
