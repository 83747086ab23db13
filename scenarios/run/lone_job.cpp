#include "scenarios/run/lone_job.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/run/lone_work.hpp"
#include "scenarios/run/rounds_kept.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/check.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"

#include <cmath>
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

constexpr std::int64_t kFirst = 3;  // iterations in front of the first one that may have settled

/// What an iteration takes in the long run, of a job of which `end_after` says when so many iterations end, or never.
/// The first iterations lack what others leave for them, such as weights that are gathered, or a host has less to wait
/// for. An iteration counts if as many behind it as lead to its end take as long; of a job whose iterations go on to
/// differ, the mean of many of them.
template <class EndAfter>
Time settled_iteration(const EndAfter& end_after) {
  constexpr std::int64_t kMost = 32;  // iterations in front of the last one that is looked at
  constexpr double kEqual = 1e-6;     // times are whole nanoseconds
  std::int64_t before = kFirst;
  Time begin = end_after(before);
  while (true) {
    const std::int64_t behind = before + 1;
    const Time end = begin != Time::never() ? end_after(behind) : begin;
    const Time last = end != Time::never() ? end_after(behind + behind) : end;
    if (last == Time::never()) return last;
    const Time one = end - begin, more = last - end;
    const auto expected = static_cast<double>(one.ns()) * static_cast<double>(behind);
    if (std::abs(static_cast<double>(more.ns()) - expected) <= kEqual * expected) return one;
    if (before >= kMost) return Time::nanoseconds(more.ns() / behind);
    before = behind + behind;
    begin = last;
  }
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
  job.iterations = kFirst;
  return leaping_rounds(undisturbed(system), [&](const Scenario& alone) {
    Workload workload = workload_of(alone, alone.workload, {job});
    if (graph) workload.graphs.front() = *graph;
    const std::int64_t added = workload.jobs.front().iterations - kFirst;  // that complete what others began
    return settled_iteration([&](std::int64_t iterations) {
      workload.jobs.front().iterations = iterations + added;
      return end_of(alone, workload, goes_on);
    });
  });
}

}  // namespace contend
