#pragma once
// Compares two sides, BASE and NEW: the same jobs under the same seeds, run by two versions of a scenario or of the
// program. Every comparison is paired over seeds. A single run a side has changes without intervals: how its jobs agree
// says nothing about another week, because jobs in one queue share their fate.

#include "results/job_groups.hpp"
#include "results/result_reader.hpp"
#include "results/tested_changes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A job that finished on both sides.
struct JobChange {
  std::uint64_t seed = 0;
  std::string job;
  int gpus = 0;
  Time base, other;                                     ///< completion times
  std::vector<double> base_iteration, other_iteration;  ///< iteration_values(); empty if a side has none
  [[nodiscard]] Time difference() const { return other - base; }
  [[nodiscard]] double relative() const { return plain_change(base.to_seconds(), other.to_seconds()).relative.value; }
};

/// A job that finished on one side only, or that exists on one side only.
struct OddJob {
  std::uint64_t seed = 0;
  std::string job;
  std::string base, other;  ///< its state on each side; empty if it does not exist there
};

/// How much the completion times of single jobs changed, relative to BASE: a spread over jobs, not an interval for
/// anything. NaN without jobs that finished on both sides.
struct JobSpread {
  double p5 = kNaN, median = kNaN, p95 = kNaN;
};

/// The result of a comparison.
struct Regression {
  std::string base_name, other_name;
  std::vector<std::uint64_t> seeds;
  Draws draws = Draws::independent;   ///< of the workloads of the pairs
  bool about_list = false;            ///< figures are of one job list as it is, and the pairs are resamples of it
  std::size_t pairs = 0;              ///< seeds that make a difference, or resamples; 1: a single run, no intervals
  std::vector<MetricChange> metrics;  ///< in the order of metrics(); metrics of texts are tested together
  std::size_t tests = 0;              ///< of these, with a test of no change
  std::size_t jobs = 0;               ///< jobs that finished on both sides, over all seeds
  std::size_t slower_jobs = 0, faster_jobs = 0;
  JobSpread spread;
  std::vector<JobChange> slowest;  ///< the largest increases of completion time, the largest first
  std::vector<JobChange> fastest;  ///< the largest decreases
  std::vector<OddJob> lost;        ///< finished in BASE only
  std::vector<OddJob> gained;      ///< finished in NEW only
  std::vector<OddJob> only_in_base, only_in_new;
  bool is_of_studies = false;      ///< all jobs are variants of iteration studies, in which chance has no part
  bool identical = false;          ///< every run has the same digest as in BASE
  std::vector<std::string> notes;  ///< warnings for the reader of the figures

  /// True if every job that counts in the averages of one side counts in the averages of the other: it finished, and
  /// `measure` holds it. If not, averages are over different jobs.
  [[nodiscard]] bool same_jobs_finished() const;
  [[nodiscard]] const MetricChange& of(const Metric& metric) const;
};

/// Compares two stored results and keeps the `worst` jobs in each direction. Throws InputError if they cannot be
/// compared: different seeds, jobs of the same name with different demands, no job in common, or an interrupted side.
/// With `resampled`, BASE and NEW are one run each of a job list, and the intervals come from resamples of the list.
[[nodiscard]] Regression find_regression(const StoredResults& base, const StoredResults& other, std::size_t worst,
                                         const std::optional<ResampledSides>& resampled = {});

}  // namespace contend
