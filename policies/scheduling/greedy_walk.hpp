#pragma once
// The greedy walk decides which jobs should hold the GPUs. It visits all jobs, waiting and running, in order. Each job
// takes the GPUs that it needs if enough are left; otherwise the walk skips it. Preemptive schedulers select jobs in
// this way and repeat the whole walk at every event (Tiresias, NSDI 2019, section 4; SRTF of Helios). This class keeps
// the outcome of the last walk and names the next job whose outcome changes.
//
// That is sufficient because the number of GPUs left falls along the walk. If the first waiting job of a width does not
// fit, no other waiting job of that width fits, so only the first one of each width has to be examined. A running job
// that moves forward past a skipped one changes no outcome.

#include "policies/scheduling/lazy_heap.hpp"
#include "policies/scheduling/moving_rank.hpp"
#include "policies/scheduling/rank_tree.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace contend {

class GreedyWalk {
 public:
  /// Widths and capacity are in thousandths of a GPU.
  explicit GreedyWalk(std::int64_t capacity) : capacity_{capacity} {}

  /// Adds a job that is not in the walk. All jobs of a class must have the same width.
  void add_waiting(const Rank& rank, std::int32_t job_class, std::int64_t width);
  void remove(JobId job);
  /// Moves a job, waiting or running, to another place.
  void rerank(JobId job, const MovingRank& rank);
  /// A running job takes so much from now on.
  void widen(JobId job, std::int64_t width);

  struct Member {
    MovingRank at;
    std::int64_t width = 0;
    std::int32_t job_class = 0;
    bool is_running = false;
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
  [[nodiscard]] std::optional<Rank> first_in_free(Time now) { return first_that_fits(now, false, std::nullopt); }
  /// Starts a waiting job, which keeps its place.
  void start(JobId waiting);
  /// Makes next_change() and first_in_free() skip the class of a waiting job until end_pass().
  void refuse(JobId waiting);
  /// Refuses the first job of each class for which `has_place(rank)` does not hold, unless no change is required. It
  /// costs more to ask for a place than to see that the walk has too few GPUs left. Returns the jobs for which the walk
  /// has enough.
  template <class HasPlace>
  [[nodiscard]] std::vector<JobId> refuse_without_place(Time now, const HasPlace& has_place) {
    std::vector<JobId> refused;
    const auto refuse_head = [&](std::int32_t id, Class& group) {
      group.is_refused = true;
      refused_.push_back(id);
    };
    bool may_change = used_ > capacity_;
    const Class* too_wide = nullptr;
    std::vector<std::pair<std::int32_t, Class*>> others;  // that do not fit now, but may do so after changes
    for (auto& [id, group] : classes_) {
      if (group.is_refused) continue;
      if (!fits(group, now, too_wide)) {
        others.emplace_back(id, &group);
      } else if (has_place(group.head)) {
        may_change = true;
      } else {
        refused.push_back(group.head.job);
        refuse_head(id, group);
      }
    }
    for (const auto& [id, group] : others) {
      if (may_change && !has_place(group->head)) refuse_head(id, *group);
    }
    return refused;
  }
  void end_pass();

  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  void set_capacity(std::int64_t capacity) { capacity_ = capacity; }
  [[nodiscard]] std::int64_t free() const { return capacity_ - used_; }
  [[nodiscard]] bool has_waiting() const { return !classes_.empty(); }
  /// Returns the first waiting job, whether it fits or not.
  [[nodiscard]] std::optional<Rank> first_waiting();
  [[nodiscard]] bool contains(JobId job) const { return members_.contains(job); }
  /// Returns the place of a job; for a running job, with the key that it has at `now`.
  [[nodiscard]] Rank place(JobId job, Time now) const { return member(job).at.at(now); }
  [[nodiscard]] const MovingRank& moving_place(JobId job) const { return member(job).at; }
  /// Returns the last running job before `place`.
  [[nodiscard]] std::optional<Rank> last_running_before(const Rank& place, Time now) const;

 private:
  struct Class {
    std::int64_t width = 0;
    bool is_refused = false;
    bool head_is_known = false;
    Rank head;                       // the first of `jobs`
    Time looked_at = Time::never();  // when the walk looked at the jobs in front of this head; never() for another one
    std::int64_t used_before = 0;    // by them, then
    LazyHeap<Rank> jobs;
  };

  /// The jobs of one rate among which first_overflow() still looks.
  struct Range {
    std::int64_t rate = 0;
    const RankTree* jobs = nullptr;
    RankTree::Cut from, to, split;
  };

  struct Hash {
    std::size_t operator()(JobId job) const { return job.index(); }
  };

  [[nodiscard]] const Member& member(JobId job) const { return members_.at(job); }
  void wait(const Member& member);
  void unwait(const Member& member);
  void run(const Member& member) {
    running_[member.at.rate].insert(member.at.rank, member.width);
    shift_heads(member, member.width);
  }
  void unrun(const Member& member) {
    running_[member.at.rate].erase(member.at.rank);
    shift_heads(member, -member.width);
  }
  /// Adds to Class::used_before for the heads behind a running job.
  void shift_heads(const Member& member, std::int64_t width);
  /// True if a waiting job has this place.
  [[nodiscard]] bool waits_at(const Rank& place) const {
    const auto at = members_.find(place.job);
    return at != members_.end() && !at->second.is_running && at->second.at.rank == place;
  }
  const Rank& head_of(Class& group) const {
    if (group.head_is_known) return group.head;
    group.head = *group.jobs.first([this](const Rank& place) { return waits_at(place); });
    group.head_is_known = true;
    group.looked_at = Time::never();
    return group.head;
  }
  /// Returns true if the walk reaches the first job of the class with enough GPUs left. Fewer are left further behind:
  /// if a class does not fit, none fits that is as wide and whose first job does not stand in front of its first job.
  /// `too_wide` is such a class, or null; this function sets it.
  [[nodiscard]] bool fits(Class& group, Time now, const Class*& too_wide) const;
  /// Returns the first waiting job, of those before `before` if that is given, whose class is not refused and that the
  /// walk reaches with enough GPUs left; with `may_preempt` false, the first that fits beside all running jobs.
  [[nodiscard]] std::optional<Rank> first_that_fits(Time now, bool may_preempt, const std::optional<Rank>& before);
  /// Returns the first running job that the walk reaches with too few GPUs left; nothing unless the running jobs
  /// together exceed the capacity.
  [[nodiscard]] std::optional<Rank> first_overflow(Time now) const;
  [[nodiscard]] std::int64_t used_before(const Rank& place, Time now) const;

  std::int64_t capacity_;
  std::int64_t used_ = 0;
  boost::unordered_flat_map<JobId, Member, Hash> members_;  // nothing depends on their order
  std::map<std::int32_t, Class> classes_;                   // only classes with waiting jobs
  std::map<std::int64_t, RankTree> running_;  // by rate; the order of the jobs of one rate does not change with time
  std::vector<std::int32_t> refused_;
  mutable std::vector<Range> ranges_;  // scratch of first_overflow: by rate
};

}  // namespace contend
