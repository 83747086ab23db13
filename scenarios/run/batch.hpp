#pragma once
// Runs several scenarios with all their replicas, on several threads. Which thread runs what decides nothing: the
// results are the same for any number of threads.

#include "results/replica.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"
#include "sim/ports.hpp"
#include "sim/simulation.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace contend {

struct BatchHooks {
  unsigned threads = 1;
  Observer* observer = nullptr;  ///< for a batch of a single run only: it would mix the runs
  /// Runs are numbered scenario by scenario, replica by replica. Called from the threads, also once at the end of each
  /// run.
  std::function<void(std::size_t run, const Progress&)> progress;
  JobLists* lists = nullptr;          ///< where job lists come from; without, the batch reads its own, each once
  std::function<bool()> interrupted;  ///< asked from the threads; true ends running replicas and starts no more
};

/// Runs over all scenarios together.
[[nodiscard]] std::size_t batch_size(std::span<const Scenario> scenarios);

/// The replicas of each scenario in order of their seeds; those that an interrupt kept from starting are left out.
/// Throws the error of the first run that fails, whatever the number of threads.
[[nodiscard]] std::vector<std::vector<Replica>> run_batch(std::span<const Scenario> scenarios, const BatchHooks& hooks);

}  // namespace contend
