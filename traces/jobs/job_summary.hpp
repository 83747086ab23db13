#pragma once
// Summarises a list of jobs: their number, sizes, durations and arrival rate.

#include "models/workload.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// Order statistics of a set of values; a percentile is the smallest value that the given share of the set does not
/// exceed. All 0 for an empty set.
struct Distribution {
  std::size_t count = 0;
  double mean = 0, min = 0, p25 = 0, median = 0, p75 = 0, p90 = 0, p99 = 0, max = 0;
};

/// Jobs with a common property.
struct JobGroup {
  std::string name;
  std::int64_t jobs = 0;
  double gpu_hours = 0;  ///< of all their attempts; a job without a duration adds none
};

struct JobSummary {
  std::int64_t jobs = 0;
  std::int64_t timed_jobs = 0;  ///< jobs with a duration
  std::int64_t retried_jobs = 0;
  std::int64_t users = 0;
  double gpu_hours = 0;
  Time first_submit{}, last_submit{};
  double jobs_per_hour = 0;         ///< between the first and the last submission; 0 if they coincide
  std::int64_t peak_hour_jobs = 0;  ///< submissions in the busiest hour; hours count from the first submission
  std::int64_t peak_hour = 0;       ///< number of that hour; the first of equally busy ones
  double mean_busy_gpus = 0;        ///< GPU hours over the time between first and last submission
  Distribution duration_s;          ///< of the last attempts
  Distribution measured_wait_s;     ///< from submission to start, of the jobs of which the trace says it
  Distribution gpus;
  std::vector<JobGroup> sizes;     ///< by number of GPUs, ascending
  std::vector<JobGroup> vcs;       ///< most jobs first; the empty name is the jobs without one
  std::vector<JobGroup> outcomes;  ///< the groups of completed, failed and cancelled that occur
};

[[nodiscard]] JobSummary summarise_jobs(std::span<const JobRequest> jobs);

}  // namespace contend
