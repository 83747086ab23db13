#pragma once
// Loads a sweep from the command line of `contend sweep`.

#include "cli/command.hpp"
#include "results/manifest.hpp"
#include "scenarios/sweep/sweep_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

struct LoadedSweep {
  SweepPlan plan;
  std::vector<InputFile> inputs;  ///< the scenario, the included files, and those that points name
};

/// Reads the scenario, applies --set and --repeat, and reads every point. Throws InputError.
[[nodiscard]] LoadedSweep load_sweep(const Arguments& arguments, unsigned threads);
/// The same once more, with so many seeds.
[[nodiscard]] LoadedSweep load_sweep(const Arguments& arguments, unsigned threads, std::uint64_t repeat);

/// The plan of a file that describes a sweep; nothing for any other file. Throws InputError.
[[nodiscard]] std::optional<SweepPlan> sweep_of(const std::string& path, const std::vector<std::string>& overrides);

/// The numbers of points and runs, in words.
[[nodiscard]] std::string extent_text(const SweepPlan& plan);

/// One of `count` equal parts of the runs: every count-th run, starting with `index`.
struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1;
  [[nodiscard]] bool has(std::int64_t run) const { return run % count == index; }
};
/// Parses `i/n` with 0 <= i < n. Throws UsageError.
[[nodiscard]] Shard shard_of(const Arguments& arguments);

}  // namespace contend
