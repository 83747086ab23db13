#pragma once
// Reads profiles of PipeDream (Narayanan et al., SOSP 2019; repository msr-fiddle/pipedream,
// profiler/*/profiles/graph.txt): a directed acyclic graph as text, with lines for nodes and, after a tab, for edges:
//   node10 -- Conv2d(3, 64, ...) -- forward_compute_time=4.423, backward_compute_time=7.197,
//     activation_size=44302336.000, parameter_size=3539968.000    (on the line of the node)
//   <tab>node10 -- node11
// Times are in milliseconds, sizes in bytes of fp32; activation_size may be a list `[a; b]`.
//
// The graph becomes a sequence in topological order: of the nodes that may come next, the one with the smallest number,
// which is the order in which the profiler saw them. Layers are called `node10.Conv2d`. The profile counts data loading
// as forward time of the input: nodes called Input... get no time here, and their origin says so. Activation sizes are
// checked but not used.

#include "traces/layers/layer_options.hpp"

#include <string>
#include <string_view>

namespace contend {

/// Uses batch. Throws InputError with every line that cannot be read, edges between unknown nodes, and a cycle.
[[nodiscard]] TimedModel parse_pipedream(std::string_view text, const std::string& file,
                                         const LayerReadOptions& options = {});

}  // namespace contend
