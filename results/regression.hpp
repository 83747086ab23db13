#pragma once
// Compares two sides, BASE and NEW: the same jobs under the same seeds, run by two versions of a scenario or of the
// program. Every comparison is paired: over seeds if there are several and they make a difference, else over the jobs
// of the single run.

#include "results/bootstrap.hpp"
#include "results/result_columns.hpp"
#include "results/result_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// The observations that are paired, which decides what the intervals mean.
enum class PairedOver : std::uint8_t {
  seeds,  ///< intervals predict further seeds
  jobs,   ///< intervals show how far the jobs of one run agree; neighbours in a queue are not independent, so this is
          ///< only a hint
};

struct MetricChange {
  const Metric* metric = nullptr;
  PairedChange change;
};

/// A job that finished on both sides.
struct JobChange {
  std::uint64_t seed = 0;
  std::string job;
  int gpus = 0;
  Time base, other;  ///< completion times
  [[nodiscard]] Time difference() const { return other - base; }
  [[nodiscard]] double relative() const { return plain_change(base.to_seconds(), other.to_seconds()).relative; }
};

/// A job that finished on one side only, or that exists on one side only.
struct OddJob {
  std::uint64_t seed = 0;
  std::string job;
  std::string base, other;  ///< its state on each side; empty if it does not exist there
};

/// The result of a comparison.
struct Regression {
  std::string base_name, other_name;
  std::vector<std::uint64_t> seeds;
  PairedOver paired_over = PairedOver::seeds;
  std::size_t pairs = 0;
  std::vector<MetricChange> metrics;  ///< in the order of metrics()
  std::size_t jobs = 0;               ///< jobs that finished on both sides, over all seeds
  std::size_t slower_jobs = 0, faster_jobs = 0;
  std::vector<JobChange> slowest;  ///< the largest increases of completion time, the largest first
  std::vector<JobChange> fastest;  ///< the largest decreases
  std::vector<OddJob> lost;        ///< finished in BASE only
  std::vector<OddJob> gained;      ///< finished in NEW only
  std::vector<OddJob> only_in_base, only_in_new;
  bool identical = false;          ///< every run has the same digest as in BASE
  std::vector<std::string> notes;  ///< warnings for the reader of the figures

  [[nodiscard]] const MetricChange& of(const Metric& metric) const;
};

/// Compares two stored results and keeps the `worst` jobs in each direction. Throws InputError if they cannot be
/// compared: different seeds, jobs of the same name with different demands, no job in common, or an interrupted side.
[[nodiscard]] Regression find_regression(const StoredResults& base, const StoredResults& other, std::size_t worst);

}  // namespace contend
