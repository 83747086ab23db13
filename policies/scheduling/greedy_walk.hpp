#pragma once
// The greedy walk decides which jobs should hold the GPUs. It visits all jobs, waiting and running, in order. Each job
// takes the GPUs that it needs if enough are left; otherwise the walk skips it. Preemptive schedulers select jobs in
// this way and repeat the whole walk at every event (Tiresias, NSDI 2019, section 4; SRTF of Helios). This class keeps
// the outcome of the last walk and names the next job whose outcome changes.
//
// That is sufficient because the number of GPUs left falls along the walk. If the first waiting job of a width does not
// fit, no other waiting job of that width fits, so only the first one of each width has to be examined. A running job
// that moves forward past a skipped one changes no outcome.

#include "policies/scheduling/rank_tree.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace contend {

/// The place of a running job in the order, as a function of time.
struct MovingRank {
  Rank rank;
  std::int64_t rate = 0;  ///< 0: the key is rank.key. r > 0: the key is r x (rank.key - now), in ns.
};

class GreedyWalk {
 public:
  /// Widths and capacity are in thousandths of a GPU.
  explicit GreedyWalk(std::int64_t capacity) : capacity_{capacity} {}

  /// Adds a job that is not in the walk. All jobs of a class must have the same width.
  void add_waiting(const Rank& rank, std::int32_t job_class, std::int64_t width);
  void remove(JobId job, Time now);
  /// Moves a job, waiting or running, to another place.
  void rerank(JobId job, const MovingRank& rank, Time now);

  struct Member {
    MovingRank at;
    std::int64_t width = 0;
    std::int32_t job_class = 0;
    bool is_running = false;
    std::vector<ServerId> servers{};  ///< of a running job
  };
  /// A job that starts (it runs now, but keeps its place, so that jobs with equal keys stay behind it) or stops.
  struct Change {
    bool starts = false;
    Member before;
    [[nodiscard]] JobId job() const { return before.at.rank.job; }
  };
  /// Returns the first change, in order of the walk, that the walk requires, and assumes that it happens; nothing if
  /// all is as the walk requires. A job that stops leaves the walk; add_waiting() brings it back.
  [[nodiscard]] std::optional<Change> next_change(Time now);
  /// Takes back a change after which no other change of the same job was made.
  void undo(const Change& change);
  /// Returns the first waiting job for which enough GPUs are free and whose class is not refused.
  [[nodiscard]] std::optional<Rank> first_in_free(Time now) const { return first_that_fits(now, false); }
  /// Starts a waiting job, which keeps its place.
  void start(JobId waiting);
  /// Sets the servers of a job that has been started.
  void set_servers(JobId started, std::vector<ServerId> servers) { members_.at(started).servers = std::move(servers); }
  [[nodiscard]] bool is_running(JobId job) const {
    const auto at = members_.find(job);
    return at != members_.end() && at->second.is_running;
  }
  /// Makes next_change() and first_in_free() skip the class of a waiting job until end_pass().
  void refuse(JobId waiting);
  /// The same for longer: the job had no place among the free GPUs and those of the jobs behind it, and any job of its
  /// class needs at least `least` GPUs of a server. The class is skipped until one of its jobs stands in front of that
  /// place, or review() finds that a server has become useful.
  void refuse_for_want_of_place(JobId waiting, int least);
  /// Looks at the servers of running jobs that have left, or moved back, in front of a refused job. `room(server,
  /// place)` returns the GPUs that are free there or held by jobs behind the place.
  template <class Room>
  void review(const Room& room) {
    if (!std::exchange(needs_review_, false)) return;
    for (auto& [id, group] : classes_) {
      if (!group.hopeless) continue;
      const auto is_useful = [&, &refused = group](ServerId server) {
        return room(server, *refused.hopeless) >= refused.least;
      };
      if (std::any_of(group.changed.begin(), group.changed.end(), is_useful)) group.hopeless.reset();
      group.changed.clear();
    }
  }
  /// Ends what refuse_for_want_of_place() began, because resources outside the walk were freed.
  void forget_refusals();
  void end_pass();

  [[nodiscard]] std::int64_t free() const { return capacity_ - used_; }
  /// Returns true if the jobs together want more than the capacity.
  [[nodiscard]] bool is_tight() const { return wanted_ > capacity_; }
  [[nodiscard]] bool contains(JobId job) const { return members_.contains(job); }
  /// Returns the place of a job; for a running job, with the key that it has at `now`.
  [[nodiscard]] Rank place(JobId job, Time now) const { return place(member(job), now); }
  [[nodiscard]] static Rank place(const Member& member, Time now);
  /// Returns the last `limit` running jobs of those behind `place`, the last one first.
  [[nodiscard]] std::vector<JobId> last_running_behind(const Rank& place, Time now, std::size_t limit) const;
  /// Returns the last running job before `place`.
  [[nodiscard]] std::optional<Rank> last_running_before(const Rank& place, Time now) const;

 private:
  struct Class {
    std::int64_t width = 0;
    bool is_refused = false;
    std::optional<Rank> hopeless;   ///< place of a job that had no place on the GPUs
    int least = 0;                  ///< GPUs that it needs on a server
    std::vector<ServerId> changed;  ///< servers to look at again
    std::set<Rank> jobs;
  };

  [[nodiscard]] const Member& member(JobId job) const { return members_.at(job); }
  void leave(JobId job);
  void reconsider_behind(const Member& from, const Rank* to, Time now);
  void wait(const Member& member);
  void unwait(const Member& member);
  void run(const Member& member) { running_[member.at.rate].insert(member.at.rank, member.width); }
  void unrun(const Member& member) { running_[member.at.rate].erase(member.at.rank); }
  /// Returns the first waiting job whose class is not refused and that the walk reaches with enough GPUs left; with
  /// `may_preempt` false, the first that fits beside all running jobs.
  [[nodiscard]] std::optional<Rank> first_that_fits(Time now, bool may_preempt) const;
  /// Returns the first running job that the walk reaches with too few GPUs left; nothing unless the running jobs
  /// together exceed the capacity.
  [[nodiscard]] std::optional<Rank> first_overflow(Time now) const;
  [[nodiscard]] std::int64_t used_before(const Rank& place, Time now) const;

  std::int64_t capacity_;
  std::int64_t used_ = 0;
  std::int64_t wanted_ = 0;  // sum over all jobs, waiting and running
  std::map<JobId, Member> members_;
  std::map<std::int32_t, Class> classes_;     // only classes with waiting jobs
  std::map<std::int64_t, RankTree> running_;  // by rate; the order of the jobs of one rate does not change with time
  std::vector<std::int32_t> refused_;
  bool needs_review_ = false;
};

}  // namespace contend
