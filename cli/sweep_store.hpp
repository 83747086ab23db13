#pragma once
// The store that a sweep or a search writes: new or resumed, and who writes it.

#include "cli/command.hpp"
#include "cli/sweep_load.hpp"
#include "scenarios/sweep/sweep_resume.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <string>

namespace contend {

inline constexpr Option kSweepStoreOption = {
    .name = "output", .letter = 'o', .value = "STORE", .text = "file to write (SQLite); default NAME.sqlite"};
inline constexpr Option kSweepResumeOption = {
    .name = "resume", .letter = '\0', .value = "", .text = "go on with a store: run only what it doesn't have"};
inline constexpr Option kSweepPerJobOption = {
    .name = "per-job", .letter = '\0', .value = "", .text = "also store a row for every job of every run"};

/// A new store, or with --resume that at `path`. Throws InputError for one that is there without --resume.
[[nodiscard]] ResumedSweep open_store(const Arguments& arguments, const SweepPlan& plan, const std::string& path);

/// Who runs what, when and where: all that may differ between two stores of one sweep.
[[nodiscard]] StoreManifest manifest_of(const Arguments& arguments, const LoadedSweep& sweep, unsigned threads);

/// The command with which to go on.
[[nodiscard]] std::string resume_command(const Arguments& arguments);

/// The metric of that name, in a figure of an error with the nearest. Throws UsageError.
[[nodiscard]] std::size_t metric_named(const StoreInfo& info, const std::string& option, const std::string& name);

}  // namespace contend
