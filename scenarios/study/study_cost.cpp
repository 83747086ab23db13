#include "scenarios/study/study_cost.hpp"

#include "scenarios/run/network_costs.hpp"
#include "scenarios/study/study_check.hpp"
#include "sim/error.hpp"

#include <utility>
#include <vector>

namespace contend {

ExchangeCost study_cost(const TrainingSystem& system, int workers, const PeerRule& peers) {
  const NetworkSetup& network = system.network;
  std::vector<Complaint> complaints = study_complaints(system);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  const JobShape shape = first_shape(system.cluster, network, workers);
  JobExchange exchange = exchange_of(system.overlap.entry);
  exchange.peers = peers;
  ExchangeCost cost = CostTable{network, system.seed}.of(shape, exchange);
  cost.interference = interference_of(network, system.overlap, system.training, path_of(shape.servers));
  return cost;
}

OverlapProblem study_problem(const TrainingSystem& system, const TimedModel& model, int workers) {
  return overlap_problem(model, workers, study_cost(system, workers), system.overlap.entry.granularity);
}

}  // namespace contend
