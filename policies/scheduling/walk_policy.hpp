#pragma once
// WalkPolicy is the base class of the preemptive policies. At every pass the GPUs go to the first jobs of an order, as
// many as fit, and running jobs that are not among them are preempted (GreedyWalk). A derived class defines the order.

#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/greedy_walk.hpp"
#include "policies/scheduling/server_rooms.hpp"
#include "sim/ports.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace contend {

/// A waiting or running job.
struct WalkJob {
  std::uint32_t walk = 0;  ///< index of its walk
  bool running = false;
  bool is_new = true;    ///< the job arrived after the last pass
  bool demotes = false;  ///< `due` is the time of a demotion, not of a promotion
  MovingRank at;         ///< its place in the walk, while it runs
  JobView view;          ///< the view of the job when it last began to wait, or was resized
  Time since{};          ///< start of its current run, or when it was resized
  // The following members are for policies that rank jobs by attained service (level_policy.hpp).
  std::int64_t level = 0;
  GpuTime forgotten{};       ///< attained GPU time that no longer counts
  Time waited{};             ///< waiting time since the last promotion, without the current wait
  Time due = Time::never();  ///< when the level changes
  std::int64_t late = 0;     ///< its place in LevelPolicy::late_
  RoomNeeded room{};         ///< that the placement policy needs for it
  boost::container::small_vector<ServerId, 4> servers{};  ///< on which it runs; empty while it waits

  /// Returns the GPU time that the job has attained by `now`.
  [[nodiscard]] GpuTime attained(Time now) const {
    return running ? view.attained_service + GpuTime{now - since, view.gpus} : view.attained_service;
  }
};

/// Each pool (demand.hpp) has a walk of its own.
///
/// The placement policy may refuse a job for which the walk has room, because the free GPUs and the GPUs of the jobs
/// that the walk would stop are scattered. Then the job takes the place of other running jobs behind it, if the
/// placement policy finds one (SchedulingActions::start_preempting). If not, no job is preempted for it, and the walk
/// leaves out this job and others of its shape until other jobs have given way, or until the next pass. ServerRooms
/// rules out most such jobs before the placement policy is asked.
///
/// A policy that migrates jobs does otherwise, as released simulators do: where jobs wait, the placement policy decides
/// about each job of the order, on a cluster with the jobs in front of it alone.
class WalkPolicy : public SchedulingPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& view) final;
  void left(JobId job) final;
  void resized(JobId id, const ClusterView& cluster) final;
  void pass(const ClusterView& cluster, SchedulingActions& actions) final;
  [[nodiscard]] bool idle_passes() const final { return sees_every_event(); }

 protected:
  /// Returns the place of a job that begins to wait because it arrived or was preempted.
  [[nodiscard]] virtual Rank waiting_rank(WalkJob& job) = 0;
  /// Returns the place of a job that starts now.
  [[nodiscard]] virtual MovingRank running_rank(WalkJob& job, const Rank& waiting) = 0;
  /// Called before and after the walks of a pass; may move jobs to other places.
  virtual void before_walks(const ClusterView& /*cluster*/) {}
  virtual void after_walks(const ClusterView& /*cluster*/) {}
  virtual void job_started(WalkJob& /*job*/) {}
  /// Called when a job was preempted, ended or failed.
  virtual void job_stopped(WalkJob& /*job*/) {}
  /// Called when a job ended or left because an attempt failed.
  virtual void job_left(const WalkJob& /*job*/) {}
  /// Called before a job that has been here has this view, with as many GPUs or others.
  virtual void width_changes(WalkJob& /*job*/, const JobView& /*next*/) {}

  /// Returns true if the policy needs a pass at every event.
  [[nodiscard]] virtual bool sees_every_event() const { return false; }
  /// Returns true if a job that has given way may stand in front of the job that took its place, as in the lists of
  /// released simulators. Such a job starts in the same pass only on free GPUs.
  [[nodiscard]] virtual bool has_lists() const { return false; }
  /// Returns true if running jobs may be moved to other GPUs (place_anew()).
  [[nodiscard]] virtual bool migrates() const { return false; }
  /// Returns true if a waiting job may preempt a running one.
  [[nodiscard]] virtual bool is_preemptive() const { return true; }

  /// Returns true if jobs wait: enough GPUs may be free for them and yet none where the placement policy wants them.
  [[nodiscard]] bool has_waiting() const { return std::ranges::any_of(walks_, &GreedyWalk::has_waiting); }
  /// Returns the smallest key of a running job that may have to give way in this pass: the key of the first waiting
  /// job, as no job in front of it gives way unless the running jobs have more than the capacity. Nothing: none gives
  /// way.
  [[nodiscard]] std::optional<PolicyKey> first_that_may_stop();
  [[nodiscard]] Time now() const { return now_; }
  /// Returns the number of the current pass, from 1; between passes, the number of the next one.
  [[nodiscard]] std::int64_t passes() const { return passes_; }
  [[nodiscard]] WalkJob& job(JobId id) { return *by_id_[id.index()]; }
  /// The job if it waits or runs, else nullptr.
  [[nodiscard]] const WalkJob* find(JobId id) const { return by_id_[id.index()]; }
  /// Calls `act(job)` for all jobs, in no order.
  template <class Act>
  void for_each_job(const Act& act) {
    for (WalkJob& job : jobs_) {
      if (job.view.id.valid()) act(job);
    }
  }
  void rerank(WalkJob& job, const MovingRank& rank);
  [[nodiscard]] Rank place_of(const WalkJob& job) const { return walks_[job.walk].place(job.view.id, now_); }
  /// Returns the jobs that arrived after the last pass and still wait after this one.
  [[nodiscard]] const std::vector<JobId>& newcomers() const { return newcomers_; }

 private:
  [[nodiscard]] WalkJob* take_unused();
  void note_servers(WalkJob& job, const ClusterView& cluster);
  void admit(const ClusterView& cluster, const SchedulingActions& actions);
  void add_walk(const ClusterView& cluster, const JobView& job);
  [[nodiscard]] int gpus_per_server() const { return static_cast<int>(cluster_->gpus() / cluster_->servers()); }
  [[nodiscard]] bool exists(GpuId gpu) const;
  [[nodiscard]] bool uses_server(std::uint32_t walk, ServerId server) const;
  void look_at_types(std::uint32_t walk);
  bool holders_of(std::uint32_t walk, GpuId gpu, std::vector<MovingRank>& places);
  void touch_servers_of(const WalkJob& job);
  [[nodiscard]] bool has_room_behind(const WalkJob& job, const Rank& place);
  void run(GreedyWalk& walk, SchedulingActions& actions);
  void place_anew(std::uint32_t walk, SchedulingActions& actions);
  void settle(GreedyWalk& walk, SchedulingActions& actions);
  void forget_refusals(GreedyWalk& walk);
  void refuse_without_room(GreedyWalk& walk);
  void carry_out(GreedyWalk& walk, SchedulingActions& actions);
  void take_back(GreedyWalk& walk);
  bool start_in_place_of_any_behind(GreedyWalk& walk, const Rank& waiting, SchedulingActions& actions);
  [[nodiscard]] std::vector<JobId> jobs_behind(std::uint32_t walk, const Rank& place,
                                               std::span<const ServerId> servers);
  void start_in_free(GreedyWalk& walk, SchedulingActions& actions);
  void hold_started_behind(const Rank& place);
  void rank_started();
  void mark_started(const Rank& waiting);
  void explain(SchedulingActions& actions);

  Time now_{};
  std::int64_t passes_ = 1;
  const ClusterView* cluster_ = nullptr;  // during a pass
  std::deque<WalkJob> jobs_;              // an unused one has no id
  std::vector<WalkJob*> unused_;          // of jobs_
  std::vector<WalkJob*> by_id_;           // null for a job that is not there
  std::vector<GreedyWalk> walks_;
  std::vector<ServerRooms> rooms_;                     // by walk
  std::vector<std::vector<ServerId>> out_of_service_;  // by walk: servers where a GPU was when rooms_ looked last
  std::vector<std::vector<bool>> used_types_;          // by walk: Pools::uses() when rooms_ looked last
  Pools pools_;
  Shapes shapes_;
  std::vector<JobId> arrived_, newcomers_;
  std::vector<GreedyWalk::Change> changes_;  // that the walk requires and that have not been carried out
  std::vector<MovingRank> started_;          // their places among the running jobs
  std::vector<MovingRank> fresh_;            // the same of all that started in this pass of this walk
  std::vector<Rank> gave_way_;               // in this walk, with their places among the running jobs
  std::vector<JobId> on_gpu_;                // scratch
  std::set<JobId> no_place_;                 // refused in this pass although enough GPUs were free
};

}  // namespace contend
