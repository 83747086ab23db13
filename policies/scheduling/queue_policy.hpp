#pragma once
// QueuePolicy is the base of the policies that play the queues of Kubernetes' schedulers: it keeps the waiting and the
// running jobs of each queue of a tree. A queue is a virtual cluster; jobs without one have a queue of their own.

#include "policies/account_tree.hpp"
#include "policies/policy_row.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/queue_tree.hpp"
#include "sim/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

/// A job of a queue.
struct QueuedJob {
  JobView view;
  std::size_t queue = 0;  ///< a node of the tree
  /// Its number in the order in which jobs were admitted; 0: it waits for that.
  std::uint64_t admitted = 0;
  bool runs = false;  ///< false, though it is admitted: it has no place yet
  Time since{};       ///< when it started
  Time evicted{};     ///< when it was preempted last
  int evictions = 0;  ///< how often at that instant
};

class QueuePolicy : public SchedulingPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView& job) const final { return job.submit.ns(); }
  void queued(const JobView& view) final;
  void left(JobId id) final { left_.push_back(id); }
  void resized(JobId id, const ClusterView& cluster) final;
  void pass(const ClusterView& cluster, SchedulingActions& actions) final;
  [[nodiscard]] Time next_decision(const ClusterView& cluster) final;

 protected:
  /// The place of a job in its queue: larger priority, earlier submission.
  using Place = std::tuple<std::int64_t, Time, std::int64_t, JobId>;
  /// Jobs of a queue that wait, with one priority and demand.
  struct Lane {
    std::int32_t shape = 0;
    std::set<Place> jobs{};
  };
  using Lanes = std::map<std::pair<std::int64_t, std::int32_t>, Lane>;  // by falling priority, and shape

  /// `requeue`: a job that was preempted may be admitted again so much later. `at_once`: how often a job may be
  /// preempted at one instant and queue again there; from then on it queues a nanosecond later.
  QueuePolicy(AccountTree tree, Time requeue, int at_once = 1);

  /// Decides. All that has happened is counted.
  virtual void decide(const ClusterView& cluster, SchedulingActions& actions) = 0;
  /// So many GPUs of a job are in use from now on, or, below 0, no longer.
  virtual void uses(const QueuedJob& job, std::int64_t gpus, Time now) = 0;
  /// A job has left a queue of the tree, or was preempted.
  virtual void frees(std::size_t /*queue*/) {}
  /// A later instant at which the policy wants to decide.
  [[nodiscard]] virtual Time next_of_policy(const ClusterView& /*cluster*/) { return Time::never(); }
  /// The reason why a waiting job waits, for explanations.
  [[nodiscard]] virtual std::pair<Why, JobId> why(const QueuedJob& job, const ClusterView& cluster) = 0;

  [[nodiscard]] QueuedJob& job(JobId id) { return jobs_[id.index()]; }
  [[nodiscard]] const QueuedJob& job(JobId id) const { return jobs_[id.index()]; }
  [[nodiscard]] const QueueTree& tree() const { return tree_; }
  [[nodiscard]] QueueTree& tree() { return tree_; }
  [[nodiscard]] const AccountTree& accounts() const { return accounts_; }
  [[nodiscard]] const QueueRules& rules(std::size_t queue) const {
    static const QueueRules kNone;
    return queue < accounts_.accounts.size() ? accounts_.accounts[queue].rules : kNone;
  }
  [[nodiscard]] const Lanes& waiting(std::size_t queue) const { return waiting_[queue]; }
  /// The first waiting job of the queue of a lane for which `skips(shape, place of its first job)` is false; none() if
  /// there is none.
  template <class Skips>
  [[nodiscard]] JobId head(std::size_t queue, const Skips& skips) const {
    for (auto at = waiting_[queue].begin(); at != waiting_[queue].end();) {
      const std::int64_t priority = at->first.first;
      const Place* first = nullptr;
      for (; at != waiting_[queue].end() && at->first.first == priority; ++at)
        if (!skips(at->second.shape, *at->second.jobs.begin()) &&
            (first == nullptr || *at->second.jobs.begin() < *first))
          first = &*at->second.jobs.begin();
      if (first != nullptr) return std::get<JobId>(*first);
    }
    return JobId::none();
  }
  [[nodiscard]] static Place place_of(const JobView& view) {
    return {-std::int64_t{view.priority}, view.submit, view.tie, view.id};
  }
  [[nodiscard]] std::int32_t shape_of(const JobView& view) { return shapes_.of(view); }
  /// The nodes from the root to this one.
  [[nodiscard]] std::vector<std::size_t> path_to(std::size_t n) const;
  /// Jobs of the queue that are admitted, in the order of that.
  [[nodiscard]] const std::map<std::uint64_t, JobId>& admitted(std::size_t queue) const { return admitted_[queue]; }

  /// The job leaves the waiting ones and uses its quota.
  void admit(JobId id, Time now);
  /// Starts an admitted job; false if it has no place.
  bool place(JobId id, SchedulingActions& actions, Time now);
  /// Notes that an admitted job has started.
  void started(JobId id, Time now);
  /// Admits the job and starts it in the place of some of these; false if it has no place even so.
  bool start_taking(JobId id, std::span<const JobId> victims, SchedulingActions& actions, Time now);
  /// A job that was preempted runs already, on other GPUs.
  void runs_again(JobId id, Time now);
  /// Takes the GPUs and the quota of a job, which waits again.
  void evict(JobId id, JobId by, SchedulingActions& actions, Time now);
  /// Evicted jobs wait in their queues again, if their time has come. True if any does.
  bool requeue(Time now);

 private:
  void insert(const JobView& view);
  void settle(const ClusterView& cluster);
  void release(QueuedJob& gone, Time now);
  void waits_again(QueuedJob& one);
  void explain(const ClusterView& cluster, SchedulingActions& actions);

  AccountTree accounts_;
  QueueTree tree_;
  Time requeue_;
  int at_once_;
  Shapes shapes_;
  bool in_pass_ = false;
  Time now_{};
  std::uint64_t admissions_ = 0;
  std::vector<QueuedJob> jobs_;                           // by job
  std::vector<Lanes> waiting_;                            // by queue
  std::vector<std::map<std::uint64_t, JobId>> admitted_;  // by queue
  std::set<std::pair<Time, JobId>> evicted_;              // by the time at which they queue again
  std::vector<JobId> left_;                               // since the last pass
  std::vector<JobView> arrived_;                          // since the last pass
};

}  // namespace contend
