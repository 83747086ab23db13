#pragma once
// InOrder is the base class of policies that start queued jobs in the order of their keys. It can be strict (the first
// job that cannot start holds back the rest) or skip jobs that do not fit, and it can preempt running jobs.
//
// A virtual cluster that owns servers or has a quota has a queue of its own: its jobs never hold back the jobs of
// another virtual cluster.

#include "policies/registry.hpp"
#include "policies/scheduling/ordered_queue.hpp"
#include "sim/ports.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace contend {

/// The parameter `strict` of the policies that have InOrder::Rules.
[[nodiscard]] constexpr ParameterInfo strict_parameter(bool by_default) {
  return {"strict", by_default, 0, 0, "the first job that can't be placed holds back the rest of the queue"};
}

/// Returns the number of GPUs that must be wholly free for the job to start; 0 if the job can share GPUs with others.
[[nodiscard]] inline int demand_of(const JobView& job) {
  return job.gpu_share == kWholeGpu ? job.gpus : 0;
}

class InOrder : public SchedulingPolicy {
 public:
  struct Rules {
    bool strict = false;      ///< the first queued job that can't be placed holds back the rest of its queue
    bool preemptive = false;  ///< a queued job may take the place of running jobs with larger keys
  };
  explicit InOrder(Rules rules) : rules_{rules} {}

  void queued(const JobView& job) override;
  void left(JobId job) override;
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;
  [[nodiscard]] const Rules& rules() const { return rules_; }

 private:
  /// The demand of a job decides whether it finds room. Jobs with the same demand wait in one lane: if one of them is
  /// refused, the rest of the lane can often be skipped.
  struct Demand {
    std::int32_t vc = -1, gpus = 1, share = 0, milli_cpus = 0;
    std::int64_t memory = 0, host_memory = 0;
    auto operator<=>(const Demand&) const = default;
  };
  struct Lane {
    Demand demand;
    OrderedQueue queue;
    bool is_isolated = false;  ///< belongs to a virtual cluster that cannot block others
    bool is_dropped = false;   ///< its other jobs are not tried in this round
    OrderedQueue::Place next;  ///< the job to try next in this round
  };

  void insert(const JobView& job);
  [[nodiscard]] bool is_hopeless(const ClusterView& cluster, const Lane& lane) const;
  void round(const ClusterView& cluster, SchedulingActions& actions);
  void on_refused(SchedulingActions& actions, Lane& lane);
  bool try_to_start(const ClusterView& cluster, SchedulingActions& actions, JobId job);
  bool start_in_place_of_larger(const ClusterView& cluster, SchedulingActions& actions, JobId job);
  [[nodiscard]] static Why why_not(const ClusterView& cluster, const JobView& job);
  static void report_behind(SchedulingActions& actions, const Lane& lane, JobId blocker);

  Rules rules_;
  std::vector<Lane> lanes_;
  std::map<Demand, std::size_t> lane_of_;
  std::vector<std::size_t> order_;  // in a round: a heap of lanes, the one with the first job in front
  std::vector<JobId> running_;      // preemptive only: in order of start
  bool in_pass_ = false;
  bool listens_ = false;            // SchedulingActions::recording()
  std::vector<JobView> preempted_;  // in this round; they join the queue when the round is over
};

}  // namespace contend
