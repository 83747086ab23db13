#pragma once
// Folders of results and stores of sweeps for tests, made by the rooms below, not by hand.

#include "results/result_writer.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/batch.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <cmath>
#include <filesystem>
#include <string>

#include <fmt/format.h>

namespace contend {

/// Four servers with two GPUs; twelve jobs of which some span servers.
inline constexpr std::string_view kSmallScenario =
    "schema_version: 1\nname: small\nseed: 3\nrepeat: 2\ncluster: {servers: 4, gpus_per_server: 2}\n"
    "network: {nic: 10Gbps}\npolicies: {communication: ada-dual}\n"
    "workload: {generate: {sizes: {1: 6, 2: 2, 4: 3, 8: 1}, iterations: [5, 20], arrivals: 2s}}\n";

/// Runs the scenario and writes its folder.
inline void write_run(const std::string& folder, std::string_view yaml) {
  const Scenario scenario = parse_scenario(yaml, "test.yaml");
  const auto results = run_batch(std::span{&scenario, 1}, {});
  write_results(folder,
                {.version = "0",
                 .git_hash = "abc",
                 .command_line = {"contend", "run", "<test>"},
                 .scenario_name = scenario.name,
                 .scenario_hash = scenario_hash(scenario),
                 .inputs = {},
                 .interrupted = false},
                to_yaml(scenario, folder), results[0]);
}

/// A store of `sizes` x 3 policies x 2 kappas x 3 seeds whose figures follow from a formula; one run has failed. Runs
/// from `end` on are not there yet. With a baseline, every point is compared with the point of the first policy.
inline void write_store(const std::string& path, int sizes, std::int64_t end = INT64_MAX, bool baseline = false) {
  const std::vector<StoreParameter> parameters = {{.key = "network.nic",
                                                   .column = "network_nic",
                                                   .type = StoreParameter::Type::quantity,
                                                   .number_column = "network_nic_Bps",
                                                   .unit = "Bps"},
                                                  {.key = "policies.communication",
                                                   .column = "policies_communication",
                                                   .type = StoreParameter::Type::text,
                                                   .number_column = "",
                                                   .unit = ""},
                                                  {.key = "policies.placement.kappa",
                                                   .column = "policies_placement_kappa",
                                                   .type = StoreParameter::Type::integer,
                                                   .number_column = "",
                                                   .unit = ""}};
  const std::vector<StoreMetric> metrics = {
      {.name = "avg_jct_s", .title = "average JCT", .unit = "s", .text = "mean completion time"},
      {.name = "gpu_utilisation", .title = "GPU utilisation", .unit = "share", .text = "busy GPU time over all"}};
  const char* const policies[] = {"srsf", "ada-dual", "</script><img src=x onerror=alert(1)>"};
  std::vector<StorePoint> points;
  std::vector<StoreRun> runs;
  for (int size = 0; size < sizes; ++size) {
    for (int policy = 0; policy < 3; ++policy) {
      for (std::int64_t kappa = 1; kappa <= 2; ++kappa) {
        const auto point = static_cast<std::int64_t>(points.size());
        const std::int64_t gbps = std::int64_t{1} << size;
        points.push_back({.point = point,
                          .hash = fmt::format("{:016x}", point),
                          .settings = {},
                          .baseline = baseline ? std::optional{point - 2 * policy} : std::nullopt,
                          .values = {fmt::format("{}Gbps", gbps), std::string{policies[policy]}, kappa},
                          .numbers = {static_cast<double>(gbps) * 125e6, NAN, static_cast<double>(kappa)}});
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          StoreRun run;
          run.run = point * 3 + static_cast<std::int64_t>(seed) - 1;
          run.point = point;
          run.seed = seed;
          run.metrics = {1000.0 / static_cast<double>(gbps) + 100 * policy + 10 * static_cast<double>(kappa) +
                             5 * static_cast<double>(seed),
                         0.5 + 0.1 * policy};
          if (run.run == 4) {
            run.status = RunStatus::failed;
            run.error = "no <memory>";
            run.metrics = {NAN, NAN};
          }
          runs.push_back(run);
        }
      }
    }
  }
  StoreInfo info;
  info.name = "need";
  info.kind = "jobs";
  info.scenario = "name: need # </script>\n";
  info.repeat = 3;
  info.runs = static_cast<std::int64_t>(runs.size()) + 2;
  info.parameters = parameters;
  info.metrics = metrics;
  SweepStore store = SweepStore::create(path, info, points);
  const std::int64_t manifest = store.add_manifest({.manifest = 0, .version = "0.1", .git_hash = "abc", .json = "{}"});
  for (StoreRun& run : runs) {
    if (run.run >= end) break;
    run.manifest = manifest;
    store.record(run);
  }
  store.finish();
}

}  // namespace contend
