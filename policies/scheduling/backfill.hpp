#pragma once
// The base class of the backfilling policies keeps the queue in order of submission and estimates how long jobs run.
//
// These policies never preempt a job. They count demand in thousandths of a GPU, separately for each pool (demand.hpp).
// A planned start may fail: the placement policy may find no place for a job although enough GPUs are free.

#include "policies/registry.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/rank_tree.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <map>
#include <vector>

namespace contend {

/// Estimates how long a job runs.
struct DurationEstimate {
  bool use_limit = true;  ///< the estimate is the user's time limit, if the job has one
  double factor = 1;      ///< otherwise the estimate is this multiple of the actual duration; > 0

  [[nodiscard]] Time of(const JobView& job) const;
};

/// The parameters of DurationEstimate.
inline constexpr ParameterInfo kBackfillParameters[] = {
    {"use_limit", true, 0, 0, "the estimate of a job's duration is its time limit, if it has one"},
    {"estimate_factor", 1.0, 1e-3, 1e6, "otherwise the estimate is this multiple of the actual duration"}};

struct BackfillJob {
  JobView view;
  std::uint32_t pool = 0;
  std::int32_t shape = 0;
  std::int64_t width = 0;
  Time estimate{};
  Time end{};    ///< estimated end of a running job
  Time start{};  ///< conservative only: planned start of a waiting job, actual start of a running one
  [[nodiscard]] Rank rank() const { return {view.submit.ns(), 0, view.tie, view.id}; }
};

/// Keeps the jobs. Derived classes keep their plans.
class BackfillPolicy : public SchedulingPolicy {
 public:
  explicit BackfillPolicy(const Parameters& parameters);
  [[nodiscard]] PolicyKey key(const JobView& job) const final { return job.submit.ns(); }
  void queued(const JobView& view) final;
  void left(JobId job) final;

 protected:
  /// Called at the beginning of a pass when a job joins the queue of its pool.
  virtual void joins(BackfillJob& job, const ClusterView& cluster) = 0;
  /// Called when a job leaves, before the next pass.
  virtual void ends(BackfillJob& job) = 0;
  /// Calls joins() for the jobs that arrived since the last pass. A pass must call it first.
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
