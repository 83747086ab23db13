#include "scenarios/run/islands.hpp"

#include "scenarios/run/cost_formulas.hpp"

#include <cstddef>

#include <fmt/core.h>

namespace contend {

std::vector<int> islands_of_servers(const ClusterSetup& cluster, const NetworkSetup& network) {
  std::vector<int> islands;
  if (network.islands.empty()) return islands;
  for (std::size_t island = 0; island < network.islands.size(); ++island)
    islands.insert(islands.end(), static_cast<std::size_t>(network.islands[island].servers), static_cast<int>(island));
  islands.resize(static_cast<std::size_t>(cluster.servers), kNoIsland);
  return islands;
}

std::vector<Complaint> island_complaints(const ClusterSetup& cluster, const NetworkSetup& network,
                                         const IterationStudy& study) {
  std::vector<Complaint> complaints;
  if (network.islands.empty()) return complaints;
  std::int64_t servers = 0;
  for (const NetworkSetup::Island& each : network.islands) servers += each.servers;
  if (!study.given() && servers > cluster.servers)
    complaints.push_back(
        {.key = "network.islands",
         .reason = fmt::format("they have {} servers, and the cluster has {}", servers, cluster.servers)});
  const CostFormula& formula = cost_formula(network);
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

std::vector<std::vector<std::uint32_t>> island_groups(const ClusterSetup& cluster, const NetworkSetup& network) {
  const std::vector<int> islands = islands_of_servers(cluster, network);
  if (islands.empty()) return {};
  std::vector<std::vector<std::uint32_t>> tiers(2);
  const auto others = static_cast<std::uint32_t>(network.islands.size());
  for (const int island : islands) {
    tiers.front().push_back(island == kNoIsland ? others : static_cast<std::uint32_t>(island));
    tiers.back().push_back(0);
  }
  return tiers;
}

}  // namespace contend
