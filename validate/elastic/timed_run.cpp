#include "validate/elastic/timed_run.hpp"

#include "network/alpha_beta.hpp"
#include "scenarios/run/make_policy.hpp"
#include "sim/simulation.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace contend {

namespace {

template <class Port>
std::unique_ptr<Port> made(std::span<const PolicyRow<Port>> table, const std::string& name,
                           const PolicyValues& parameters) {
  PolicyValues values;
  for (const PolicyRow<Port>& row : table) {
    if (row.name != name) continue;
    for (const ParameterInfo& parameter : row.parameters) {
      const auto given = std::ranges::find(parameters, parameter.name, &std::pair<std::string, ParameterValue>::first);
      values.emplace_back(parameter.name,
                          given != parameters.end() ? given->second : ParameterValue{parameter.default_value});
    }
  }
  return make_policy(table, {name, Parameters{std::move(values)}}, {});
}

}  // namespace

RunResult run_timed(const ClusterSpec& cluster, Workload workload, const std::string& policy,
                    const PolicyValues& parameters, double restart_s, GpuSharing sharing, bool foresees_batches) {
  SimulationOptions options;
  options.sharing = std::move(sharing);
  options.rules.foresees_batches = foresees_batches;
  options.rules.preemption.restart = Time::ceil_nanoseconds(restart_s * 1e9);
  PolicySet policies{made(scheduling_policies(), policy, parameters),
                     made(placement_policies(), "first-fit", {}),
                     made(communication_policies(), "srsf", {}),
                     policy,
                     "first-fit",
                     "srsf"};
  const std::size_t jobs = workload.jobs.size();
  AlphaBeta link;  // jobs with a duration send nothing over it
  link.beta = TimePerByte{1.0};
  Simulation simulation{cluster, std::move(workload), std::move(policies),
                        make_analytic_network(link, static_cast<std::size_t>(cluster.servers), jobs),
                        std::move(options)};
  return simulation.run();
}

}  // namespace contend
