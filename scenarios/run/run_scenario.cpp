#include "scenarios/run/run_scenario.hpp"

#include "models/overlap/volume.hpp"
#include "models/workload.hpp"
#include "network/server_groups.hpp"
#include "policies/placement/pinned.hpp"
#include "scenarios/keys/scheduling_keys.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/job_paces.hpp"
#include "scenarios/run/make_network.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace contend {

Workload scenario_workload(const Scenario& scenario, const std::vector<JobRequest>& jobs) {
  TrainingGraphs graphs{scenario};
  Workload workload = build_workload(
      jobs, [&](const std::string& model, int gpus) { return graphs(model, gpus); }, scenario.cluster.gpus_per_server);
  if (!scenario.cluster.types.empty()) add_paces(scenario, workload);
  return workload;
}

Workload scenario_workload(const Scenario& scenario, std::uint64_t seed, JobLists& lists) {
  return scenario_workload(scenario, scenario_jobs(scenario, seed, lists)->jobs);
}

Workload scenario_workload(const Scenario& scenario, std::uint64_t seed) {
  JobLists lists;
  return scenario_workload(scenario, seed, lists);
}

RunResult run_scenario(const Scenario& scenario, std::uint64_t seed, const RunHooks& hooks) {
  JobLists own;
  return run_workload(scenario, scenario_workload(scenario, seed, hooks.lists != nullptr ? *hooks.lists : own), seed,
                      hooks);
}

namespace {

std::unique_ptr<Simulation> make_simulation(const Scenario& scenario, Workload workload, std::uint64_t seed,
                                            const RunHooks& hooks, std::unique_ptr<PlacementPolicy> placement) {
  const AlphaBeta cost = network_cost(scenario.network);
  const bool flow = scenario.network.fidelity == Fidelity::flow;
  const TimePerByte eta = flow ? TimePerByte{cost.beta.ns_per_byte() * scenario.network.contention_penalty} : cost.eta;
  PolicyContext context{seed, cost.beta, eta};
  if (flow) context.server_groups = [&] { return server_groups(build_topology(scenario)); };
  if (!placement) placement = make_policy(placement_policies(), scenario.placement, context);
  if (!workload.places.empty()) placement = make_pinned_placement(workload.places, std::move(placement));
  const std::size_t jobs = workload.jobs.size();
  auto network = make_network(scenario, seed, jobs);
  PolicySet policies{make_policy(scheduling_policies(), scenario.scheduling, context),
                     std::move(placement),
                     make_policy(communication_policies(), scenario.communication, context),
                     scenario.scheduling.name,
                     scenario.placement.name,
                     scenario.communication.name};
  SimulationOptions options;
  options.leap = scenario.engine.leap;
  options.until = scenario.engine.until.value_or(Time::never());
  options.window = measured_window(scenario);
  options.observer = hooks.observer;
  options.monitor = hooks.monitor;
  options.rules = scheduling_rules(scenario);
  options.interference = interference_of(scenario.network);
  options.decisions = hooks.decisions;
  const ClusterSpec cluster = cluster_spec(scenario, workload);
  return std::make_unique<Simulation>(cluster, std::move(workload), std::move(policies), std::move(network),
                                      std::move(options));
}

}  // namespace

RunResult run_workload(const Scenario& scenario, Workload workload, std::uint64_t seed, const RunHooks& hooks,
                       std::unique_ptr<PlacementPolicy> placement) {
  const auto simulation = make_simulation(scenario, std::move(workload), seed, hooks, std::move(placement));
  RunResult result = simulation->run();
  const Workload& ran = simulation->workload();
  if (ran.graphs.empty()) return result;
  std::map<std::pair<std::size_t, int>, IterationTraffic> known;  // by graph and ranks on a server
  for (JobResult& job : result.jobs) {
    const JobSpec& spec = ran.jobs[job.id.index()];
    if (spec.duration || job.start == Time::never()) continue;
    const int per_server = (job.gpus + job.servers - 1) / job.servers;
    const auto [traffic, is_new] = known.try_emplace({spec.graph, per_server});
    if (is_new) traffic->second = iteration_traffic(ran.graphs[spec.graph], per_server);
    job.traffic = traffic->second;
    if (spec.graph < ran.notes.size()) job.notes = ran.notes[spec.graph];
    if (spec.pace >= 0) job.notes = {.bound = {}, .stale = job.notes.stale, .work = {}};  // they are of one device
  }
  return result;
}

std::vector<std::string> why_never_start(const Scenario& scenario, Workload workload) {
  return make_simulation(scenario, std::move(workload), scenario.seed, {}, nullptr)->why_never_start();
}

}  // namespace contend
