#pragma once
// ElasticPolicy is the base class of policies that give running jobs other numbers of GPUs. A derived class says how
// many GPUs each job should have; this class carries it out. Jobs that are to have fewer GPUs go first, then jobs that
// wait start, then others grow, each in order of submission. Where the placement policy has no place for a job with as
// many GPUs as it should have, it gets the next smaller number that has one. Jobs that were promised GPUs which they
// don't have yet go before the others. Whether their promises need jobs to move is decided before any job moves, so
// that no job starts and stops at one instant.
//
// These policies plan with numbers of GPUs, of each type of servers: as many as have CPUs and host memory beside them
// for a rank of the job that needs the least. Where jobs need more than others, or a quota holds a job back, a job that
// was to have GPUs may have to wait. A job that is not elastic has the number that it asks for, or none. Only jobs
// that were promised GPUs have places kept for them, which they get if the placement policy has none as the GPUs lie.

#include "policies/registry.hpp"
#include "policies/scheduling/decision_times.hpp"
#include "sim/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// A job that waits or runs, at the instant of a decision.
struct ElasticJob {
  JobView view;
  std::vector<int> sizes;      ///< numbers of GPUs on which it can run, on any type of servers, rising
  std::vector<double> speeds;  ///< [type x sizes + size]: work done in a second, in seconds of its duration; > 0 on one
                               ///< type, and 0 where it can't run on one of several
  double left_s = 0;           ///< work left, in the same unit
  int held = 0;                ///< GPUs that it has now
  std::int32_t type = 0;       ///< on which it has them
  int starts = 0;              ///< starts and changes of its number of GPUs so far

  /// Work done in a second on so many GPUs of the type; 0 on none, and where it can't run.
  [[nodiscard]] double speed_on(int gpus, std::int32_t type = 0) const;
  /// The next larger size; 0 if there is none.
  [[nodiscard]] int size_above(int gpus) const;
  /// The largest size of at most so many GPUs; 0 if there is none.
  [[nodiscard]] int size_within(int gpus) const;
  /// The largest size of fewer GPUs on which it can run on the type; 0 if there is none.
  [[nodiscard]] int usable_below(int gpus, std::int32_t type = 0) const;
};

/// What a policy decides.
struct Division {
  std::vector<int> gpus;                                     ///< by job: 0 or one of its sizes
  std::vector<std::int32_t> types{};                         ///< by job: of which type; empty: all of the first
  std::vector<std::pair<std::size_t, std::string>> refused;  ///< jobs that never start, and why
  Time next = Time::never();                                 ///< when it wants to decide again though nothing happens
  /// Jobs that must have so many GPUs, or more, and places for all of them. They are no more than `gpus` says.
  std::vector<SizedClaim> promised{};
};

/// A step to the next larger number of GPUs of a job.
struct GpuStep {
  const ElasticJob& job;
  int from = 0;  ///< GPUs that it has
  int to = 0;    ///< a size of the job, > from
};

/// Gives out the GPUs that are left, step after step, until no job can take one. Of the jobs whose step needs no more
/// GPUs than are left and that `may` take it, the winner takes it: jobs are compared in order, and `wins(best, other)`
/// says whether the later one is to take the place of the best before it. `gpus` has what each job has already.
void give_by_steps(std::span<const ElasticJob> jobs, int left, std::vector<int>& gpus,
                   const std::function<bool(const GpuStep&)>& may,
                   const std::function<bool(const GpuStep& best, const GpuStep& other)>& wins);

inline constexpr ParameterInfo elastic_period_parameter(double usual_s) {
  return {"period_s", usual_s, 0, 1e6,
          "seconds between decisions, which come at its multiples; 0: whenever a job arrives or ends"};
}

/// When a policy with that parameter decides.
[[nodiscard]] DecisionTimes elastic_decisions(const Parameters& parameters, const PolicyContext& context);

class ElasticPolicy : public SchedulingPolicy {
 public:
  /// Without a period it decides whenever a job arrives or ends.
  explicit ElasticPolicy(const DecisionTimes& decisions) : decisions_{decisions} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& job) override;
  void left(JobId job) override;
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;
  [[nodiscard]] bool idle_passes() const override { return true; }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override;

 protected:
  /// Divides so many GPUs of each type among the jobs, which are in order of submission; 0 of a type on which none of
  /// them can run. There is at least one job, and one type unless the policy's row says that it knows several.
  [[nodiscard]] virtual Division divide(std::span<const ElasticJob> jobs, std::span<const int> gpus, Time now) = 0;
  /// Servers that have as many GPUs as are divided now.
  [[nodiscard]] std::size_t servers() const { return servers_; }
  /// While the GPUs are divided: SchedulingActions::plan_together(), and the GPUs that a job has now.
  [[nodiscard]] bool find_places(std::span<SizedClaim> claims) { return actions_->plan_together(claims); }
  [[nodiscard]] std::span<const GpuId> gpus_of(JobId job) const { return cluster_->gpus_of(job); }

 private:
  [[nodiscard]] std::vector<ElasticJob> jobs_now(const ClusterView& cluster, std::vector<int>& gpus) const;
  /// Leaves out GPUs for which no server has CPUs and host memory.
  void leave_out_without_host(const ClusterView& cluster, std::span<const ElasticJob> jobs,
                              std::vector<int>& gpus) const;
  void carry_out(std::vector<ElasticJob> jobs, const Division& division, const ClusterView& cluster,
                 SchedulingActions& actions);
  /// The promises that running jobs do not have fulfilled: their jobs wait, or have fewer GPUs.
  [[nodiscard]] static std::vector<SizedClaim> open_promises(const Division& division, const ClusterView& cluster);
  /// True if the placement policy has places for the open promises once jobs have given way, so that all jobs can go on
  /// as they lie. `first`: the jobs of these promises, in order.
  [[nodiscard]] static bool finds_places(const std::vector<ElasticJob>& jobs, const Division& division,
                                         const std::vector<SizedClaim>& open, const std::vector<std::size_t>& first,
                                         SchedulingActions& actions);
  /// Starts the waiting jobs of `order`, and has the running ones grow, except those that were `placed` at this
  /// instant.
  void start_and_grow(const std::vector<ElasticJob>& jobs, const Division& division, std::vector<std::size_t> order,
                      const std::set<JobId>& placed, const ClusterView& cluster, SchedulingActions& actions);
  /// Has the jobs that were promised GPUs take the places that are kept for them. Of the other jobs, those for which
  /// there is no room beside these places wait: GPUs, CPUs and host memory of the servers, and quotas. Everything is
  /// planned before any job leaves its GPUs. Returns the jobs that have started or have other GPUs now.
  std::set<JobId> keep_promises(std::vector<ElasticJob>& jobs, const Division& division, const ClusterView& cluster,
                                SchedulingActions& actions);
  /// Adds a claim to those that are planned, with a place beside theirs. False, and nothing changes, if there is none.
  static bool add_claim(SizedClaim claim, std::vector<SizedClaim>& planned, SchedulingActions& actions);
  /// The same in the stead of the claim of the job that is planned so far.
  static bool replace_claim(SizedClaim claim, std::vector<SizedClaim>& planned, SchedulingActions& actions);
  void give_way(const ElasticJob& job, int gpus, std::int32_t type, SchedulingActions& actions);

  DecisionTimes decisions_;
  std::map<std::int64_t, JobId> jobs_;  // by JobView::tie
  std::map<JobId, std::int64_t> ties_;
  std::map<JobId, int> starts_;
  std::set<JobId> new_;        // that have queued since the last decision
  Time next_ = Time::never();  // that the policy has asked for
  std::size_t servers_ = 0;
  const ClusterView* cluster_ = nullptr;  // while the GPUs are divided
  SchedulingActions* actions_ = nullptr;  // in a pass only
};

}  // namespace contend
