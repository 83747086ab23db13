#pragma once
// Opens the store that a sweep or a search writes, new or resumed, and describes the invocation for it.

#include "cli/command.hpp"
#include "cli/sweep_load.hpp"
#include "scenarios/sweep/sweep_resume.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/units.hpp"
#include "text/writer_lock.hpp"

#include <optional>
#include <string>

namespace contend {

/// The value of --timeout. Throws UsageError, also for a sweep of iteration studies, which have no limit.
[[nodiscard]] std::optional<Time> timeout_of(const Arguments& arguments, const SweepPlan& plan);

/// Keeps others from writing a store at this path. Throws InputError if somebody does.
[[nodiscard]] WriterLock lock_store(const std::string& path);

/// Creates a store or, to `resume` it, opens the one at `path`. Throws InputError if it exists and isn't resumed.
[[nodiscard]] ResumedSweep open_store(const Arguments& arguments, const SweepPlan& plan, const std::string& path,
                                      bool resume);

/// The manifest of this invocation: everything that may differ between two stores of one sweep.
[[nodiscard]] StoreManifest manifest_of(const Arguments& arguments, const LoadedSweep& sweep, unsigned threads);

/// The command that resumes this sweep.
[[nodiscard]] std::string resume_command(const Arguments& arguments);

/// The index of the metric of that name. Throws UsageError, which names the option and the nearest metric.
[[nodiscard]] std::size_t metric_named(const StoreInfo& info, const std::string& option, const std::string& name);

}  // namespace contend
