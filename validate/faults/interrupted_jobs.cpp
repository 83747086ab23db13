#include "validate/faults/interrupted_jobs.hpp"

#include "policies/registry.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/make_network.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/scenario.hpp"
#include "sim/simulation.hpp"

#include <utility>

#include <fmt/format.h>

namespace contend {

RunResult run_interrupted(const InterruptedJobs& what, std::uint64_t seed) {
  const Scenario scenario =
      parse_scenario(fmt::format("schema_version: 1\ncluster: {{servers: {}, gpus_per_server: {}}}\n"
                                 "policies: {{scheduling: fifo, placement: first-fit}}\n{}",
                                 what.servers, what.gpus_per_server, what.keys),
                     "validate faults");
  Workload workload;
  for (int j = 0; j < what.jobs; ++j) {
    JobSpec job;
    job.name = fmt::format("job{}", j);
    job.duration = what.work;
    job.gpus = what.gpus;
    workload.jobs.push_back(std::move(job));
  }
  return run_workload(scenario, std::move(workload), seed);
}

RunResult run_interrupted(const InterruptedTraining& what) {
  Workload workload;
  workload.graphs.push_back(graph_from_text(what.graph));
  JobSpec job;
  job.name = "job";
  job.gpus = what.gpus;
  job.iterations = what.iterations;
  job.layout = what.layout;
  workload.jobs.push_back(std::move(job));
  const Scenario scenario = parse_scenario(
      fmt::format("schema_version: 1\ncluster: {{servers: {}, gpus_per_server: {}}}\nnetwork: {{nic: 8Gbps}}\n"
                  "policies: {{scheduling: fifo, placement: first-fit}}\n",
                  what.servers, what.gpus_per_server),
      "validate faults");
  PolicySet policies{make_policy(scheduling_policies(), scenario.scheduling, {}),
                     make_policy(placement_policies(), scenario.placement, {}),
                     make_policy(communication_policies(), scenario.communication, {}),
                     scenario.scheduling.name,
                     scenario.placement.name,
                     scenario.communication.name};
  SimulationOptions options;
  options.failures = what.failures;
  options.rules.preemption = what.costs;
  ClusterSpec cluster;
  cluster.servers = what.servers;
  cluster.gpus_per_server = what.gpus_per_server;
  cluster.gpu_memory = scenario.cluster.gpu_memory;
  Simulation simulation{cluster, std::move(workload), std::move(policies),
                        make_network(scenario.cluster, scenario.network, scenario.failures, 1, 1), std::move(options)};
  return simulation.run();
}

double effective_share(const RunResult& result) {
  return summarise(result).effective_time;
}

}  // namespace contend
