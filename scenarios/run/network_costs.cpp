#include "scenarios/run/network_costs.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace contend {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

TimePerByte at_rate(ByteRate rate) {
  return TimePerByte{kNanosecondsPerSecond / rate.bytes_per_second()};
}

/// The costs of transfers, kept by shape.
class CostsByShape {
 public:
  explicit CostsByShape(const Scenario& scenario)
      : scenario_{scenario},
        whole_{network_cost(scenario.network)},
        formula_{cost_formula(scenario)},
        on_server_(static_cast<std::size_t>(scenario.cluster.servers)) {}

  TransferCost operator()(const TransferRequest& request) {
    const bool is_whole = request.scope == CollectiveScope::all && request.collective == CollectiveKind::all_reduce;
    if (formula_ == CostFormula::measured && is_whole) return {whole_.alpha, whole_.beta, whole_.eta};
    const JobShape shape = shape_of(request);
    const auto known = costs_.find(shape);
    const ExchangeCost& cost =
        known != costs_.end() ? known->second : costs_.emplace(shape, exchange_cost(scenario_, shape)).first->second;
    return cost.transfer(request.collective, request.scope, request.bytes);
  }

 private:
  JobShape shape_of(const TransferRequest& request) {
    JobShape shape{static_cast<int>(request.gpus.size()), 0, 0};
    const auto server_of = [&](GpuId gpu) {
      return gpu.index() / static_cast<std::size_t>(scenario_.cluster.gpus_per_server);
    };
    for (const GpuId gpu : request.gpus) {
      int& ranks = on_server_[server_of(gpu)];
      if (++ranks == 1) ++shape.servers;
      shape.per_server = std::max(shape.per_server, ranks);
    }
    for (const GpuId gpu : request.gpus) on_server_[server_of(gpu)] = 0;
    return shape;
  }

  Scenario scenario_;
  AlphaBeta whole_;
  CostFormula formula_;
  std::vector<int> on_server_;  // ranks of one request
  std::map<JobShape, ExchangeCost> costs_;
};

}  // namespace

AlphaBeta network_cost(const Scenario::Network& network) {
  AlphaBeta cost;
  cost.alpha = network.alpha;
  CONTEND_CHECK(network.beta || network.nic, "a scenario says how fast a network interface is");
  cost.beta = network.beta ? *network.beta : at_rate(*network.nic);
  cost.eta = network.eta.value_or(TimePerByte{cost.beta.ns_per_byte() * kEtaOverBeta});
  cost.tick = network.tick;
  return cost;
}

Interference interference_of(const Scenario::Network& network) {
  const auto millionths = [](double factor) { return static_cast<std::int64_t>(std::llround(factor * 1e6)); };
  return {millionths(network.interference.compute), millionths(network.interference.network)};
}

CostFormula cost_formula(const Scenario& scenario) {
  const Scenario::Network& network = scenario.network;
  if (network.formula != CostFormula::automatic) return network.formula;
  return network.beta && !scenario.overlap.given() ? CostFormula::measured : CostFormula::ring;
}

std::string_view to_string(CostFormula formula) {
  switch (formula) {
    case CostFormula::automatic:
      return "auto";
    case CostFormula::ring:
      return "ring";
    case CostFormula::halving_doubling:
      return "halving-doubling";
    case CostFormula::measured:
      return "measured";
  }
  check_failed(__FILE__, __LINE__, "a formula", "unknown");
}

ChannelCost inside_cost(const Scenario::Network& network) {
  ChannelCost cost{network.inside.alpha, {}, network.gamma};
  if (network.inside.beta) cost.beta = *network.inside.beta;
  if (network.inside.bandwidth) cost.beta = at_rate(*network.inside.bandwidth);
  return cost;
}

ExchangeCost exchange_cost(const Scenario& scenario, const JobShape& shape) {
  const AlphaBeta network = network_cost(scenario.network);
  const ChannelCost link{network.alpha, network.beta, scenario.network.gamma};
  ExchangeCost cost;
  switch (cost_formula(scenario)) {
    case CostFormula::measured: {
      const LinearCost all_reduce{network.alpha, network.beta};
      cost = shape.ranks > 1 ? ExchangeCost::measured(all_reduce, shape.ranks) : ExchangeCost::measured(all_reduce);
      break;
    }
    case CostFormula::halving_doubling:
      cost = ExchangeCost::halving_doubling(shape.ranks, link);
      break;
    case CostFormula::ring:
    case CostFormula::automatic:
      cost = ExchangeCost::two_level(shape.ranks, shape.servers, shape.per_server, inside_cost(scenario.network), link);
      break;
  }
  const bool shares = scenario.network.fidelity == Fidelity::contention;
  cost.penalty = shares ? network.eta.ns_per_byte() / network.beta.ns_per_byte() : -1;
  if (shares) {
    cost.measured_beta = network.beta;
    cost.measured_eta = network.eta;
  }
  cost.interference = interference_of(scenario.network);
  return cost;
}

AlphaBeta transfer_costs(const Scenario& scenario) {
  AlphaBeta cost = network_cost(scenario.network);
  const auto each = std::make_shared<CostsByShape>(scenario);
  cost.each = [each](const TransferRequest& request) { return (*each)(request); };
  cost.carries_inside = scenario.network.inside.given();
  return cost;
}

}  // namespace contend
