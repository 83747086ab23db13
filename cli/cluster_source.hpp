#pragma once
// The cluster of a command line: a scenario, or the files of a cluster, of which a scenario is made in memory.

#include "cli/command.hpp"
#include "models/workload.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"
#include "traces/cluster/snapshot_scenario.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace contend {

class ClusterSource {
 public:
  /// `path` is a scenario or a folder, whose options are `now` and `limit`. Throws UsageError for one of them with a
  /// scenario, and InputError as read_snapshot() and scenario_of() do.
  ClusterSource(const Arguments& arguments, const std::string& path);

  /// The scenario with the overrides of `set`, and `more` on top, which `more_option` gave.
  [[nodiscard]] Scenario load(const std::vector<std::string>& more, const std::string& more_option) const;
  /// Jobs of a log of the cluster have the types of its servers on which jobs of their partition run.
  void fit(std::vector<JobRequest>& jobs) const;
  /// Reads the lists that its scenarios name, each once. `texts` are lists in memory, by path; they must outlive it.
  [[nodiscard]] JobLists lists(const std::map<std::string, std::string>& texts) const;

 private:
  const Arguments& arguments_;
  std::string path_;
  std::optional<SnapshotScenario> snapshot_;
};

}  // namespace contend
