#pragma once
// Reads a folder that `contend run -o` wrote.

#include "results/column_table.hpp"
#include "scenarios/scenario.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace contend {

struct RunFolder {
  /// One replica: its figures (summary.json) and its entry in the manifest.
  struct Run {
    std::uint64_t seed = 0;
    bool interrupted = false;
    std::map<std::string, double, std::less<>> figures;  ///< by metric name; NaN if there is no value
    std::string fingerprint, digest;                     ///< 16 hexadecimal digits
    double events = 0, leapt_events = 0, wall_s = 0, end_s = 0;
  };

  std::string path;
  bool has_digests = false;  ///< StoredResults::has_digests
  std::string name;          ///< of the scenario, or as name_apart() changed it
  Scenario scenario;
  std::string yaml;  ///< text of the effective scenario
  std::string version, git_hash, scenario_hash, exit_state;
  std::vector<std::string> command_line;
  std::vector<Run> runs;          ///< at least one
  ColumnTable jobs, gpus, links;  ///< iteration studies have no GPUs and links
  std::optional<ColumnTable> fabric, fabric_utilisation;
  std::optional<ColumnTable> delays;  ///< of a run with `network.delays: true`, if any

  /// The rows of a table that belong to one replica; all rows if there is only one.
  [[nodiscard]] std::vector<std::size_t> rows_of(const ColumnTable& table, const Run& run) const;
};

/// Reads a folder. Throws InputError if the folder or one of its files is missing, damaged or unreadable.
[[nodiscard]] RunFolder read_run_folder(const std::string& path);

/// Makes the names of all runs distinct. A run has the name of its scenario; if two of these are equal, all use their
/// folder names, or whole paths if necessary; a folder that occurs twice also gets its position in the list.
void name_apart(std::vector<RunFolder>& folders);

}  // namespace contend
