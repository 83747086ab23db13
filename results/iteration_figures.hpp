#pragma once
// The one table of the figures of an iteration, which every job of iterations has: in printed tables, in the stores of
// sweeps, and in rules about changes. Their values are columns of jobs.csv.

#include "results/result_columns.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// One figure.
struct IterationFigure {
  std::string_view column;      ///< of jobs.csv
  std::string_view title;       ///< for people, in the unit that they see
  double shown;                 ///< factor to that unit
  std::string_view unit;        ///< `s`, `share` (of 1), `per_s`, `B` or `messages`
  bool of_compression = false;  ///< shown to people only if something is compressed
  bool of_levels = false;       ///< shown to people only if servers have several workers
  bool of_some = false;         ///< shown to people only if some job has it
};
[[nodiscard]] std::span<const IterationFigure> iteration_figures();
/// The same figures in the same order as metrics; Metric::value, which is about runs, is not set.
[[nodiscard]] std::span<const Metric> iteration_metrics();

/// All figures of a run: metrics(), then those of iterations, whose Metric::value is not set, and two flags.
[[nodiscard]] std::span<const Metric> run_metrics();
/// One of them. It must exist.
[[nodiscard]] const Metric& run_metric(std::string_view name);
/// Their values; those of iterations are means over the finished jobs that count and have them, NaN if there are none.
[[nodiscard]] std::vector<double> figures_of_run(const RunResult& result, const Summary& summary);

/// The figures of a job, in that order; NaN where there is none.
[[nodiscard]] std::vector<double> iteration_values(const JobResult& job);
/// One of them. The figure must exist.
[[nodiscard]] double iteration_value(const JobResult& job, std::string_view column);

/// The figures into which the time of an iteration divides, which is the first of iteration_metrics().
inline constexpr std::string_view kIterationParts[] = {"compute_s", "compression_s", "exposed_communication_s"};
/// The place of a figure in iteration_metrics(), where it must be.
[[nodiscard]] std::size_t iteration_index(std::string_view column);

}  // namespace contend
