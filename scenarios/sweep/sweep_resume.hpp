#pragma once
// Resumes a sweep from the store that an earlier invocation left.

#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// A reopened store and the state of its runs.
struct ResumedSweep {
  SweepStore store;
  std::vector<bool> done;     ///< for each run of the plan, true if it needs no run
  std::int64_t failed = 0;    ///< runs that had failed and are to be repeated
  std::int64_t outdated = 0;  ///< runs of another build of the program, removed and to be repeated
  std::int64_t added = 0;     ///< runs that the sweep did not have when the store was written
};

/// Opens the store for the plan. Runs are recognised by the hash of their point and by their seed, so the sweep may
/// have grown by points or seeds since; the store is then rewritten with its runs in their new places. `build` is as
/// StoreManifest::build(). Throws InputError if the store has runs that the plan no longer has, or other tables.
[[nodiscard]] ResumedSweep resume_sweep(const std::string& path, const SweepPlan& plan, const StoreInfo& info,
                                        const std::string& build);

}  // namespace contend
