#pragma once
// LevelPolicy is the base class of policies that rank jobs by attained service, in levels. A job stays in a level until
// it has attained the limit of the level; then it is demoted to the next. Within a level running jobs go first, so that
// jobs of equal rank do not preempt each other.

#include "policies/registry.hpp"
#include "policies/scheduling/lazy_heap.hpp"
#include "policies/scheduling/walk_policy.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace contend {

/// Rules of the released simulator of Tiresias (SymbioticLab/Tiresias, run_sim.py) that differ from the published
/// method.
struct TiresiasRules {
  bool list_order = false;     ///< a level is a list: running jobs, waiting jobs, newcomers, each in their last order
  bool late_wakeup = false;    ///< checks for demotions at now + (limit - executed seconds) / GPUs, which is too late
  bool whole_seconds = false;  ///< demotes jobs only at whole seconds
  bool single_step = false;    ///< demotes a job by at most one level at an event
  [[nodiscard]] bool any() const { return list_order || late_wakeup || whole_seconds || single_step; }
};

/// The parameter behind LevelPolicy::Options::migrate.
inline constexpr ParameterInfo kMigrate{
    "migrate", false, 0, 0,
    "in each pass in which jobs wait, place all jobs again in the order of the policy, as Tiresias' simulator does; a "
    "running job that gets other GPUs is moved, which costs what a preemption costs"};

class LevelPolicy : public WalkPolicy {
 public:
  struct Options {
    bool gpu_time = true;  ///< attained service is GPU time; false: time on the GPUs, however many
    /// A job that has waited this many times as long as it has run returns to level 0, as if it were new; 0: never.
    double promote = 0;
    TiresiasRules rules{};
    bool migrate = false;  ///< running jobs may be moved to other GPUs
  };
  explicit LevelPolicy(const Options& options) : options_{options} {}
  [[nodiscard]] Time next_decision(const ClusterView& cluster) final;
  [[nodiscard]] Time slice(int gpus) const final;

 protected:
  /// Returns the service that a job gets in each level if there are levels without end.
  [[nodiscard]] virtual std::optional<GpuTime> level_width() const { return std::nullopt; }
  /// Returns the key of the jobs in the level; the smallest key goes first.
  [[nodiscard]] virtual PolicyKey level_key(std::int64_t level) const { return level; }
  /// Returns the attained service at which a job leaves the level; GpuTime::unlimited() for the last level.
  [[nodiscard]] virtual GpuTime limit(std::int64_t level) const = 0;
  /// Returns the level for `attained`, at or above `level`, in which the job was before.
  [[nodiscard]] virtual std::int64_t level_at(GpuTime attained, std::int64_t level) const {
    while (attained >= limit(level)) ++level;
    return level;
  }
  /// Called first in each pass. Returns true if the keys of levels have changed.
  [[nodiscard]] virtual bool keys_changed(const ClusterView& /*cluster*/) { return false; }
  void job_left(const WalkJob& job) override;

 private:
  static constexpr std::int64_t kPass = 1 << 20;  // largest number of labels that one pass may give

  Rank waiting_rank(WalkJob& job) final;
  MovingRank running_rank(WalkJob& job, const Rank& waiting) final;
  [[nodiscard]] bool sees_every_event() const final { return options_.rules.any(); }
  [[nodiscard]] bool has_lists() const final { return options_.rules.any(); }
  [[nodiscard]] bool migrates() const final { return options_.migrate; }
  void before_walks(const ClusterView& cluster) final;
  void after_walks(const ClusterView& cluster) final;
  void job_started(WalkJob& job) final;
  void job_stopped(WalkJob& job) final;
  void width_changes(WalkJob& job, const JobView& next) final;

  /// Returns the service that counts for the level: GPU time, or the time on one GPU without Options::gpu_time.
  [[nodiscard]] GpuTime attained(const WalkJob& job) const;
  /// Returns the time at which a running job reaches the limit of its level.
  [[nodiscard]] Time due(const WalkJob& job) const;
  /// Returns the time at which a waiting job is promoted.
  [[nodiscard]] Time promotion(const WalkJob& job) const;
  /// Where time on the GPUs counts, keeps it for a job that had so many GPUs and has as many as `next` shows.
  void forget_width(WalkJob& job, int gpus, const JobView& next) const;
  void schedule(WalkJob& job);
  void unschedule(WalkJob& job);
  void move(WalkJob& job);
  [[nodiscard]] Rank rank(const WalkJob& job) const;
  [[nodiscard]] std::int64_t next_label();
  [[nodiscard]] Time late_wakeup() const;
  /// When a job is demoted or promoted.
  using Due = std::pair<Time, JobId>;
  /// True for an entry of due_list(demotes) whose job still has this time as its WalkJob::due.
  [[nodiscard]] bool is_due(const Due& entry, bool demotes) const {
    const WalkJob* const job = find(entry.second);
    return job != nullptr && job->due == entry.first && job->demotes == demotes;
  }
  [[nodiscard]] LazyHeap<Due>& due_list(bool demotes) { return demotes ? demotions_ : promotions_; }
  /// The first of them; nullptr if there is none.
  [[nodiscard]] const Due* first_due(bool demotes) {
    return due_list(demotes).first([&](const Due& entry) { return is_due(entry, demotes); });
  }

  /// What counts of a job that has left, should it queue again.
  struct Kept {
    GpuTime forgotten;
    Time waited;
    int gpus;
  };

  Options options_;
  std::map<JobId, Kept> kept_;
  LazyHeap<Due> demotions_, promotions_;
  std::map<int, std::set<std::pair<std::int64_t, JobId>>> late_;  // by number of GPUs; only with late_wakeup
  std::vector<JobId> moved_;                                      // jobs moved in this pass; only with list_order
  std::int64_t labelled_ = 0, sequence_ = 0;
};

}  // namespace contend
