#pragma once
// A folder of `contend run -o`, read back.

#include "results/column_table.hpp"
#include "scenarios/scenario.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct RunFolder {
  /// One replica by its figures (summary.json) and what the manifest says of it.
  struct Run {
    std::uint64_t seed = 0;
    bool interrupted = false;
    std::map<std::string, double, std::less<>> figures;  ///< by the name of the metric; NaN where there is none
    std::string fingerprint, digest;                     ///< 16 hexadecimal digits
    double events = 0, leapt_events = 0, wall_s = 0, end_s = 0;
  };

  std::string path;
  std::string name;  ///< of the scenario, or what name_apart() made of it
  Scenario scenario;
  std::string yaml;  ///< its effective text
  std::string version, git_hash, scenario_hash, exit_state;
  std::vector<std::string> command_line;
  std::vector<Run> runs;  ///< at least one
  ColumnTable jobs, gpus, links;
  std::optional<ColumnTable> fabric, fabric_utilisation;

  /// Rows of a table that belong to one replica; all of them if there is only one.
  [[nodiscard]] std::vector<std::size_t> rows_of(const ColumnTable& table, const Run& run) const;
};

/// What `contend run -o` writes into a folder.
[[nodiscard]] std::span<const std::string_view> run_files();

/// Throws InputError if the folder or one of its files isn't there or can't be read.
[[nodiscard]] RunFolder read_run_folder(const std::string& path);

/// Gives every run a name of its own: that of its scenario; where two of these are the same, all go by their folders,
/// by whole paths if need be, and a folder that is there twice by its place in the list too.
void name_apart(std::vector<RunFolder>& folders);

}  // namespace contend
