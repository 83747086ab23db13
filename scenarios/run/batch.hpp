#pragma once
// Runs several scenarios with all their replicas on several threads. The results are the same for any number of
// threads.

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

/// How a batch runs, and whom it notifies.
struct BatchHooks {
  unsigned threads = 1;
  Observer* observer = nullptr;  ///< only for a batch of a single run, because it would mix runs
  /// Called from the threads with the progress of a run, and once more at its end. Runs are numbered scenario by
  /// scenario, replica by replica.
  std::function<void(std::size_t run, const Progress&)> progress = {};
  JobLists* lists = nullptr;  ///< the source of job lists; if none, the batch reads each list once itself
  /// True if a run in which a policy outside of the program fails counts with its results until then
  /// (Replica::failure); false throws InputError.
  bool keep_failed = false;
  bool certify = false;                    ///< write the logs of the runs (Replica::logs)
  std::function<bool()> interrupted = {};  ///< called from the threads; true ends running replicas and starts no more
};

/// The number of runs of all scenarios together.
[[nodiscard]] std::size_t batch_size(std::span<const Scenario> scenarios);

/// Runs all scenarios; returns the replicas of each in the order of their seeds, without those that an interrupt
/// prevented. Throws the error of the first failing run in that order, whatever the number of threads.
[[nodiscard]] std::vector<std::vector<Replica>> run_batch(std::span<const Scenario> scenarios, const BatchHooks& hooks);

}  // namespace contend
