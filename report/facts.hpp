#pragma once
// What a run simulated, in words and as a drawing.

#include "scenarios/scenario.hpp"

#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Lines for a table: what it is, its value.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> scenario_facts(const Scenario& scenario);

struct TopologyDrawing {
  std::string svg;   ///< empty if it can't be drawn
  std::string note;  ///< a sentence
};
/// The topology; below fidelity `flow`, which has none, the one switch that those fidelities stand for.
[[nodiscard]] TopologyDrawing draw_topology(const Scenario& scenario);

}  // namespace contend
