#pragma once
// `contend show --topology`: what the topology of a scenario is made of and what it can carry.

#include "network/topology_report.hpp"
#include "scenarios/scenario.hpp"

#include <string>

namespace contend {

/// Tables for people.
[[nodiscard]] std::string topology_text(const Scenario& scenario, const TopologyReport& report);
/// The same as JSON; bandwidths in bytes per second.
[[nodiscard]] std::string topology_json(const Scenario& scenario, const TopologyReport& report);

}  // namespace contend
