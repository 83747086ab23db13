#pragma once
// What the preemptive policies have in common: at every pass the GPUs go to the first jobs of an order, as many as fit,
// and running jobs that are not among them give way (GreedyWalk). A policy says what the order is.

#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/greedy_walk.hpp"
#include "sim/ports.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace contend {

/// A job that waits or runs, as the policy keeps it.
struct WalkJob {
  JobView view;            ///< as it was when the job last began to wait
  std::uint32_t walk = 0;  ///< which of the walks it is in
  bool running = false;
  Time since{};        ///< of its present run
  bool is_new = true;  ///< has come since the last pass
  // For the policies that rank jobs by what they have had (level_policy.hpp).
  std::int64_t level = 0;
  Time forgotten{};          ///< GPU time that counts no longer
  Time waited{};             ///< since its service was last forgotten, before its present wait
  Time due = Time::never();  ///< when it is to change its level
  std::int64_t late = 0;     ///< its place in LevelPolicy::late_

  /// GPU time that it has held by `now`.
  [[nodiscard]] Time attained(Time now) const {
    return running ? view.attained_service + (now - since) * view.gpus : view.attained_service;
  }
};

/// The jobs of each pool (demand.hpp) have a walk of their own.
///
/// Placement may refuse a job for which the walk has room. It and others of its shape are left out until the next pass.
/// If running jobs gave way in that pass, it makes nobody give way again before it has run: it waits for GPUs that are
/// free. So fragmentation doesn't make jobs change places forever.
class WalkPolicy : public SchedulingPolicy, private WalkOrder {
 public:
  [[nodiscard]] std::int64_t key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& view) final;
  void left(JobId job) final;
  void pass(const ClusterView& cluster, SchedulingActions& actions) final;
  [[nodiscard]] bool idle_passes() const final { return sees_every_event(); }

 protected:
  /// The place of a job that begins to wait: it arrived, or has just given way.
  [[nodiscard]] virtual Rank waiting_rank(WalkJob& job) = 0;
  /// The place of a job that starts now.
  [[nodiscard]] virtual MovingRank running_rank(WalkJob& job, const Rank& waiting) = 0;
  /// Before and after the walks of a pass: to move jobs to other places. The first is left out of a pass in which there
  /// is room for all, unless the policy wants to see every event.
  virtual void before_walks(const ClusterView& /*cluster*/) {}
  virtual void after_walks(const ClusterView& /*cluster*/) {}
  virtual void job_started(WalkJob& /*job*/) {}
  /// It gave way, ended, or failed.
  virtual void job_stopped(WalkJob& /*job*/) {}
  /// It ended, or an attempt did.
  virtual void job_ended(const WalkJob& /*job*/) {}

  [[nodiscard]] virtual bool sees_every_event() const { return false; }
  /// A job may take the GPUs of one that runs.
  [[nodiscard]] virtual bool is_preemptive() const { return true; }

  /// In the last pass there was not room for all jobs.
  [[nodiscard]] bool was_tight() const { return was_tight_; }
  [[nodiscard]] Time now() const { return now_; }
  /// Counts the passes, from 1; during notifications: that of the next.
  [[nodiscard]] std::int64_t passes() const { return passes_; }
  [[nodiscard]] WalkJob& job(JobId id) { return jobs_.at(id); }
  [[nodiscard]] std::map<JobId, WalkJob>& jobs() { return jobs_; }
  void rerank(const WalkJob& job, const MovingRank& rank) { walks_[job.walk].jobs.rerank(job.view.id, rank); }
  [[nodiscard]] Rank place_of(const WalkJob& job) const { return walks_[job.walk].jobs.place(job.view.id, now_); }
  /// Jobs that came since the last pass and still wait after this one.
  [[nodiscard]] const std::vector<JobId>& newcomers() const { return newcomers_; }

 private:
  struct Walk {
    GreedyWalk jobs;
    std::set<Rank> stranded;  ///< others gave way to them and yet they found no place
  };
  [[nodiscard]] MovingRank when_started(const Rank& waiting) override;
  void admit(const ClusterView& cluster);
  void run(Walk& walk, SchedulingActions& actions);
  bool carry_out(Walk& walk, SchedulingActions& actions);
  void try_stranded(Walk& walk, SchedulingActions& actions);
  void mark_started(JobId job);
  void explain(SchedulingActions& actions);

  Time now_{};
  bool was_tight_ = false;
  std::int64_t passes_ = 1;
  const ClusterView* cluster_ = nullptr;  // during a pass
  std::map<JobId, WalkJob> jobs_;
  std::vector<Walk> walks_;
  Pools pools_;
  Shapes shapes_;
  std::vector<JobId> arrived_, newcomers_;
  std::vector<GreedyWalk::Change> changes_;
  std::set<JobId> no_place_;  // refused in this pass, by number there was room
};

}  // namespace contend
