#pragma once
// Describes what a run simulates, in words and as a drawing.

#include "scenarios/scenario.hpp"

#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Lines for a table: a name and its value.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> scenario_facts(const Scenario& scenario);

struct TopologyDrawing {
  std::string svg;   ///< empty if it cannot be drawn
  std::string note;  ///< sentences
};
/// Draws the topology. Fidelities below `flow` have none; for these it draws the single switch that they imply.
[[nodiscard]] TopologyDrawing draw_topology(const ClusterSetup& cluster, const NetworkSetup& network,
                                            const IterationStudy& study);

/// A sentence about topologies of servers with unequal numbers of GPUs; empty if all servers have as many.
[[nodiscard]] std::string unequal_servers_note(const ClusterSetup& cluster);

}  // namespace contend
