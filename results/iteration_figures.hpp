#pragma once
// The one table of the figures of an iteration, which every job of iterations has: in printed tables, in the stores of
// sweeps, and in rules about changes. Their values are columns of jobs.csv.

#include "results/result_columns.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// One figure.
struct IterationFigure {
  std::string_view column;      ///< of jobs.csv
  std::string_view title;       ///< for people, in the unit that they see
  double shown;                 ///< factor to that unit
  std::string_view unit;        ///< `s`, `share` (of 1), `per_s`, `B`, `GiB` or `messages`
  bool of_compression = false;  ///< shown to people only if something is compressed
  bool of_levels = false;       ///< shown to people only if servers have several workers
  bool of_some = false;         ///< shown to people only if some job has it
  bool in_texts = false;        ///< Metric::in_texts of its mean over the jobs of a run
};
[[nodiscard]] std::span<const IterationFigure> iteration_figures();
/// The same figures in the same order as metrics, which are part of metrics().
[[nodiscard]] std::span<const Metric> iteration_metrics();
/// What else is known of iterations, and comes after them in metrics(): two flags.
[[nodiscard]] std::span<const Metric> iteration_flags();
/// Adds up figures of jobs, in the order of iteration_metrics(), of which each job has some.
class IterationMeans {
 public:
  IterationMeans();
  /// Empty if the job has none.
  void add(std::span<const double> figures);
  /// NaN where no job has a figure.
  [[nodiscard]] std::vector<double> means() const;

 private:
  std::vector<double> sums_;
  std::vector<std::size_t> counts_;
};

/// The figures of a job, in that order; NaN where there is none.
[[nodiscard]] std::vector<double> iteration_values(const JobResult& job);
/// One of them. The figure must exist.
[[nodiscard]] double iteration_value(const JobResult& job, std::string_view column);

/// The figures into which the time of an iteration divides, which is the first of iteration_metrics().
inline constexpr std::string_view kIterationParts[] = {"compute_s", "compression_s", "exposed_communication_s"};
/// True for iteration_metrics(), wherever they are listed.
[[nodiscard]] bool is_iteration_metric(const Metric& metric);
/// The place of a figure in iteration_metrics(), where it must be.
[[nodiscard]] std::size_t iteration_index(std::string_view column);

}  // namespace contend
