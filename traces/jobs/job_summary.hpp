#pragma once
// What a list of jobs looks like: how many, how large, how long, how often.

#include "models/workload.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// Of a set of values: the smallest value that so much of the set does not exceed. All 0 for an empty set.
struct Distribution {
  std::size_t count = 0;
  double mean = 0, min = 0, p25 = 0, median = 0, p75 = 0, p90 = 0, p99 = 0, max = 0;
};

/// Jobs that have something in common.
struct JobGroup {
  std::string name;
  std::int64_t jobs = 0;
  double gpu_hours = 0;  ///< of all their attempts; a job with a model instead of a duration adds none
};

struct JobSummary {
  std::int64_t jobs = 0;
  std::int64_t timed_jobs = 0;  ///< with a duration
  std::int64_t retried_jobs = 0;
  std::int64_t users = 0;
  double gpu_hours = 0;
  Time first_submit{}, last_submit{};
  double jobs_per_hour = 0;         ///< between first and last submission; 0 if they coincide
  std::int64_t peak_hour_jobs = 0;  ///< submitted in the busiest hour, hours counted from the first submission
  std::int64_t peak_hour = 0;       ///< its number; the first if several are as busy
  double mean_busy_gpus = 0;        ///< GPU hours over the time between first and last submission
  Distribution duration_s;          ///< of the last attempts
  Distribution gpus;
  std::vector<JobGroup> sizes;     ///< by number of GPUs, ascending
  std::vector<JobGroup> vcs;       ///< most jobs first; empty name: none
  std::vector<JobGroup> outcomes;  ///< completed, failed, cancelled: those that there are
};

[[nodiscard]] JobSummary summarise_jobs(std::span<const JobRequest> jobs);

}  // namespace contend
