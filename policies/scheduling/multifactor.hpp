#pragma once
// The priority of jobs by several factors, as Slurm's plugin priority/multifactor computes it (releases 22.05
// and 26.05, priority_multifactor.c). The fair-share factor comes from the fair tree (fair_tree.hpp), whose usage
// decays.

#include "policies/account_tree.hpp"
#include "policies/policy_row.hpp"
#include "sim/cluster_view.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace contend {

/// The parameters of MultifactorPriority.
inline constexpr ParameterInfo kMultifactorParameters[] = {
    {"weight_age", 0.0, 0, 1e9, "weight of the time in the queue, over max_age_s, in the priority (PriorityWeightAge)"},
    {"max_age_s", 604800.0, 1, 1e9, "time in the queue, in seconds, from which on it counts fully (PriorityMaxAge)"},
    {"weight_fairshare", 0.0, 0, 1e9, "weight of the fair-share factor (PriorityWeightFairshare)"},
    {"half_life_s", 604800.0, 60, 1e9,
     "time in which past usage loses half its weight, in seconds (PriorityDecayHalfLife)"},
    {"weight_job_size", 0.0, 0, 1e9, "weight of the servers and CPUs of the job (PriorityWeightJobSize)"},
    {"favor_small", false, 0, 0, "small jobs have the larger size factor, not large ones (PriorityFavorSmall)"},
    {"small_relative_to_time", false, 0, 0,
     "the size factor is CPUs over minutes of the limit (PriorityFlags=SMALL_RELATIVE_TO_TIME)"},
    {"weight_partition", 0.0, 0, 1e9,
     "weight of the job_factor of the virtual cluster, over the largest one (PriorityWeightPartition)"},
    {"weight_qos", 0.0, 0, 1e9, "weight of the job's priority, over the largest one of all jobs (PriorityWeightQOS)"},
    {"weight_gpu", 0.0, 0, 1e9, "weight of the GPUs of the job, over those that it may use (PriorityWeightTRES)"},
    {"weight_cpu", 0.0, 0, 1e9, "weight of the CPUs of the job, over those that it may use (PriorityWeightTRES)"},
    {"weight_memory", 0.0, 0, 1e9, "weight of the host memory of the job, over that it may use (PriorityWeightTRES)"},
    {"calc_period_s", 300.0, 1, 86400,
     "usage and the priorities of waiting jobs are computed once in so many seconds (PriorityCalcPeriod)"}};

/// Computes priorities, and keeps the usage of accounts and users. Usage and factors change at the multiples of a
/// period only. Usage is GPU time.
class MultifactorPriority {
 public:
  /// Throws InputError if a parameter that is not as usual has no effect beside the others.
  MultifactorPriority(const Parameters& parameters, AccountTree tree);

  /// True if priorities differ at all.
  [[nodiscard]] bool counts() const { return counts_; }
  /// True if usage counts, so that every start and end matters.
  [[nodiscard]] bool counts_usage() const { return weights_.fair_share > 0; }

  /// Must be called in the first pass, when no job runs yet: notes what the servers have.
  void begin(const ClusterView& cluster);
  /// The job queues: a user that the tree lacks is added to it.
  void queues(const JobView& job);
  /// Brings usage up to `now`. True if a period has ended, so that priorities are to be computed again.
  bool advance(Time now);
  /// The first end of a period after `now`.
  [[nodiscard]] Time next_period(Time now) const { return period_ * (now.ns() / period_.ns() + 1); }
  void starts(const JobView& job, Time now);
  void ends(const JobView& job, Time now);
  /// The priority at `now` of a job that waits, at least 1.
  [[nodiscard]] std::int64_t of(const JobView& job, const ClusterView& cluster, Time now) const;
  /// The fair-share factor of the job's user; 0 if usage doesn't count.
  [[nodiscard]] double fair_share_of(const JobView& job) const;

 private:
  struct Weights {
    double age = 0, fair_share = 0, size = 0, partition = 0, qos = 0, gpu = 0, cpu = 0, memory = 0;
  };
  /// GPUs, CPUs and host memory of servers; what is not counted is 0.
  struct Resources {
    std::size_t servers = 0;
    double gpus = 0, milli_cpus = 0, memory = 0;
  };
  [[nodiscard]] const Resources& resources_of(const ServerRange& servers) const;
  [[nodiscard]] double size_factor(const JobView& job, const ClusterView& cluster) const;
  [[nodiscard]] double tres(const JobView& job, const ClusterView& cluster) const;
  [[nodiscard]] double kept_after(Time time) const;
  void use(const JobView& job, Time from, Time to);
  void rank();
  [[nodiscard]] const Account* account_of(const JobView& job) const;
  [[nodiscard]] std::size_t user_of(const JobView& job) const;

  Weights weights_;
  Time max_age_, period_;
  double decay_log_;  // of the part of usage that a second leaves
  bool favors_small_, relative_to_time_, counts_;
  AccountTree tree_;
  std::int32_t largest_job_factor_ = 1;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> users_;  // by account and user, the index in tree_.users
  std::vector<double> usage_, factors_;                                 // by user of the tree
  std::vector<Resources> servers_;                                      // each alone
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, Resources> ranges_;  // of servers
  Time last_{};                                                                  // end of the last period
  struct Running {
    JobView job;
    Time start;
  };
  std::map<JobId, Running> running_;
};

}  // namespace contend
