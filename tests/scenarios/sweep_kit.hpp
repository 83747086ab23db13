#pragma once
// Sweeps from inline text, for tests.

#include "scenarios/sweep/sweep_runner.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"

#include <string>
#include <vector>

namespace contend {

inline SweepPlan plan_of(const std::string& text, unsigned threads = 1, std::vector<std::string> overrides = {}) {
  return SweepPlan{ScenarioVariants{versioned(text), "a.yaml", {std::move(overrides)}, read_text_file}, threads};
}

/// Four servers, a handful of jobs, some milliseconds.
inline std::string small_sweep(const std::string& sweep) {
  return "cluster: {servers: 4}\n"
         "workload: {generate: {sizes: {1: 3, 2: 2, 4: 2, 8: 1}, iterations: [10, 50], arrivals: 10s}}\n"
         "sweep: " +
         sweep + "\n";
}

inline std::vector<std::int64_t> all_runs(const SweepPlan& plan) {
  std::vector<std::int64_t> runs;
  for (std::int64_t run = 0; run < plan.info().runs; ++run) runs.push_back(run);
  return runs;
}

/// A new store with these runs of the plan.
inline SweepStore run_into(const std::string& path, const SweepPlan& plan, const std::vector<std::int64_t>& runs,
                           unsigned threads = 1, bool per_job = false, const std::vector<std::string>& groupings = {}) {
  StoreInfo info = plan.info();
  info.per_job = per_job;
  info.groupings = groupings;
  SweepStore store = SweepStore::create(path, info, plan.points());
  const std::int64_t manifest = store.add_manifest({.manifest = 0, .version = "1", .git_hash = {}, .json = {}});
  run_sweep(plan, runs, manifest, store, {.threads = threads, .recorded = {}, .interrupted = {}});
  return store;
}

}  // namespace contend
