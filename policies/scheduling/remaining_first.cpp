// Shortest remaining time (or service) first, over running and waiting jobs. At each pass the policy walks over all
// jobs in order of what remains of them and skips those that do not fit. Gu et al., NSDI 2019 (Tiresias), section 4,
// and Hu et al., SC 2021 (Helios), section 4.2, use this order for SRTF and SRSF.

#include "policies/scheduling/remaining_first.hpp"

#include "policies/scheduling/walk_policy.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

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
  static constexpr std::int64_t kParts = std::int64_t{1} << 32;  // of a nanosecond, which are the unit of all places

  static constexpr PolicyKey kAlwaysAsked = PolicyKey{INT64_MAX} << 62;
  using Standing = std::pair<PolicyKey, JobId>;

  [[nodiscard]] bool has_lists() const override { return list_order_; }
  [[nodiscard]] bool migrates() const override { return migrate_; }

  // list_order reproduces a list that is sorted again by a stable sort at each event. Of jobs with equal keys, a job
  // that has run since the last event stands behind those that waited, because its key was larger. Of two jobs that
  // have run, the one on more GPUs stands behind. A job that has just arrived is last. The labels of waiting jobs rise
  // with the event at which they began to wait. Of running jobs with the same rate, the one that started later stands
  // in front, unless it had just arrived.
  Rank waiting_rank(WalkJob& job) override {
    const Rank rank{key(job.view) * kParts, 1, job.view.tie, job.view.id};
    if (!list_order_) return rank;
    if (!job.is_new) return {rank.key, 0, next_label(), rank.job};
    return {rank.key, kNew, next_label() + kPass / 2, rank.job};
  }

  MovingRank running_rank(WalkJob& job, const Rank& waiting) override {
    MovingRank at{waiting, 0};
    at.rank.key = key(job.view) * kParts;
    at.rank.tier = 0;
    if (list_order_) {
      at.rank.tier = what_ == Remaining::service ? job.view.gpus : 1;
      at.rank.label = job.is_new ? next_label() : next_label() - 2 * passes() * kPass;
    }
    return at;
  }

  /// A running job starts with a place that doesn't move. Once it is known how it works for a while, its place moves
  /// so.
  void before_walks(const ClusterView& cluster) override {
    const std::optional<PolicyKey> first = first_that_may_stop();
    if (!first) return;
    std::vector<JobId> asked;
    for (auto at = standing_.lower_bound({*first, JobId{0u}}); at != standing_.end(); ++at) asked.push_back(at->second);
    for (const auto& [until, id] : changes_) {
      if (until > now()) break;
      asked.push_back(id);
    }
    for (const JobId id : asked) ask(cluster, id);
  }

  /// Moves a running job to the place that it has now, and notes when to ask again.
  void ask(const ClusterView& cluster, JobId id) {
    WalkJob& running = job(id);
    const SteadySpeed works = cluster.steady_speed(id);
    MovingRank place = running.at;
    place.rate = rate(running.view, works.speed);
    const PolicyKey left = key(cluster.job(id)) * kParts;
    place.rank.key = left + PolicyKey{place.rate} * now().ns();
    if (place != running.at) rerank(running, place);
    lift(id);
    if (works.until > now() && (works.speed == 0 || place.rate > 0)) {
      if (works.until < Time::never()) change(id, works.until);
      return;
    }
    const bool may_rise = !running.view.timed || !cluster.regimes_of(id).empty() || !cluster.sizes_of(id).empty();
    stand(id, may_rise ? kAlwaysAsked : left);
  }

  /// By how much the key of a job falls in each nanosecond at that speed, rounded up, so that a job that has just given
  /// way never has a smaller key than before; 0 if it can't be told.
  [[nodiscard]] std::int64_t rate(const JobView& view, double speed) const {
    constexpr double kMost = 1 << 30;              // so that the key at any time is far from the end of its range
    const double preferred = view.preferred_gpus;  // on which the speed of the work counts
    const double falls = what_ == Remaining::service ? speed * preferred : speed * (preferred / view.gpus);
    return falls < kMost ? static_cast<std::int64_t>(std::ceil(falls * kParts)) : 0;
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

  void job_started(WalkJob& job) override { stand(job.view.id, kAlwaysAsked); }
  void job_stopped(WalkJob& job) override { lift(job.view.id); }

  void stand(JobId job, PolicyKey key) {
    standing_.emplace(key, job);
    stands_at_.emplace(job, key);
  }
  void change(JobId job, Time when) {
    changes_.emplace(when, job);
    changes_at_.emplace(job, when);
  }
  /// Forgets when the job is to be asked.
  void lift(JobId job) {
    if (const auto at = stands_at_.find(job); at != stands_at_.end()) {
      standing_.erase({at->second, job});
      stands_at_.erase(at);
    }
    if (const auto at = changes_at_.find(job); at != changes_at_.end()) {
      changes_.erase({at->second, job});
      changes_at_.erase(at);
    }
  }

  std::int64_t next_label() {
    if (labelled_ != passes()) sequence_ = 0;
    labelled_ = passes();
    return passes() * kPass + sequence_++;
  }

  Remaining what_;
  bool list_order_, migrate_;
  /// The running jobs of which isn't known how they work, by the key that they had when they were asked last. As the
  /// key of most can only fall, they need not be asked what remains of them as long as they stand in front of all
  /// waiting jobs even so.
  std::set<Standing> standing_;
  std::map<JobId, PolicyKey> stands_at_;
  std::set<std::pair<Time, JobId>> changes_;  // the others that don't work alike until they end: when that changes next
  std::map<JobId, Time> changes_at_;
  std::int64_t labelled_ = 0, sequence_ = 0;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_remaining_first(Remaining what, const RemainingFirstOptions& options) {
  return std::make_unique<RemainingFirst>(what, options);
}

}  // namespace contend
