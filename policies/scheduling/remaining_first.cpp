// Shortest remaining time (or service) first, over running and waiting jobs. At each pass the policy walks over all
// jobs in order of what remains of them and skips those that do not fit. Gu et al., NSDI 2019 (Tiresias), section 4,
// and Hu et al., SC 2021 (Helios), section 4.2, use this order for SRTF and SRSF.

#include "policies/scheduling/remaining_first.hpp"

#include "policies/scheduling/walk_policy.hpp"

#include <set>

namespace contend {

namespace {

class RemainingFirst final : public WalkPolicy {
 public:
  RemainingFirst(Remaining what, const RemainingFirstOptions& options)
      : what_{what}, list_order_{options.list_order}, migrate_{options.migrate} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override {
    return what_ == Remaining::service ? job.remaining_service.ns() : job.remaining_service.ns() / job.gpus;
  }

 private:
  static constexpr std::int64_t kPass = 1 << 20;  // largest number of labels that one pass may give
  static constexpr std::int32_t kNew = INT32_MAX;

  [[nodiscard]] bool has_lists() const override { return list_order_; }
  [[nodiscard]] bool migrates() const override { return migrate_; }

  // list_order reproduces a list that is sorted again by a stable sort at each event. Of jobs with equal keys, a job
  // that has run since the last event stands behind those that waited, because its key was larger. Of two jobs that
  // have run, the one on more GPUs stands behind. A job that has just arrived is last. The labels of waiting jobs rise
  // with the event at which they began to wait. Of running jobs with the same rate, the one that started later stands
  // in front, unless it had just arrived.
  Rank waiting_rank(WalkJob& job) override {
    const Rank rank{key(job.view), 1, job.view.tie, job.view.id};
    if (!list_order_) return rank;
    if (!job.is_new) return {rank.key, 0, next_label(), rank.job};
    return {rank.key, kNew, next_label() + kPass / 2, rank.job};
  }

  MovingRank running_rank(WalkJob& job, const Rank& waiting) override {
    MovingRank at{waiting, what_ == Remaining::service ? job.view.gpus : 1};
    if (job.view.timed) {
      at.rank.key = PolicyKey{now().ns()} + job.view.remaining_service.ns() / job.view.gpus;
    } else {
      at.rate = 0;
    }
    at.rank.tier = 0;
    if (list_order_) {
      at.rank.tier = what_ == Remaining::service ? job.view.gpus : 1;
      at.rank.label = job.is_new ? next_label() : next_label() - 2 * passes() * kPass;
    }
    return at;
  }

  void before_walks(const ClusterView& cluster) override {
    for (const JobId id : untimed_) {
      WalkJob& moved = job(id);
      rerank(moved, {{key(cluster.job(id)), 0, moved.view.tie, id}, 0});
    }
  }

  void after_walks(const ClusterView&) override {
    if (!list_order_) return;
    for (const JobId id : newcomers()) {
      WalkJob& waiting = job(id);
      Rank rank = place_of(waiting);
      rank.tier = 0;
      rerank(waiting, {rank, 0});
    }
  }

  void job_started(WalkJob& job) override {
    if (!job.view.timed) untimed_.insert(job.view.id);
  }
  void job_stopped(WalkJob& job) override { untimed_.erase(job.view.id); }

  std::int64_t next_label() {
    if (labelled_ != passes()) sequence_ = 0;
    labelled_ = passes();
    return passes() * kPass + sequence_++;
  }

  Remaining what_;
  bool list_order_, migrate_;
  std::set<JobId> untimed_;  // running jobs whose remaining service cannot be computed ahead
  std::int64_t labelled_ = 0, sequence_ = 0;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_remaining_first(Remaining what, const RemainingFirstOptions& options) {
  return std::make_unique<RemainingFirst>(what, options);
}

}  // namespace contend
