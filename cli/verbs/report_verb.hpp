#pragma once
// What `contend run` prints: a summary of one run, a table of several, or the same as JSON.

#include "results/replica.hpp"
#include "scenarios/scenario.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// One scenario with one replica: a line a figure.
[[nodiscard]] std::string summary_text(const Scenario& scenario, const Replica& replica);

/// A row a scenario. With several replicas: means and the half-widths of their 95% confidence intervals, and average
/// JCT over that of the first row under the same seeds.
[[nodiscard]] std::string comparison_text(std::span<const Scenario> scenarios,
                                          std::span<const std::vector<Replica>> results);

/// The figures of both, for programs.
[[nodiscard]] std::string results_json(std::span<const Scenario> scenarios,
                                       std::span<const std::vector<Replica>> results);

}  // namespace contend
