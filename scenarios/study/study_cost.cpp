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
namespace {

ExchangeCost cost_on_links(const Scenario& scenario, int workers, const PeerRule& peers) {
  constexpr double kFairSharing = 2;
  const IterationStudy& study = scenario.overlap;
  const LinkMatrix links = read_link_matrix(*study.links).first(static_cast<std::size_t>(workers));
  ExchangeCost cost = link_cost(links, scenario.network.gamma, peers, scenario.seed);
  cost.penalty = study.two_at_once.value_or(kFairSharing) - 2;
  cost.interference = interference_of(scenario, TransferPath::between);
  return cost;
}

}  // namespace

ExchangeCost study_cost(const Scenario& scenario, int workers, const PeerRule& peers) {
  const IterationStudy& study = scenario.overlap;
  if (study.links && workers > 1) return cost_on_links(scenario, workers, peers);
  std::vector<Complaint> complaints = study_complaints(scenario);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  const int per_server = std::min(study.per_server, workers);
  JobShape shape{workers, workers / per_server, per_server};
  if (study.exchange == ExchangeKind::parameter_server) {
    shape.parameter_servers = study.servers.value_or(workers);
    shape.colocated = study.colocated;
  }
  ExchangeCost cost = exchange_cost(scenario, shape);
  if (study.two_at_once) {
    cost.penalty = *study.two_at_once - 2;
    cost.measured_beta = {};
  }
  return cost;
}

OverlapProblem study_problem(const Scenario& scenario, const TimedModel& model, int workers) {
  return overlap_problem(model, workers, study_cost(scenario, workers), scenario.overlap.granularity);
}

}  // namespace contend
