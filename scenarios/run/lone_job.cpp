#include "scenarios/run/lone_job.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/run/lone_work.hpp"
#include "scenarios/run/rounds_kept.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/check.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

/// The run of a job that has the cluster to itself: nobody else owns, lends, keeps as spares or repairs the servers,
/// and nothing is saved.
Scenario undisturbed(const TrainingSystem& system) {
  Scenario scenario = default_scenario();
  static_cast<TrainingSystem&>(scenario) = system;
  scenario.cluster.vcs.clear();
  scenario.cluster.levels.clear();
  scenario.network.events.reset();
  scenario.network.delays = false;
  return scenario;
}

Time end_of(const Scenario& scenario, Workload workload, const GoesOn& goes_on) {
  RunHooks hooks;
  if (goes_on) hooks.monitor = [&](const Progress&) { return goes_on(); };
  const RunResult result = run_workload(scenario, std::move(workload), scenario.seed, hooks);
  const Time end = result.jobs.front().finish;
  CONTEND_CHECK(end != Time::never() || goes_on, "a job that has the cluster to itself ends");
  return end;
}

JobRequest on_first_gpus(const TrainingSystem& system, const std::string& model, int gpus) {
  const std::int64_t there = std::int64_t{system.cluster.servers} * system.cluster.gpus_per_server;
  if (gpus > there) throw InputError{fmt::format("{}: the cluster has {}", counted(gpus, "GPU"), there)};
  JobRequest job;
  job.name = model;
  job.model = model;
  job.gpus = gpus;
  const int per_server = system.cluster.gpus_per_server;
  for (int first = 0; first < gpus; first += per_server) {
    const int last = std::min(gpus - first, per_server) - 1;
    job.place.push_back({static_cast<std::uint32_t>(first / per_server), 0, static_cast<std::uint32_t>(last)});
  }
  return job;
}

}  // namespace

std::optional<TrainingWork> lone_work(const TrainingSystem& system, const std::string& model, int gpus) {
  JobRequest job = on_first_gpus(system, model, gpus);
  job.iterations = 1;
  const Scenario alone = undisturbed(system);
  const Workload workload = workload_of(alone, alone.workload, {job});
  const std::size_t graph = workload.jobs.front().graph;
  return graph < workload.notes.size() ? workload.notes[graph].work : std::nullopt;
}

Time lone_job(const TrainingSystem& system, const std::string& model, int gpus, std::int64_t iterations,
              const GoesOn& goes_on) {
  JobRequest job = on_first_gpus(system, model, gpus);
  job.iterations = iterations;
  return leaping_rounds(undisturbed(system), [&](const Scenario& alone) {
    return end_of(alone, workload_of(alone, alone.workload, {job}), goes_on);
  });
}

Time lone_iteration(const TrainingSystem& system, const std::string& model, int gpus,
                    const std::optional<IterationGraph>& graph, const GoesOn& goes_on) {
  JobRequest job = on_first_gpus(system, model, gpus);
  // The first iterations lack what others leave for them, such as weights that are gathered.
  constexpr std::int64_t kSettled = 3;
  job.iterations = kSettled;
  return leaping_rounds(undisturbed(system), [&](const Scenario& alone) {
    Workload workload = workload_of(alone, alone.workload, {job});
    if (graph) workload.graphs.front() = *graph;
    const Time before = end_of(alone, workload, goes_on);
    ++workload.jobs.front().iterations;
    const Time end = before != Time::never() ? end_of(alone, std::move(workload), goes_on) : before;
    return end != Time::never() ? end - before : end;
  });
}

}  // namespace contend
