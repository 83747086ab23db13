#pragma once
// Formats the results of `contend run`: a summary of one run, a table of several, or JSON.

#include "cli/interval_report.hpp"
#include "results/replica.hpp"
#include "results/result_columns.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/study/study_run.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// What a * behind figures over finished jobs means.
inline constexpr std::string_view kCensoredNote =
    "* over the finished jobs alone, so a policy that leaves long jobs unfinished looks good, and so do failures after "
    "which they are given up; let all jobs end, or choose the jobs that count by `measure`\n";

/// One scenario with one replica: one line for each figure and each of predicted_iterations().
[[nodiscard]] std::string summary_text(const Scenario& scenario, const Replica& replica,
                                       std::span<const PredictedIteration> iterations);

/// One row for each scenario. With several replicas: means, the half-widths of their 95% confidence intervals, and the
/// average JCT relative to the first row under the same seeds.
[[nodiscard]] std::string comparison_text(std::span<const Scenario> scenarios,
                                          std::span<const std::vector<Replica>> results);

/// A title of the metric that is short enough for a table with many columns, without the unit.
[[nodiscard]] std::string_view short_title(const Metric& metric);

/// The figures as JSON, in either case, with predicted_iterations() by scenario, and the jobs of iteration studies. Of
/// studies that are explained, `messages` has the messages of each scenario.
[[nodiscard]] std::string results_json(std::span<const Scenario> scenarios,
                                       std::span<const std::vector<Replica>> results,
                                       std::span<const std::vector<PredictedIteration>> iterations,
                                       std::span<const std::vector<StudyMessages>> messages = {});

}  // namespace contend
