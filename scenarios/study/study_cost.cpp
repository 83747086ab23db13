#include "scenarios/study/study_cost.hpp"

#include "models/overlap/link_cost.hpp"
#include "scenarios/run/run_scenario.hpp"
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
  ExchangeCost cost = link_cost(links, study.gamma, peers, scenario.seed);
  cost.penalty = study.two_at_once.value_or(kFairSharing) - 2;
  cost.interference = interference_of(scenario.network);
  return cost;
}

}  // namespace

ExchangeCost study_cost(const Scenario& scenario, int workers, const PeerRule& peers) {
  const IterationStudy& study = scenario.overlap;
  if (study.links && workers > 1) return cost_on_links(scenario, workers, peers);
  const AlphaBeta network = network_cost(scenario.network);
  const ChannelCost link{network.alpha, network.beta, study.gamma};
  const bool server = study.exchange == ExchangeKind::parameter_server;
  std::vector<Complaint> complaints = study_complaints(scenario);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  ExchangeCost cost;
  if (server) {
    const int servers = study.servers.value_or(workers);
    cost = ExchangeCost::parameter_server(workers, servers, study.colocated, link);
  } else if (study.formula == ExchangeFormula::measured) {
    const LinearCost all_reduce{network.alpha, network.beta};
    cost = workers > 1 ? ExchangeCost::measured(all_reduce, workers) : ExchangeCost::measured(all_reduce);
  } else if (study.per_server > 1) {
    const IterationStudy::Inside& inside = study.inside;
    const TimePerByte beta = inside.beta ? *inside.beta : TimePerByte{1e9 / inside.bandwidth->bytes_per_second()};
    const int per_server = std::min(study.per_server, workers);
    cost = ExchangeCost::two_level(workers / per_server, per_server, {study.inside.alpha, beta, study.gamma}, link);
  } else {
    cost = study.formula == ExchangeFormula::ring ? ExchangeCost::ring(workers, link)
                                                  : ExchangeCost::halving_doubling(workers, link);
  }
  const bool shares = scenario.network.fidelity == Fidelity::contention;
  const double penalty = shares ? network.eta.ns_per_byte() / network.beta.ns_per_byte() : -1;
  cost.penalty = study.two_at_once ? *study.two_at_once - 2 : penalty;
  cost.interference = interference_of(scenario.network);
  return cost;
}

OverlapProblem study_problem(const Scenario& scenario, const TimedModel& model, int workers) {
  return overlap_problem(model, workers, study_cost(scenario, workers), scenario.overlap.granularity);
}

}  // namespace contend
