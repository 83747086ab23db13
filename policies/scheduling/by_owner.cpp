#include "policies/scheduling/by_owner.hpp"

#include <algorithm>
#include <utility>

namespace contend {

ByOwner::ByOwner(Make make) : make_{std::move(make)}, unused_{make_()} {
  first_ = unused_.get();
}

void ByOwner::queued(const JobView& job) {
  if (in_pass_) return part_of_[job.id.index()]->policy->queued(job);  // it was preempted by its own policy
  arrived_.push_back(job);
}

void ByOwner::left(JobId job) {
  Part& part = *part_of_[job.index()];
  part.has_news = true;
  part.policy->left(job);
}

void ByOwner::resized(JobId job, const ClusterView& cluster) {
  Part& part = *part_of_[job.index()];
  part.has_news = true;
  part.policy->resized(job, cluster);
}

void ByOwner::admit(const ClusterView& cluster) {
  for (const JobView& job : std::exchange(arrived_, {})) {
    const std::int32_t owner = cluster.owns_servers(job.vc) ? job.vc : -1;
    Part& part = parts_[owner];
    if (part.policy == nullptr) part.policy = unused_ != nullptr ? std::move(unused_) : make_();
    if (part_of_.size() <= job.id.index()) part_of_.resize(job.id.index() + 1);
    part_of_[job.id.index()] = &part;
    part.has_news = true;
    part.policy->queued(job);
  }
}

bool ByOwner::is_concerned(const Part& part, std::int32_t owner, const ClusterView& cluster) {
  return part.has_news || part.next <= cluster.now() || part.given_back != cluster.times_given_back(owner);
}

void ByOwner::pass(const ClusterView& cluster, SchedulingActions& actions) {
  in_pass_ = true;
  admit(cluster);
  const bool concerns_one =
      std::ranges::any_of(parts_, [&](const auto& part) { return is_concerned(part.second, part.first, cluster); });
  const bool concerns_all = parts_.size() == 1 || !concerns_one || actions.placement_is_due();
  for (auto& [owner, part] : parts_) {
    if (!concerns_all && !is_concerned(part, owner, cluster)) continue;
    part.has_news = false;
    part.has_decided = true;
    part.next = Time::never();
    part.policy->pass(cluster, actions);
    part.given_back = cluster.times_given_back(owner);
  }
  in_pass_ = false;
}

/// A part that has not decided is not asked again: its answer might be an interval from now on.
Time ByOwner::next_decision(const ClusterView& cluster) {
  Time next = Time::never();
  for (auto& [owner, part] : parts_) {
    if (std::exchange(part.has_decided, false)) part.next = part.policy->next_decision(cluster);
    next = std::min(next, part.next);
  }
  return next;
}

}  // namespace contend
