#include "validate/run_jobs.hpp"

#include "network/alpha_beta.hpp"
#include "policies/registry.hpp"
#include "sim/check.hpp"
#include "sim/simulation.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace contend {

namespace {

template <class Port>
std::unique_ptr<Port> make(std::span<const PolicyRow<Port>> table, const PolicyChoice& choice,
                           const PolicyContext& context) {
  for (const PolicyRow<Port>& row : table) {
    if (row.name == choice.name) return row.make(choice.parameters, context);
  }
  check_failed(__FILE__, __LINE__, "a scenario names policies of the tables", choice.name);
}

}  // namespace

RunResult run_jobs(const Scenario& scenario, Workload workload, std::uint64_t seed,
                   std::unique_ptr<PlacementPolicy> placement) {
  CONTEND_CHECK(scenario.network.beta && scenario.network.eta, "the scenario gives beta and eta");
  const AlphaBeta cost{scenario.network.alpha, *scenario.network.beta, *scenario.network.eta, scenario.network.tick};
  const PolicyContext context{seed, cost.beta, cost.eta};
  if (!placement) placement = make(placement_policies(), scenario.placement, context);
  const auto servers = static_cast<std::size_t>(scenario.cluster.servers);
  const std::size_t jobs = workload.jobs.size();
  auto network = scenario.network.fidelity == Fidelity::analytic ? make_analytic_network(cost, servers, jobs)
                                                                 : make_contention_network(cost, servers, jobs);
  SimulationOptions options;
  options.leap = scenario.engine.leap;
  Simulation simulation{{scenario.cluster.servers, scenario.cluster.gpus_per_server, scenario.cluster.gpu_memory},
                        std::move(workload),
                        {make(scheduling_policies(), scenario.scheduling, context), std::move(placement),
                         make(communication_policies(), scenario.communication, context), scenario.scheduling.name,
                         scenario.placement.name, scenario.communication.name},
                        std::move(network),
                        std::move(options)};
  return simulation.run();
}

}  // namespace contend
