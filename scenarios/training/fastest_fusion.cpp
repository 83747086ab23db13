#include "scenarios/training/fastest_fusion.hpp"

#include "policies/fusion/search.hpp"
#include "policies/registry.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {
namespace {

/// The policies from which the search sets out, with their usual parameters: those that don't change the training.
std::vector<PolicyChoice> starts_of_search() {
  std::vector<PolicyChoice> choices;
  for (const PolicyRow<FusionPolicy>& row : fusion_policies()) {
    if (row.name == kSearchName) continue;
    PolicyChoice choice = default_policy(policy_kind("fusion"), row.name);
    if (make_policy(fusion_policies(), choice, {})->staleness() == 0) choices.push_back(std::move(choice));
  }
  return choices;
}

/// When a job that has the cluster to itself ends its iterations; nothing if it can't run.
std::optional<Time> end_alone(const TrainingSystem& system, const TrainingEntry& entry, int gpus, const TrainedJob& job,
                              std::int64_t iterations) {
  Scenario alone = default_scenario();
  static_cast<TrainingSystem&>(alone) = system;
  alone.cluster.vcs.clear();
  alone.cluster.levels.clear();
  alone.cluster.types.clear();  // TrainingSystem: its servers are of one type
  alone.network.events.reset();
  alone.network.delays = false;
  alone.overlap = {};
  alone.training = {entry};
  alone.placement = default_policy(policy_kind("placement"), "consolidated");
  JobRequest request;
  request.name = request.model = entry.name;
  request.gpus = gpus;
  request.iterations = iterations;
  Workload workload = build_workload(
      {request}, [&](const std::string&, int) { return job; }, system.cluster.gpus_per_server);
  const RunResult result = run_workload(alone, std::move(workload), system.seed);
  if (result.jobs.front().state != JobState::finished) return std::nullopt;
  return result.jobs.front().finish;
}

/// What an iteration takes once the first have left to others what these need, such as weights that are gathered.
std::optional<Time> iteration_alone(const TrainingSystem& system, const TrainingEntry& entry, int gpus,
                                    const TrainedJob& job) {
  constexpr std::int64_t kSettled = 3;
  const std::optional<Time> before = end_alone(system, entry, gpus, job, kSettled);
  if (!before) return std::nullopt;
  return *end_alone(system, entry, gpus, job, kSettled + 1) - *before;
}

}  // namespace

PolicyChoice fastest_fusion(const TrainingSystem& system, const TrainingEntry& entry, int gpus, const EntryJob& make) {
  PolicyChoice best = entry.fusion;
  const TrainedJob searched = make(entry);
  const ClusterSetup& cluster = system.cluster;
  if (gpus > cluster.servers * cluster.gpus_per_server) return best;
  // A plan with a hundred times as many operations, such as slices of 50,000 numbers of a large model, is too dear to
  // run, and too dear to send.
  constexpr std::size_t kMostOps = 100;
  TrainingEntry tried = entry;
  const std::vector<PolicyChoice> starts = starts_of_search();
  tried.fusion = starts.front();  // no part of the run searches again
  std::optional<Time> least = iteration_alone(system, tried, gpus, searched);
  if (!least) return best;
  for (const PolicyChoice& start : starts) {
    tried.fusion = start;
    try {
      const TrainedJob job = make(tried);
      if (job.graph.ops().size() > kMostOps * searched.graph.ops().size()) continue;
      const std::optional<Time> time = iteration_alone(system, tried, gpus, job);
      if (!time || *time >= *least) continue;
      least = time;
      best = start;
    } catch (const InputError&) {
      continue;  // it can't work with this exchange
    }
  }
  return best;
}

}  // namespace contend
