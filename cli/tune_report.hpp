#pragma once
// Prints what a search found: a table for people, JSON or CSV.

#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/tuner.hpp"

#include <string>

namespace contend {

/// With one goal the best points and how far they are from the best one; with several the Pareto front.
[[nodiscard]] std::string tune_table(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result);
[[nodiscard]] std::string tune_json(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result);
/// The Pareto front of a search with two goals, as SVG.
[[nodiscard]] std::string tune_svg(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result);
/// A line for each point that ran under the most seeds: its parameters, and mean and half-width of each goal and bound.
[[nodiscard]] std::string tune_csv(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result);

}  // namespace contend
