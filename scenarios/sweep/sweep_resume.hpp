#pragma once
// Goes on with a store that an earlier invocation has left.

#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

struct ResumedSweep {
  SweepStore store;
  std::vector<bool> done;     ///< of each run of the plan: nothing to do
  std::int64_t failed = 0;    ///< runs that had failed: to be run again
  std::int64_t outdated = 0;  ///< runs by another build of the program: removed, to be run again
  std::int64_t added = 0;     ///< runs that the sweep did not have when the store was written
};

/// Opens the store for the plan. Runs are recognised by the hash of their point and by their seed, so the sweep may
/// have grown (more points, more seeds); then the store is written anew with its runs in their new places. `build` as
/// StoreManifest::build(). Throws InputError if the store has runs that the plan doesn't have any more, or other
/// tables.
[[nodiscard]] ResumedSweep resume_sweep(const std::string& path, const SweepPlan& plan, const StoreInfo& info,
                                        const std::string& build);

}  // namespace contend
