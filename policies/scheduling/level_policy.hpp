#pragma once
// Policies that rank a job by the service that it has attained, in levels: it goes on in a level until it has attained
// the limit of that level, then falls into the next. Within a level running jobs go first, so that equals don't
// push each other out.

#include "policies/scheduling/walk_policy.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace contend {

/// Rules of the released simulator of Tiresias (SymbioticLab/Tiresias, run_sim.py) that differ from the method.
struct TiresiasRules {
  bool list_order = false;   ///< levels are lists: running jobs, those that wait, newcomers, each as they stood before
  bool late_wakeup = false;  ///< looks for the next demotion at now + (limit - executed seconds) / GPUs: too late
  bool whole_seconds = false;  ///< demotions only at whole seconds
  bool single_step = false;    ///< one level at an event
  [[nodiscard]] bool any() const { return list_order || late_wakeup || whole_seconds || single_step; }
};

class LevelPolicy : public WalkPolicy {
 public:
  struct Options {
    bool gpu_time = true;  ///< attained service is GPU time; else time on the GPUs
    /// A job that has waited for more than this times what it has run goes back to level 0, as if new; 0: never.
    double promote = 0;
    TiresiasRules rules{};
  };
  explicit LevelPolicy(const Options& options) : options_{options} {}
  [[nodiscard]] Time next_decision(const ClusterView& cluster) final;

 protected:
  /// Smaller goes first.
  [[nodiscard]] virtual std::int64_t level_key(std::int64_t level) const { return level; }
  /// Attained service at which a job leaves the level; Time::never() for the last one.
  [[nodiscard]] virtual Time limit(std::int64_t level) const = 0;
  /// The level of a job that was in `level` when it had attained less.
  [[nodiscard]] virtual std::int64_t level_at(Time attained, std::int64_t level) const {
    while (attained >= limit(level)) ++level;
    return level;
  }
  /// Called first in each pass; true if the keys of levels have changed.
  [[nodiscard]] virtual bool keys_changed() { return false; }

 private:
  static constexpr std::int64_t kPass = 1 << 20;  // labels that one pass may give

  Rank waiting_rank(WalkJob& job) final;
  MovingRank running_rank(WalkJob& job, const Rank& waiting) final;
  [[nodiscard]] bool sees_every_event() const final { return options_.rules.any(); }
  void before_walks(const ClusterView& cluster) final;
  void after_walks(const ClusterView& cluster) final;
  void job_started(WalkJob& job) final;
  void job_stopped(WalkJob& job) final;

  [[nodiscard]] Time attained(const WalkJob& job) const;
  /// When a running job reaches the limit of its level.
  [[nodiscard]] Time due(const WalkJob& job) const;
  /// When a waiting job is to be promoted.
  [[nodiscard]] Time promotion(const WalkJob& job) const;
  void schedule(WalkJob& job);
  void unschedule(WalkJob& job);
  void move(WalkJob& job);
  [[nodiscard]] Rank rank(const WalkJob& job) const;
  [[nodiscard]] std::int64_t next_label();
  [[nodiscard]] Time late_wakeup() const;

  Options options_;
  std::set<std::pair<Time, JobId>> demotions_, promotions_;       // when they are due
  std::map<int, std::set<std::pair<std::int64_t, JobId>>> late_;  // by GPUs: for late_wakeup
  std::vector<JobId> moved_;                                      // in this pass, with list_order
  std::int64_t labelled_ = 0, sequence_ = 0;
};

}  // namespace contend
