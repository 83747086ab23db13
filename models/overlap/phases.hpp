#pragma once
// Iterations whose messages differ from phase to phase (CompressionMethod::phases): one graph for all phases, and the
// mean over them.

#include "models/overlap/iteration.hpp"
#include "sim/iteration_phases.hpp"

#include <cstddef>
#include <vector>

namespace contend {

/// One graph for iterations that a fusion policy planned phase by phase: the passes of the layers, which are equal
/// in all, and the messages of each phase, with channels of its own if the first phase has other channels. `planned`
/// has one iteration for each phase of `phases`.
[[nodiscard]] FusedIteration join_phases(const IterationPhases& phases, std::vector<FusedIteration> planned);

/// The iterations of one phase as a graph of their own, for a job that stays in that phase.
[[nodiscard]] IterationGraph graph_of_phase(const IterationGraph& graph, std::size_t phase);

/// A graph that repeats itself, and its share of the iterations of a long job.
struct SharedGraph {
  IterationGraph graph;
  double share = 1;
};
/// The graphs whose mean iteration is as in a long job: the graph itself if its phases repeat, else the graph of each
/// phase that has a share.
[[nodiscard]] std::vector<SharedGraph> repeating_graphs(const IterationGraph& graph);

/// Mean compute time of an iteration on a rank of the first role, in seconds.
[[nodiscard]] double mean_compute_s(const IterationGraph& graph);

}  // namespace contend
