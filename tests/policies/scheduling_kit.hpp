#pragma once
// This kit runs timed jobs under a scheduling policy in the real engine. A wrapper records what the policy does and
// checks after each pass what must hold for every policy.

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

/// Times are in whole seconds.
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
  std::map<std::int32_t, int> most_of_vc;  ///< by virtual cluster: the most GPUs that it held at once
  std::map<JobId, Time> first_plans;       ///< by job: the start for which the policy first found a place
  /// By job: what the policy kept for it, each change once: `100@0:2` from 100 s on two GPUs of server 0.
  std::map<JobId, std::vector<std::string>> reservations;
  /// Passes after which a job waited that the policy's key puts before a running one with as many GPUs or more. A walk
  /// in order of the keys never leaves jobs like that.
  int passes_out_of_order = 0;
  int passes_with_idle_room = 0;         ///< passes after which enough GPUs were free for a waiting job
  std::vector<std::string> vain_starts;  ///< starts and changes of size that the same pass undid: `A at 3 s`
  std::vector<std::string> faults;       ///< descriptions of what must never happen
  std::vector<std::string> waits;        ///< why jobs wait, each reason once: `3 C: reserved, A` at 3 s, because of A

  /// Returns the jobs and the seconds at which they ended, such as `A6 B10`.
  [[nodiscard]] std::string finishes() const;
  /// Returns the preempted jobs and how often each was preempted, such as `A1 C2`.
  [[nodiscard]] std::string preemptions() const;
  [[nodiscard]] double mean_jct_s() const;
  [[nodiscard]] std::int64_t total_preemptions() const;
};

/// What jobs held: `A2 0-40` for two GPUs of job A from 0 to 40 s.
[[nodiscard]] std::string holds(const Played& played);

/// Returns a placement policy that gives a job the first server on which the whole job fits.
[[nodiscard]] std::unique_ptr<PlacementPolicy> one_server();

/// Runs the jobs, named A, B, C, ... Without a placement policy each gets the first GPUs that are free.
[[nodiscard]] Played play(const Choice& scheduling, const ClusterSpec& cluster, std::vector<JobSpec> jobs,
                          std::unique_ptr<PlacementPolicy> placement = nullptr, const SchedulingRules& rules = {},
                          std::vector<std::vector<JobSize>> sizes = {},
                          std::vector<std::vector<BatchRegime>> regimes = {}, const FailureSpec& failures = {},
                          std::vector<std::vector<JobPace>> paces = {}, const AccountTree& accounts = {});
/// Runs the jobs on one server of `gpus` GPUs.
[[nodiscard]] Played play(const Choice& scheduling, int gpus, std::vector<JobSpec> jobs);

}  // namespace contend::test
