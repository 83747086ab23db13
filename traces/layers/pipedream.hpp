#pragma once
// Profiles of PipeDream (Narayanan et al., SOSP 2019; repository msr-fiddle/pipedream, profiler/*/profiles/graph.txt).
// A directed acyclic graph as text, nodes first or mixed with edges, which begin with a tab:
//   node10 -- Conv2d(3, 64, ...) -- forward_compute_time=4.423, backward_compute_time=7.197,
//   activation_size=44302336.000, parameter_size=3539968.000 <tab>node10 -- node11
// Times in milliseconds, sizes in bytes of fp32; activation_size may be a list `[a; b]`.
//
// The graph becomes a sequence in topological order: among the nodes that may come next, the one with the smallest
// number, which is the order in which the profiler saw them. Layers are called `node10.Conv2d`. The profile counts data
// loading as forward time of the input: nodes called Input... take no time here, and their origin says so. Activation
// sizes are checked and not kept.

#include "traces/layers/layer_options.hpp"

#include <string>
#include <string_view>

namespace contend {

/// Takes batch. Throws InputError with every line that can't be read, edges between unknown nodes, and a cycle.
[[nodiscard]] TimedModel parse_pipedream(std::string_view text, const std::string& file,
                                         const LayerReadOptions& options = {});

}  // namespace contend
