#pragma once
// Checks the points of a sweep against the `expect` of their scenarios.

#include "results/expectations.hpp"
#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// The verdicts on one point.
struct PointOutcome {
  std::int64_t point = 0;
  std::vector<ExpectationOutcome> outcomes;
};

/// The outcomes of every point that has expectations and completed runs, in the order of the points. A bound applies to
/// the mean over those runs, as `contend run` applies it to replicas.
[[nodiscard]] std::vector<PointOutcome> judge_points(const SweepPlan& plan, std::span<const StoreRun> runs);

}  // namespace contend
