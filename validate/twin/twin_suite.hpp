#pragma once
// How early can one know a start: forecasts of `contend twin` from random instants of traces whose future is known.

#include "models/workload.hpp"
#include "scenarios/scenario.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace contend {

/// Forecasts of waiting jobs beside their real starts.
struct BackTest {
  std::size_t instants = 0, jobs = 0;     ///< forecasts: of so many jobs in all
  std::size_t in_50 = 0, in_90 = 0;       ///< jobs that started within these intervals
  std::size_t in_90_apart = 0;            ///< if each job draws its running time by itself
  std::vector<double> errors_s;           ///< of medians, absolute, by job
  std::vector<double> baseline_errors_s;  ///< if every job takes the mean of the jobs that had ended, and none arrives
};

/// Simulates the jobs, and asks at `instants` random instants of the middle half at which jobs wait when these will
/// start. What is known then: the jobs that run, and since when; the durations of jobs that have ended.
[[nodiscard]] BackTest back_test(Scenario scenario, const std::vector<JobRequest>& jobs, std::size_t instants,
                                 std::size_t draws, std::uint64_t seed);

/// The suite `twin`.
int validate_twin(std::FILE* out);

}  // namespace contend
