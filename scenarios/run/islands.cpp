#include "scenarios/run/islands.hpp"

#include "scenarios/run/network_costs.hpp"

#include <cstddef>

#include <fmt/core.h>

namespace contend {

std::vector<int> islands_of_servers(const Scenario& scenario) {
  std::vector<int> islands;
  if (scenario.network.islands.empty()) return islands;
  for (std::size_t island = 0; island < scenario.network.islands.size(); ++island)
    islands.insert(islands.end(), static_cast<std::size_t>(scenario.network.islands[island].servers),
                   static_cast<int>(island));
  islands.resize(static_cast<std::size_t>(scenario.cluster.servers), kNoIsland);
  return islands;
}

std::vector<Complaint> island_complaints(const Scenario& scenario) {
  std::vector<Complaint> complaints;
  if (scenario.network.islands.empty()) return complaints;
  std::int64_t servers = 0;
  for (const NetworkSetup::Island& each : scenario.network.islands) servers += each.servers;
  if (!scenario.overlap.given() && servers > scenario.cluster.servers)
    complaints.push_back(
        {.key = "network.islands",
         .reason = fmt::format("they have {} servers, and the cluster has {}", servers, scenario.cluster.servers)});
  const CostFormula& formula = cost_formula(scenario);
  if (formula.basis != CostBasis::link)
    complaints.push_back(
        {.key = "network.islands",
         .reason = fmt::format("say the rates of links, and with network.formula: {} the link does not say what "
                               "collectives take",
                               formula.name),
         .hint = "network.nic and network.formula: ring"});
  return complaints;
}

int island_of_first(const NetworkSetup& network, int servers) {
  const bool has_all = !network.islands.empty() && network.islands.front().servers >= servers;
  return has_all && servers > 1 ? 0 : kNoIsland;
}

std::vector<std::vector<std::uint32_t>> island_groups(const Scenario& scenario) {
  const std::vector<int> islands = islands_of_servers(scenario);
  if (islands.empty()) return {};
  std::vector<std::vector<std::uint32_t>> tiers(2);
  const auto others = static_cast<std::uint32_t>(scenario.network.islands.size());
  for (const int island : islands) {
    tiers.front().push_back(island == kNoIsland ? others : static_cast<std::uint32_t>(island));
    tiers.back().push_back(0);
  }
  return tiers;
}

}  // namespace contend
