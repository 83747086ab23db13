#pragma once
// ByOwner has the jobs of each owner of servers scheduled by a policy of their own. The owners are the virtual clusters
// that have servers, and the rest of the cluster, which all other virtual clusters share. Jobs of two owners never
// compete for a GPU, so what one owner's jobs get must not depend on another's load. With an instance for each, no
// state of a policy can make it so: neither the phase of its rounds, nor its random draws, nor the jobs that it
// counts.
//
// An instance decides when something happens that concerns it: a job of its owner is queued or leaves, a GPU of its
// servers or a part of one is given back, the instant has come that it asked for, or the placement policy may have
// changed its mind. It does not see the passes that the events of other owners cause.

#include "sim/ports.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace contend {

class ByOwner final : public SchedulingPolicy {
 public:
  using Make = std::function<std::unique_ptr<SchedulingPolicy>()>;
  /// `make` makes an instance of the policy; each call gives one that has seen nothing yet.
  explicit ByOwner(Make make);

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return first_->key(job); }
  void queued(const JobView& job) override;
  void left(JobId job) override;
  void resized(JobId job, const ClusterView& cluster) override;
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;
  [[nodiscard]] bool ignores_progress() const override { return first_->ignores_progress(); }
  [[nodiscard]] bool idle_passes() const override { return first_->idle_passes(); }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override;
  [[nodiscard]] Time slice(int gpus) const override { return first_->slice(gpus); }

 private:
  struct Part {
    std::unique_ptr<SchedulingPolicy> policy;
    bool has_news = false;         ///< a job of its owner was queued or has left since its last pass
    bool has_decided = false;      ///< since it was asked for its next decision
    Time next = Time::never();     ///< when it wants to decide again
    std::uint64_t given_back = 0;  ///< ClusterView::times_given_back after its last pass
  };

  void admit(const ClusterView& cluster);
  [[nodiscard]] static bool is_concerned(const Part& part, std::int32_t owner, const ClusterView& cluster);

  Make make_;
  SchedulingPolicy* first_;  // of parts_, or of unused_ before there are jobs
  std::unique_ptr<SchedulingPolicy> unused_;
  std::map<std::int32_t, Part> parts_;  // by owner: a virtual cluster; -1: the servers that none owns
  std::vector<Part*> part_of_;          // by job
  std::vector<JobView> arrived_;        // since the last pass; their owners are not known yet
  bool in_pass_ = false;
};

}  // namespace contend
