#include "policies/scheduling/backfill.hpp"

#include <algorithm>
#include <utility>

namespace contend {

Time DurationEstimate::of(const JobView& job) const {
  if (use_limit && job.limit) return *job.limit;
  return Time::ceil_nanoseconds(factor * static_cast<double>(job.remaining_service.on_each_of(job.gpus).ns()));
}

BackfillPolicy::BackfillPolicy(const Parameters& parameters)
    : estimate_{parameters.get<bool>("use_limit"), parameters.get<double>("estimate_factor")} {}

void BackfillPolicy::queued(const JobView& view) {
  BackfillJob& job = jobs_[view.id];
  job.view = view;
  job.width = width_of(view);
  job.estimate = std::max(estimate_.of(view), Time::nanoseconds(1));
  arrived_.push_back(view.id);
}

void BackfillPolicy::left(JobId id) {
  const auto at = jobs_.find(id);
  ends(at->second);
  jobs_.erase(at);
}

void BackfillPolicy::admit(const ClusterView& cluster) {
  for (const JobId id : std::exchange(arrived_, {})) {
    BackfillJob& arrived = jobs_.at(id);
    arrived.pool = pools_.of(cluster, arrived.view);
    arrived.shape = shapes_.of(arrived.view);
    joins(arrived, cluster);
  }
}

}  // namespace contend
