#include "validate/schedulers/reference.hpp"

#include <algorithm>

namespace contend {

namespace {

/// A job that has arrived and not ended.
struct LeveledJob {
  std::size_t job;
  std::int64_t executed = 0;
  bool running = false;
};

using Level = std::vector<LeveledJob>;

class Dlas {
 public:
  Dlas(std::span<const ReferenceJob> jobs, int gpus, const DlasRules& rules)
      : jobs_{jobs}, gpus_{gpus}, rules_{rules}, levels_(rules.limits.size() + 1) {}

  ReferenceSchedule run() {
    schedule_.queued.resize(jobs_.size());
    schedule_.finish.resize(jobs_.size());
    while (finished_ < jobs_.size()) {
      advance(next_event());
      end_jobs();
      for (; arrived_ < jobs_.size() && jobs_[arrived_].submit == now_; ++arrived_) levels_[0].push_back({arrived_});
      demote();
      choose();
      if (rules_.stale_ends) keep_ends();
    }
    return schedule_;
  }

 private:
  [[nodiscard]] std::int64_t gpus_of(const LeveledJob& each) const { return jobs_[each.job].gpus; }
  [[nodiscard]] std::int64_t left(const LeveledJob& each) const { return jobs_[each.job].duration - each.executed; }

  [[nodiscard]] std::int64_t next_event() const {
    std::int64_t next = arrived_ < jobs_.size() ? jobs_[arrived_].submit : kNever;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (const LeveledJob& each : levels_[level]) {
        if (!each.running) continue;
        next = std::min(next, now_ + left(each));
        if (level < rules_.limits.size()) next = std::min(next, now_ + wake_up(each, rules_.limits[level]));
      }
    }
    return next;
  }

  /// The time from now until the next check whether the job has reached the limit.
  [[nodiscard]] std::int64_t wake_up(const LeveledJob& each, std::int64_t limit) const {
    if (!rules_.gpu_time) return std::max<std::int64_t>(limit - each.executed, 0);
    const std::int64_t attained = rules_.late_wake_up ? each.executed : each.executed * gpus_of(each);
    return std::max<std::int64_t>((limit - attained + gpus_of(each) - 1) / gpus_of(each), 0);
  }

  void advance(std::int64_t next) {
    for (Level& level : levels_) {
      for (LeveledJob& each : level) {
        (each.running ? each.executed : schedule_.queued[each.job]) += next - now_;
      }
    }
    now_ = next;
  }

  void end_jobs() {
    for (Level& level : levels_) {
      std::erase_if(level, [&](const LeveledJob& each) {
        const bool stale = stale_at_ == now_ && std::ranges::find(stale_, each.job) != stale_.end();
        if (left(each) > 0 && !stale) return false;
        schedule_.finish[each.job] = now_;
        ++finished_;
        return true;
      });
    }
  }

  /// Moves running jobs that have reached the limit of their queue to the end of the next one, in order of their
  /// arrival, one queue at a time.
  void demote() {
    std::vector<std::pair<LeveledJob, std::size_t>> moving;
    for (std::size_t level = 0; level < rules_.limits.size(); ++level) {
      std::erase_if(levels_[level], [&](const LeveledJob& each) {
        const std::int64_t attained = each.executed * (rules_.gpu_time ? gpus_of(each) : 1);
        if (!each.running || attained < rules_.limits[level]) return false;
        moving.emplace_back(each, level + 1);
        return true;
      });
    }
    std::ranges::sort(moving, {}, [](const auto& each) { return each.first.job; });
    for (const auto& [each, level] : moving) levels_[level].push_back(each);
  }

  /// Starts the jobs that still fit, queue by queue. Then each queue lists running jobs before the others.
  void choose() {
    int free = gpus_;
    for (Level& level : levels_) {
      if (rules_.rank) sort_by_rank(level);
      for (LeveledJob& each : level) {
        const bool runs = gpus_of(each) <= free;
        if (runs) free -= jobs_[each.job].gpus;
        if (each.running && !runs) ++schedule_.preemptions;
        each.running = runs;
      }
      std::stable_partition(level.begin(), level.end(), [](const LeveledJob& each) { return each.running; });
    }
  }

  void sort_by_rank(Level& level) const {
    std::ranges::stable_sort(level, {}, [&](const LeveledJob& each) {
      return std::pair{-rules_.rank(each.executed * gpus_of(each)), jobs_[each.job].submit};
    });
  }

  /// Imitates the defect: ends that are expected at the tick of the next arrival are kept until then.
  void keep_ends() {
    if (arrived_ == jobs_.size()) return;
    std::vector<std::size_t> ends;
    std::int64_t first = kNever;
    for (const Level& level : levels_) {
      for (const LeveledJob& each : level) {
        if (!each.running || now_ + left(each) > first) continue;
        if (now_ + left(each) < first) ends.clear();
        first = now_ + left(each);
        ends.push_back(each.job);
      }
    }
    if (first != jobs_[arrived_].submit) return;
    stale_ = ends;
    stale_at_ = first;
  }

  std::span<const ReferenceJob> jobs_;
  int gpus_;
  const DlasRules& rules_;
  std::vector<Level> levels_;
  ReferenceSchedule schedule_;
  std::int64_t now_ = 0;
  std::size_t arrived_ = 0;
  std::size_t finished_ = 0;
  std::vector<std::size_t> stale_;
  std::int64_t stale_at_ = -1;
};

}  // namespace

ReferenceSchedule reference_dlas(std::span<const ReferenceJob> jobs, int gpus, const DlasRules& rules) {
  return Dlas{jobs, gpus, rules}.run();
}

}  // namespace contend
