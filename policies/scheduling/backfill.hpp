#pragma once
// The base class of the backfilling policies keeps the queue in order of submission, estimates how long jobs run, and
// keeps the plan of the places that jobs hold and are promised (place_plan.hpp).
//
// These policies never preempt a job. A planned start may fail if GPUs are taken out of service in the meantime.

#include "policies/registry.hpp"
#include "policies/scheduling/decision_times.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/place_plan.hpp"
#include "policies/scheduling/rank_tree.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace contend {

/// Estimates how long a job runs.
struct DurationEstimate {
  bool use_limit = true;  ///< the estimate is the user's time limit, if the job has one
  double factor = 1;      ///< otherwise the estimate is this multiple of the actual duration; > 0

  [[nodiscard]] Time of(const JobView& job) const;
};

/// How far a policy plans; 0: without a limit.
struct PlanLimits {
  std::int64_t depth = 0;      ///< jobs that a pass looks at
  std::int64_t per_user = 0;   ///< of each user
  Time window{};               ///< from now to the begin of a place that is kept
  Time resolution{};           ///< places are held from and until its multiples
  bool whole_servers = false;  ///< a place is held with all GPUs of its servers

  /// True if a pass doesn't look at all jobs.
  [[nodiscard]] bool limits_jobs() const { return depth > 0 || per_user > 0; }
  [[nodiscard]] bool any() const { return limits_jobs() || window > Time{} || resolution > Time{} || whole_servers; }
};

/// The parameters of DurationEstimate, then the parameters of PlanLimits.
inline constexpr ParameterInfo kBackfillParameters[] = {
    {"use_limit", true, 0, 0, "the estimate of a job's duration is its time limit, if it has one"},
    {"estimate_factor", 1.0, 1e-3, 1e6, "otherwise the estimate is this multiple of the actual duration"},
    {"depth", std::int64_t{0}, 0, 1e6, "jobs that a pass looks at beside those that it starts in order; 0: all"},
    {"per_user", std::int64_t{0}, 0, 1e6, "of these, jobs of each user; 0: all"},
    {"window_s", 0.0, 0, 1e9, "no place is kept that begins more than so many seconds ahead; 0: any"},
    {"resolution_s", 0.0, 0, 1e6,
     "a place is held from the last multiple of so many seconds to the first one after it; 0: just as long as needed"},
    {"whole_servers", false, 0, 0, "a place is held with all GPUs of its servers"}};
inline constexpr std::size_t kEstimateParameters = 2;  // of them

/// Counts the jobs that a pass looks at.
class LookedAt {
 public:
  explicit LookedAt(const PlanLimits& limits) : limits_{limits} {}
  /// True if the pass looks at no further job.
  [[nodiscard]] bool is_full() const { return limits_.depth > 0 && jobs_ >= limits_.depth; }
  /// Counts the job, unless its user has had as many as it may.
  bool add(const JobView& job) {
    if (limits_.per_user > 0 && ++of_user_[job.user] > limits_.per_user) return false;
    ++jobs_;
    return true;
  }

 private:
  const PlanLimits& limits_;
  std::int64_t jobs_ = 0;
  std::map<std::int32_t, std::int64_t> of_user_;
};

struct BackfillJob {
  JobView view;
  std::uint32_t queue = 0;  ///< of the jobs that may use the same servers and share one quota
  std::int32_t shape = 0;
  Time estimate{};                ///< on the slowest servers that it may use, until the pass that can use its GPUs
  Time start{}, end{};            ///< of a running job, or when it was resized; the end is estimated
  Time due{};                     ///< the end that was estimated first
  std::optional<Time> planned{};  ///< of a waiting job: the start of the place that is kept for it
  [[nodiscard]] Rank rank() const { return {view.submit.ns(), 0, view.tie, view.id}; }
};

/// The values of these parameters.
[[nodiscard]] PlanLimits plan_limits(const Parameters& parameters);

/// Keeps the jobs and the plan. Derived classes decide which waiting jobs have places kept.
class BackfillPolicy : public SchedulingPolicy {
 public:
  /// Passes come at multiples of the quantum; 0: at any instant.
  BackfillPolicy(const Parameters& parameters, Time quantum, const PlanLimits& limits = {});
  [[nodiscard]] PolicyKey key(const JobView& job) const final { return job.submit.ns(); }
  void queued(const JobView& view) final;
  void left(JobId job) final;
  void resized(JobId id, const ClusterView& cluster) final;

 protected:
  /// What has happened since the last pass.
  struct News {
    bool has_freed = false;  ///< a job ended before its estimate, or GPUs came into service
    /// Where and until when jobs would have held what they have freed; without servers: somewhere, and for ever.
    std::vector<ServerId> freed_on;
    Time freed_until{};
    bool has_taken = false;  ///< a job has outrun its estimate, or GPUs went out of service
  };

  /// Called at the beginning of a pass for each job that has arrived since the last one.
  virtual void joins(BackfillJob& job) = 0;
  /// Called at the beginning of a pass for each job that has left its GPUs since the last one, which was at `at`; and
  /// when a job goes on with other GPUs, `next`.
  virtual void leaves(const BackfillJob& /*job*/, Time /*at*/, const JobView* /*next*/) {}
  /// Returns until when a job is assumed to run that has outrun its estimate.
  [[nodiscard]] virtual Time prolonged(const BackfillJob& job, Time now) const = 0;
  /// A pass must call it first: brings the plan up to the present, and calls joins() for new jobs.
  News begin_pass(const ClusterView& cluster);
  /// A pass must call it last.
  void end_pass(const ClusterView& cluster) {
    in_service_ = cluster.gpus_in_service(vc_, -1);
    service_changes_ = cluster.service_changes(vc_);
  }
  /// Starts a job for which no place is kept where neither running jobs nor kept places are in its way, for as long as
  /// it will run. Returns false if the placement policy has no place for it, or its quota no room.
  bool start(BackfillJob& job, const ClusterView& cluster, SchedulingActions& actions);
  /// Starts a job on a place that was kept for it until now.
  bool start_there(BackfillJob& job, const PlacePlan::Place& place, const ClusterView& cluster,
                   SchedulingActions& actions);
  /// Starts a job on these servers, where running jobs leave it a place. No place may be kept for any job.
  bool start_within(BackfillJob& job, const ServerSet& servers, const ClusterView& cluster, SchedulingActions& actions);
  /// Looks for the first place that begins in [from, until), on one of these servers if any are given, and keeps it.
  bool keep_earliest(BackfillJob& job, Time from, Time until, SchedulingActions& actions,
                     std::span<const ServerId> servers = {});
  /// False if keep_earliest() would keep no place for the job were the place that is kept for it withdrawn.
  [[nodiscard]] bool may_move(const BackfillJob& job, Time from, Time until, const SchedulingActions& actions,
                              std::span<const ServerId> servers) const;
  /// Adds what has been held until `end` to what is free.
  static void note_freed(const PlacePlan::Place& place, Time end, const ClusterView& cluster, News& news) {
    for (const GpuId gpu : place.gpus) note_freed(cluster.server_of(gpu), end, news);
  }
  static void note_freed(ServerId server, Time end, News& news);
  /// The servers on which a place lies in part that there was not before; none given: any.
  [[nodiscard]] static std::span<const ServerId> where_freed(const BackfillJob& job, const News& news,
                                                             const ClusterView& cluster);
  /// True if so many GPUs are free for the job, wherever they are.
  [[nodiscard]] static bool has_gpus(const ClusterView& cluster, const JobView& job);
  /// Says for explanations why the job waits, and which place is kept for it.
  void say_why(const BackfillJob& job, Why why, JobId by, SchedulingActions& actions) const;
  [[nodiscard]] const PlanLimits& limits() const { return limits_; }
  /// False if no place that begins then is kept.
  [[nodiscard]] bool is_near(Time start, Time now) const {
    return limits_.window == Time{} || start <= later(now, limits_.window);
  }
  /// Keeps this place for the job.
  void keep(BackfillJob& job, const PlacePlan::Place& place);
  /// Keeps its place no longer, and returns it.
  PlacePlan::Place withdraw(BackfillJob& job);
  [[nodiscard]] BackfillJob& job(JobId id) { return jobs_.at(id); }
  [[nodiscard]] const BackfillJob& job(JobId id) const { return jobs_.at(id); }
  [[nodiscard]] PlacePlan& plan() { return plan_; }
  /// How often a job has started, ended or outrun its estimate, or GPUs have changed their state.
  [[nodiscard]] std::size_t changes() const { return changes_; }
  /// The running jobs, by estimated end.
  [[nodiscard]] const std::set<std::pair<Time, JobId>>& running() const { return running_; }
  /// The estimated end of the running job that ends first; Time::never() if none runs.
  [[nodiscard]] Time next_end() const { return running_.empty() ? Time::never() : running_.begin()->first; }

  /// The first instant after `now` at which there may be a pass.
  [[nodiscard]] Time next_pass(Time now) const { return pass_from(later(now, Time::nanoseconds(1))); }
  /// The first instant that is not before `time` at which there may be a pass.
  [[nodiscard]] Time pass_from(Time time) const { return passes_.first_from(time); }

 private:
  void note_start(BackfillJob& job, const ClusterView& cluster);
  /// How long the job will have its GPUs on servers of that type; -1: on the slowest that it may use.
  [[nodiscard]] Time length_on(const JobView& job, const ClusterView& cluster, std::int32_t type) const;

  DurationEstimate estimate_;
  PlanLimits limits_;
  DecisionTimes passes_;
  Pools queues_;
  Shapes shapes_;
  std::map<JobId, BackfillJob> jobs_;
  std::set<std::pair<Time, JobId>> running_;  // by estimated end
  std::vector<JobId> arrived_;
  std::vector<BackfillJob> ended_;  // since the last pass
  News news_;                       // since the last pass, of jobs that were resized
  PlacePlan plan_;
  std::int32_t vc_ = -1;               // of the jobs, as far as it says which servers they may use
  int in_service_ = 0;                 // GPUs, at the end of the last pass
  std::uint64_t service_changes_ = 0;  // ClusterView::service_changes then
  std::size_t changes_ = 0;
};

}  // namespace contend
