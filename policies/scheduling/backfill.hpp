#pragma once
// What the backfilling policies have in common: a queue by submission, and estimates of how long jobs run.
//
// A job never gives way. Jobs are counted in thousandths of GPUs, in pools (demand.hpp). What is planned may not come
// about where the placement policy finds no place for a job although the number of GPUs suffices.

#include "policies/registry.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/rank_tree.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <map>
#include <vector>

namespace contend {

/// How long a job runs, as far as the policy knows.
struct DurationEstimate {
  bool use_limit = true;  ///< the user's limit, where there is one
  double factor = 1;      ///< else this multiple of what is true

  [[nodiscard]] Time of(const JobView& job) const;
};

/// The parameters of DurationEstimate.
inline constexpr ParameterInfo kBackfillParameters[] = {
    {"use_limit", true, 0, 0, "a job's limit is the estimate of its duration, if it has one"},
    {"estimate_factor", 1.0, 1e-3, 1e6, "else the estimate is this multiple of what it really takes"}};

struct BackfillJob {
  JobView view;
  std::uint32_t pool = 0;
  std::int32_t shape = 0;
  std::int64_t width = 0;
  Time estimate{};
  Time end{};    ///< as estimated, of a running job
  Time start{};  ///< conservative only: as planned, or as it was
  [[nodiscard]] Rank rank() const { return {view.submit.ns(), 0, view.tie, view.id}; }
};

/// Keeps the jobs; the policies keep what they plan.
class BackfillPolicy : public SchedulingPolicy {
 public:
  explicit BackfillPolicy(const Parameters& parameters);
  [[nodiscard]] std::int64_t key(const JobView& job) const final { return job.submit.ns(); }
  void queued(const JobView& view) final;
  void left(JobId job) final;

 protected:
  /// A job joins the queue of its pool, at the begin of a pass.
  virtual void joins(BackfillJob& job, const ClusterView& cluster) = 0;
  virtual void ends(BackfillJob& job) = 0;  ///< when: at or before the next pass
  /// To be called first in a pass.
  void admit(const ClusterView& cluster);
  [[nodiscard]] BackfillJob& job(JobId id) { return jobs_.at(id); }

 private:
  DurationEstimate estimate_;
  Pools pools_;
  Shapes shapes_;
  std::map<JobId, BackfillJob> jobs_;
  std::vector<JobId> arrived_;
};

}  // namespace contend
