#pragma once
// Writes the results of a scenario as a folder of plain files: jobs.csv, gpus.csv, links.csv, summary.json,
// scenario.yaml and manifest.json, and fabric*.csv if the network model simulates single links. Two runs of one
// scenario write the same bytes except for the manifest, which holds everything that may differ.

#include "results/manifest.hpp"
#include "results/replica.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>
#include <string_view>

namespace contend {

/// A further file of a folder.
struct NamedText {
  std::string_view name;  ///< one of run_files()
  std::string text;
};

/// Writes the folder, creating it if needed and replacing the files of an earlier run, but no others: throws InputError
/// if foreign_files() names any. An old manifest is removed first and the new one written last, with the digests of all
/// files (result_digests.hpp).
void write_results(const std::string& folder, const Manifest& manifest, const std::string& scenario_yaml,
                   std::span<const Replica> replicas, std::span<const NamedText> more = {});

// The single files, for tests and other writers. With several replicas, each row begins with the seed.
[[nodiscard]] std::string jobs_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string gpus_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string types_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string energy_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string sharing_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string rounds_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string requests_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string links_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string fabric_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string fabric_jobs_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string fabric_utilisation_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string fabric_delays_csv(std::span<const Replica> replicas);

/// A table of a folder.
struct ResultFile {
  std::string_view name;  ///< with its ending
  std::string (*csv)(std::span<const Replica> replicas);
  bool (*exists)(std::span<const Replica> replicas);
};
/// All tables that folders may have.
[[nodiscard]] std::span<const ResultFile> result_files();
/// The content of summary.json.
[[nodiscard]] std::string summary_json(const std::string& scenario_name, std::span<const Replica> replicas);

/// Appends the members `scenario`, `replicas` and, for several replicas, `mean` to an open JSON object.
void write_summary_members(JsonWriter& json, const std::string& scenario_name, std::span<const Replica> replicas);

}  // namespace contend
