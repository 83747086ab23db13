#pragma once
// Runs of timed jobs under a scheduling policy, on the real engine. A policy under test is wrapped: what it does is
// noted, and after each pass it is checked what must hold for every policy.

#include "policies/registry.hpp"
#include "sim/simulation.hpp"
#include "tests/policies/random_cluster.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace contend::test {

/// Times in whole seconds.
inline JobSpec timed_job(std::int64_t submit, int gpus, std::int64_t duration) {
  JobSpec job;
  job.submit = Time::seconds(submit);
  job.gpus = gpus;
  job.duration = Time::seconds(duration);
  return job;
}

/// A stretch of time for which a job held its GPUs.
struct Hold {
  JobId job;
  std::vector<GpuId> gpus;
  Time start, end;
};

struct Played {
  RunResult result;
  std::vector<Hold> runs;                  ///< in order of their starts
  std::map<std::int32_t, int> most_of_vc;  ///< GPUs that a virtual cluster has held at most
  int passes_with_idle_room = 0;           ///< after which a waiting job would have found enough GPUs free
  std::vector<std::string> faults;         ///< of what must never happen

  /// `A6 B10 ...`: jobs and the seconds at which they ended.
  [[nodiscard]] std::string finishes() const;
  /// `A1 C2`: jobs that gave way, and how often.
  [[nodiscard]] std::string preemptions() const;
  [[nodiscard]] double mean_jct_s() const;
  [[nodiscard]] std::int64_t total_preemptions() const;
};

/// Jobs are named A, B, C, ... and get any GPUs that are free, the first ones first.
[[nodiscard]] Played play(const Choice& scheduling, const ClusterSpec& cluster, std::vector<JobSpec> jobs);
/// One server.
[[nodiscard]] Played play(const Choice& scheduling, int gpus, std::vector<JobSpec> jobs);

}  // namespace contend::test
