#include "scenarios/run/lone_job.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/check.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"

#include <cstdint>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

/// The cluster and the network without all that keeps a job from its GPUs or stops it: a job that has them to itself is
/// on servers that nobody else owns, lends, keeps as spares or repairs, and saves nothing.
Scenario undisturbed(Scenario scenario) {
  const Scenario usual = default_scenario();
  scenario.failures = {};
  scenario.checkpoints = {};
  scenario.loans = {};
  scenario.sharing = {};
  scenario.cluster.vcs.clear();
  scenario.network.events.reset();
  scenario.network.delays = false;
  scenario.scheduling = usual.scheduling;
  scenario.rules = usual.rules;
  scenario.placement = usual.placement;
  scenario.engine.until.reset();
  scenario.measure = {};
  return scenario;
}

Time end_of(const Scenario& scenario, const JobRequest& job, const IterationGraph* graph) {
  Workload workload = scenario_workload(scenario, {job});
  if (graph != nullptr) workload.graphs.front() = *graph;
  const RunResult result = run_workload(scenario, std::move(workload), scenario.seed);
  CONTEND_CHECK(result.jobs.front().finish != Time::never(), "a job that has the cluster to itself ends");
  return result.jobs.front().finish;
}

Time settled_iteration(const Scenario& scenario, const std::string& model, int gpus, const IterationGraph* graph) {
  const std::int64_t there = std::int64_t{scenario.cluster.servers} * scenario.cluster.gpus_per_server;
  if (gpus > there) throw InputError{fmt::format("{}: the cluster has {}", counted(gpus, "GPU"), there)};
  const Scenario alone = undisturbed(scenario);
  JobRequest job;
  job.name = model;
  job.model = model;
  job.gpus = gpus;
  const int per_server = scenario.cluster.gpus_per_server;
  for (int first = 0; first < gpus; first += per_server) {
    const int last = std::min(gpus - first, per_server) - 1;
    job.place.push_back({static_cast<std::uint32_t>(first / per_server), 0, static_cast<std::uint32_t>(last)});
  }
  // The first iterations lack what others leave for them, such as weights that are gathered.
  constexpr std::int64_t kSettled = 3;
  job.iterations = kSettled;
  const Time before = end_of(alone, job, graph);
  ++job.iterations;
  return end_of(alone, job, graph) - before;
}

}  // namespace

Time lone_iteration(const Scenario& scenario, const std::string& model, int gpus) {
  return settled_iteration(scenario, model, gpus, nullptr);
}

Time lone_iteration(const Scenario& scenario, const std::string& model, int gpus, const IterationGraph& graph) {
  return settled_iteration(scenario, model, gpus, &graph);
}

}  // namespace contend
