#pragma once
// Writes down what jobs repeat: graphs.csv of the log of a run (docs/reference/certificate.md).

#include "sim/job.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace contend {

/// The rows of the replica with this seed: the graphs of the jobs whose iterations take as long as the longest path
/// through their graph, each graph once. Left out are jobs whose number of GPUs or pace changes, and graphs in which
/// ranks differ, wait for late ones, queue in channels or do something else in some iterations.
[[nodiscard]] std::string graph_rows(std::uint64_t seed, const Workload& workload);

/// The header of graphs.csv.
[[nodiscard]] std::string_view graphs_header();

}  // namespace contend
