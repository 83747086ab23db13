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

ExchangeCost study_cost(const Scenario& scenario, int workers, const PeerRule& peers) {
  if (scenario.network.sites && workers > 1)
    return exchange_cost(scenario, read_sites(scenario).first(static_cast<std::size_t>(workers)), peers);
  std::vector<Complaint> complaints = study_complaints(scenario);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  const int per_server = std::min(scenario.cluster.gpus_per_server, workers);
  JobShape shape{workers, workers / per_server, per_server};
  shape.island = island_of_first(scenario.network, shape.servers);
  return exchange_cost(scenario, with_servers(exchange_of(scenario.overlap.entry), shape));
}

OverlapProblem study_problem(const Scenario& scenario, const TimedModel& model, int workers) {
  return overlap_problem(model, workers, study_cost(scenario, workers), scenario.overlap.entry.granularity);
}

}  // namespace contend
