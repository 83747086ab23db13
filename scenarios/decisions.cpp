#include "scenarios/decisions.hpp"

#include "sim/check.hpp"

#include <utility>

namespace contend {
namespace {

class ObservedActions final : public SchedulingActions {
 public:
  ObservedActions(SchedulingActions& engine, const ClusterView& cluster, DecisionObserver& observer)
      : engine_{engine}, cluster_{cluster}, observer_{observer} {}

  bool start(JobId job) override {
    if (!engine_.start(job)) return false;
    observer_.started(cluster_.now(), job, cluster_.gpus_of(job));
    return true;
  }
  void preempt(JobId job) override {
    observer_.preempted(cluster_.now(), job, JobId::none());
    engine_.preempt(job);
  }
  void blocked(JobId job, Why why, JobId by) override {
    engine_.blocked(job, why, by);
    observer_.blocked(cluster_.now(), job, why, by);
  }
  [[nodiscard]] bool recording() const override { return true; }

 private:
  SchedulingActions& engine_;
  const ClusterView& cluster_;
  DecisionObserver& observer_;
};

class ObservedPolicy final : public SchedulingPolicy {
 public:
  ObservedPolicy(std::unique_ptr<SchedulingPolicy> policy, DecisionObserver& observer)
      : policy_{std::move(policy)}, observer_{observer} {}

  [[nodiscard]] std::int64_t key(const JobView& job) const override { return policy_->key(job); }
  void queued(const JobView& job) override {
    observer_.queued(job.since, job.id);
    policy_->queued(job);
  }
  void left(JobId job) override {
    CONTEND_CHECK(cluster_ != nullptr, "a job that leaves was started in a pass");
    observer_.ended(cluster_->now(), job, true);
    policy_->left(job);
  }
  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    cluster_ = &cluster;
    ObservedActions observed{actions, cluster, observer_};
    policy_->pass(cluster, observed);
  }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override { return policy_->next_decision(cluster); }

 private:
  std::unique_ptr<SchedulingPolicy> policy_;
  DecisionObserver& observer_;
  const ClusterView* cluster_ = nullptr;  ///< of the run: the engine has one
};

}  // namespace

std::unique_ptr<SchedulingPolicy> observed(std::unique_ptr<SchedulingPolicy> policy, DecisionObserver& observer) {
  return std::make_unique<ObservedPolicy>(std::move(policy), observer);
}

}  // namespace contend
