#pragma once
// The one builder: turns a Scenario into a Simulation and runs it.

#include "models/layers.hpp"
#include "network/link_use.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"
#include "sim/ports.hpp"
#include "sim/result.hpp"
#include "sim/simulation.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace contend {

struct RunLogs;

/// Iterations of the first variant of a study that an observer sees, run as the job of a cluster.
inline constexpr std::int64_t kObservedIterations = 10;
/// The numbers of GPUs of the servers that an observer of a run of the scenario sees.
[[nodiscard]] std::vector<std::size_t> observed_gpus(const ClusterSetup& cluster, const NetworkSetup& network,
                                                     const IterationStudy& study);

struct RunHooks {
  Observer* observer = nullptr;                  ///< turns leaping off
  std::function<bool(const Progress&)> monitor;  ///< false interrupts the run
  DecisionObserver* decisions = nullptr;         ///< sees every decision about a job
  /// Gets the log of the run (results/run_logs.hpp); its recorder takes the place of `decisions`.
  RunLogs* logs = nullptr;
  std::optional<JobId> watched{};     ///< a job whose delays are written down, where the network has any
  TakeLinkUses link_uses{};           ///< gets what jobs sent over the links of the fabric
  TakeStalls stalls{};                ///< gets the transfers that stand still at the end
  unsigned threads = 1;               ///< of an iteration study; it does not change the result
  const TimedModel* model = nullptr;  ///< of an iteration study: takes the place of study_model()
  JobLists* lists = nullptr;          ///< where the job list comes from; without, the run reads its own
  /// Gets the reason if a policy outside of the program fails; the run then returns what was simulated until then.
  /// Without it, the run throws InputError.
  std::string* failure = nullptr;
};

/// The jobs of the replica with this seed; a job list comes from `lists` if that is given. Throws InputError, e.g. for
/// a job list that can't be read.
[[nodiscard]] Workload scenario_workload(const Scenario& scenario, std::uint64_t seed, JobLists* lists = nullptr);
/// The workload of these jobs, in their order.
[[nodiscard]] Workload workload_of(const TrainingSystem& system, const WorkloadSetup& setup,
                                   const std::vector<JobRequest>& jobs);

/// Runs one replica of the scenario with this seed. Throws InputError, e.g. for a job list that can't be read.
RunResult run_scenario(const Scenario& scenario, std::uint64_t seed, const RunHooks& hooks = {});

/// The same with jobs that are given in code; the scenario's own workload is not looked at. `placement`, if given,
/// takes the place of the scenario's placement policy.
RunResult run_workload(const Scenario& scenario, Workload workload, std::uint64_t seed, const RunHooks& hooks = {},
                       std::unique_ptr<PlacementPolicy> placement = nullptr);

/// By job of the workload: the reason why it can never start under the policies of the scenario, or an empty text.
[[nodiscard]] std::vector<std::string> why_never_start(const Scenario& scenario, Workload workload);

}  // namespace contend
