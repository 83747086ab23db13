#pragma once
// The greedy walk decides which jobs should hold the GPUs. It visits all jobs, waiting and running, in order. Each job
// takes the GPUs that it needs if enough are left; otherwise the walk skips it. Preemptive schedulers select jobs in
// this way and repeat the whole walk at every event (Tiresias, NSDI 2019, section 4; SRTF of Helios). This class keeps
// the outcome of the last walk and touches only the jobs whose outcome changes.
//
// That is sufficient because the number of GPUs left falls along the walk. If the first waiting job of a width does not
// fit, no other waiting job of that width fits, so only the first one of each width has to be examined. A running job
// that moves forward past a skipped one changes no outcome.

#include "policies/scheduling/rank_tree.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace contend {

/// The place of a running job in the order, as a function of time.
struct MovingRank {
  Rank rank;
  std::int64_t rate = 0;  ///< 0: the key is rank.key. r > 0: the key is r x (rank.key - now), in ns.
};

/// The walk asks the policy through this interface for the place of a job that starts.
class WalkOrder {
 public:
  virtual ~WalkOrder() = default;
  /// Returns the place among the running jobs. It must not lie behind `waiting`, the place among the waiting jobs.
  [[nodiscard]] virtual MovingRank when_started(const Rank& waiting) = 0;
};

class GreedyWalk {
 public:
  /// Widths and capacity are in thousandths of a GPU.
  explicit GreedyWalk(std::int64_t capacity) : capacity_{capacity} {}

  /// Adds a job that is not in the walk. All jobs of a class must have the same width.
  void add_waiting(const Rank& rank, std::int32_t job_class, std::int64_t width);
  void remove(JobId job);
  /// Moves a job, waiting or running, to another place.
  void rerank(JobId job, const MovingRank& rank);

  struct Change {
    JobId job;
    bool starts = false;
    Rank waiting;  ///< of a job that starts: its place among the waiting jobs
  };
  /// Appends the starts and stops that the walk requires, in order of the walk, and assumes that they happen. A job
  /// that stops leaves the walk; the caller has to add it again.
  void settle(Time now, WalkOrder& order, std::vector<Change>& changes);
  /// Puts a job that settle() started, but that could not start, back among the waiting jobs. The walk then skips the
  /// class of the job until end_pass().
  void refuse(const Change& failed);
  void end_pass();
  /// Takes a waiting job out of the walk until run_held().
  void hold(JobId waiting);
  /// Starts a held job. Enough GPUs must be free.
  void run_held(JobId held, WalkOrder& order);

  [[nodiscard]] std::int64_t free() const { return capacity_ - used_; }
  /// Returns true if the jobs together want more than the capacity.
  [[nodiscard]] bool is_tight() const { return wanted_ > capacity_; }
  /// Returns the place of a job; for a running job, with the key that it has at `now`.
  [[nodiscard]] Rank place(JobId job, Time now) const;
  /// Returns the last running job before `place`; with nullptr, the last of all.
  [[nodiscard]] std::optional<Rank> last_running_before(const Rank* place, Time now) const;

 private:
  struct Entry {
    MovingRank at;
    std::int64_t width = 0;
    std::int32_t job_class = 0;
    enum class State : std::uint8_t { waiting, running, held } state = State::waiting;
  };
  struct Class {
    std::int64_t width = 0;
    bool is_refused = false;
    std::set<Rank> jobs;
  };

  [[nodiscard]] const Entry& entry(JobId job) const { return entries_.at(job); }
  void wait(const Entry& entry);
  void start(Entry& entry);
  void unwait(const Entry& entry);
  void run(const Entry& entry) { running_[entry.at.rate].insert(entry.at.rank, entry.width); }
  void unrun(const Entry& entry) { running_[entry.at.rate].erase(entry.at.rank); }
  [[nodiscard]] std::optional<Rank> first_that_fits(Time now) const;
  /// Returns the first running job that the walk reaches with too few GPUs left; nothing unless the running jobs
  /// together exceed the capacity.
  [[nodiscard]] std::optional<Rank> first_overflow(Time now) const;
  [[nodiscard]] std::int64_t used_before(const Rank& place, Time now) const;

  std::int64_t capacity_;
  std::int64_t used_ = 0;
  std::int64_t wanted_ = 0;  // sum over all jobs, waiting and running
  std::map<JobId, Entry> entries_;
  std::map<std::int32_t, Class> classes_;     // only classes with waiting jobs
  std::map<std::int64_t, RankTree> running_;  // by rate; the order of the jobs of one rate does not change with time
  std::vector<std::int32_t> refused_;
};

}  // namespace contend
