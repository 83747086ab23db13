#pragma once
// Explains why a job of a scenario waited, and for what the job spent its iterations.

#include "network/link_use.hpp"
#include "results/wait_recorder.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/study/study_messages.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace contend {

struct ExplainedJob {
  JobId job;
  LevelWish level;  ///< of the job; empty: it may lie anywhere
  Explanation explanation;
  RunResult result;  ///< of the explaining run; equal to the result of a run without explanation
  /// Of a job of iterations that has completed one, if wanted: for what one of its GPUs spent its time, and its
  /// messages if it trains layer by layer.
  std::optional<StudyMessages> iteration;
  /// Its transfer that has stood still for longest when the run ends, because links have failed.
  std::optional<StalledTransfer> stall{};
};

/// What is to be explained. Only a run without leaping sees iterations, which takes longer.
enum class ExplainWhat : std::uint8_t { waits, waits_and_iterations };

/// Runs the scenario under this seed and explains one of its jobs. Throws InputError, also if no job has this name.
[[nodiscard]] ExplainedJob explain_job(const Scenario& scenario, std::uint64_t seed, const std::string& name,
                                       const RunHooks& hooks = {},
                                       ExplainWhat what = ExplainWhat::waits_and_iterations);

}  // namespace contend
