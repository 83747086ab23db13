#include "scenarios/study/study_cost.hpp"

#include "models/overlap/link_cost.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/study/study_check.hpp"
#include "sim/error.hpp"
#include "traces/link_matrix_csv.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace contend {

ExchangeCost study_cost(const TrainingSystem& system, int workers, const PeerRule& peers) {
  const NetworkSetup& network = system.network;
  const auto with_interference = [&](ExchangeCost cost, int servers) {
    cost.interference = interference_of(network, system.overlap, system.training, path_of(servers));
    return cost;
  };
  if (network.sites && workers > 1) {
    const LinkMatrix sites = read_sites(network).first(static_cast<std::size_t>(workers));
    return with_interference(exchange_cost(network, sites, peers, system.seed), workers);
  }
  std::vector<Complaint> complaints = study_complaints(system);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  const int per_server = std::min(system.cluster.gpus_per_server, workers);
  JobShape shape{workers, workers / per_server, per_server};
  shape.island = island_of_first(network, shape.servers);
  return with_interference(exchange_cost(network, with_servers(exchange_of(system.overlap.entry), shape)),
                           shape.servers);
}

OverlapProblem study_problem(const TrainingSystem& system, const TimedModel& model, int workers) {
  return overlap_problem(model, workers, study_cost(system, workers), system.overlap.entry.granularity);
}

}  // namespace contend
