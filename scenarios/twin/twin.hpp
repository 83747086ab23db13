#pragma once
// When the jobs that wait in a snapshot of a cluster will start: the snapshot is simulated many times, each time with
// other durations of its jobs and other arrivals behind them.

#include "scenarios/scenario.hpp"
#include "scenarios/twin/run_history.hpp"
#include "traces/job_list.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend {

/// The jobs of a twin. Jobs of `list` with JobRequest::elapsed run at time 0, the others wait then.
struct TwinJobs {
  JobList list;
  RunHistory history{};
  /// Jobs of an earlier time, as they may come behind the list. In a draw they follow each other as they did, from
  /// one of their submissions on, drawn at random; jobs before it come last.
  std::vector<JobRequest> arrivals{};
};

struct TwinOptions {
  std::size_t draws = 200;
  std::uint64_t seed = 1;
  /// In a draw the jobs of a user have common quantiles among the earlier jobs. False: each job has its own.
  bool alike = true;
  unsigned threads = 1;                    ///< they don't change the result
  std::function<bool()> interrupted = {};  ///< true ends the draws, whose result then means nothing
};

/// When a job will start, in seconds from the snapshot on; infinite: never.
struct StartForecast {
  std::size_t job = 0;            ///< of the list
  double by_limits_s = 0;         ///< if all jobs take their limits, and none arrives
  std::vector<double> draws_s{};  ///< rising
  /// The time before which it starts in that share of the draws, 0 to 1; linear between two draws, infinite beside one
  /// in which it never starts.
  [[nodiscard]] double quantile(double share) const;
};

/// Makes jobs of an earlier time jobs of this cluster: a type of GPU that it doesn't have, and a priority of 0, are
/// replaced by the type and the priority of the first job of the list that waits and has the user, else the virtual
/// cluster, else any. Throws InputError for a virtual cluster that the cluster lacks; `file` is for messages.
[[nodiscard]] std::vector<JobRequest> arrivals_like(const ClusterSetup& cluster, const JobList& list,
                                                    std::vector<JobRequest> earlier, const std::string& file);

/// The forecasts of all jobs that wait, in the order of the list, under the policies of the scenario, whose own
/// workload is not looked at. Throws InputError as run_workload() does.
[[nodiscard]] std::vector<StartForecast> forecast_starts(Scenario scenario, const TwinJobs& jobs,
                                                         const TwinOptions& options);

}  // namespace contend
