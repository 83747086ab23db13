#pragma once
// Writes what a scenario left behind as a folder of plain files: jobs.csv, gpus.csv, links.csv, summary.json,
// scenario.yaml and manifest.json; and fabric*.csv where the network model knows single links. Two runs of one scenario
// write the same bytes but for the manifest, which holds whatever may differ.

#include "results/manifest.hpp"
#include "results/replica.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>

namespace contend {

/// Makes the folder and those above it, if needed. Throws InputError.
void make_folder(const std::string& folder);

/// The folder is made if needed; files of an earlier run are replaced. The manifest goes first and comes back last, so
/// that its presence says that all files belong to its run. Throws InputError.
void write_results(const std::string& folder, const Manifest& manifest, const std::string& scenario_yaml,
                   std::span<const Replica> replicas);

// The single files, for tests and other writers. With several replicas each row begins with the seed.
[[nodiscard]] std::string jobs_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string gpus_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string links_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string fabric_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string fabric_jobs_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string fabric_utilisation_csv(std::span<const Replica> replicas);

/// Appends the members `scenario`, `replicas` and, for several replicas, `mean` to an object that has begun.
void write_summary_members(JsonWriter& json, const std::string& scenario_name, std::span<const Replica> replicas);

}  // namespace contend
