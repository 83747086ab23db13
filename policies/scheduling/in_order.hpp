#pragma once
// InOrder is the base class of policies that start queued jobs in the order of their keys. It can be strict (the first
// job that cannot start holds back the rest) or skip jobs that do not fit, and it can preempt running jobs.
//
// A virtual cluster that has a quota has a queue of its own: its jobs never hold back the jobs of another virtual
// cluster.

#include "policies/registry.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/lanes.hpp"
#include "sim/ports.hpp"

#include <vector>

namespace contend {

/// The parameter `strict` of the policies that have InOrder::Rules.
[[nodiscard]] constexpr ParameterInfo strict_parameter(bool by_default) {
  return {"strict", by_default, 0, 0, "the first job that can't be placed holds back the rest of the queue"};
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
  [[nodiscard]] bool ignores_progress() const override { return !rules_.preemptive; }
  [[nodiscard]] const Rules& rules() const { return rules_; }

 private:
  void insert(const JobView& job) { lanes_.insert({key(job), job.tie, job.id}, job, shapes_.of(job)); }
  [[nodiscard]] bool is_hopeless(const ClusterView& cluster, const JobView& job) const;
  void round(const ClusterView& cluster, SchedulingActions& actions);
  void hold_back_behind(const ClusterView& cluster, SchedulingActions& actions, JobId refused);
  bool try_to_start(const ClusterView& cluster, SchedulingActions& actions, JobId job);
  bool start_in_place_of_larger(const ClusterView& cluster, SchedulingActions& actions, JobId job);
  [[nodiscard]] static Why why_not(const ClusterView& cluster, const JobView& job);

  Rules rules_;
  Shapes shapes_;
  Lanes lanes_;
  std::vector<JobId> running_;  // preemptive only: in order of start, without the jobs of `started_`
  std::vector<JobId> started_;  // preemptive only: in this pass
  bool in_pass_ = false;
  bool listens_ = false;            // SchedulingActions::recording()
  std::vector<JobView> preempted_;  // in this round; they join the queue when the round is over
};

}  // namespace contend
