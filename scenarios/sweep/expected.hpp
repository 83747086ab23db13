#pragma once
// What the points of a sweep were expected to be (`expect` of their scenarios), and whether they are.

#include "results/expectations.hpp"
#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

struct PointOutcome {
  std::int64_t point = 0;
  std::vector<ExpectationOutcome> outcomes;
};

/// Of every point that expects something and has runs that came to their end; a bound is held against the mean over
/// those, as `contend run` does with replicas. In the order of the points.
[[nodiscard]] std::vector<PointOutcome> judge_points(const SweepPlan& plan, std::span<const StoreRun> runs);

}  // namespace contend
