#pragma once
// Formats `contend show --topology`: the parts of a scenario's topology and the bandwidth that it offers.

#include "network/topology_report.hpp"
#include "scenarios/scenario.hpp"

#include <string>

namespace contend {

/// The report as tables for people.
[[nodiscard]] std::string topology_text(const std::string& name, const NetworkSetup& network,
                                        const TopologyReport& report);
/// The report as JSON; bandwidths in bytes per second.
[[nodiscard]] std::string topology_json(const std::string& name, const NetworkSetup& network,
                                        const TopologyReport& report);

}  // namespace contend
