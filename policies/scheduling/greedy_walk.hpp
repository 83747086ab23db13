#pragma once
// Which jobs should hold the GPUs: all jobs, waiting and running, are walked in order, and each takes what it needs if
// so much is left; those that don't fit are skipped. This is the selection of preemptive schedulers (Tiresias, NSDI
// 2019, section 4; Helios' SRTF), done anew there at every event. Here the outcome of the last walk is kept, and only
// the jobs whose fate changes are touched.
//
// Why that is enough: what is left falls along the walk. So of the waiting jobs of one width, none fits if the first
// doesn't, and only the first of each width has to be looked at; and a running job that moves forward in the order
// past a skipped one changes nobody's fate.

#include "policies/scheduling/rank_tree.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace contend {

/// The place of a running job in the order as time goes on.
struct MovingRank {
  Rank rank;
  std::int64_t rate = 0;  ///< 0: rank.key is the key. r > 0: the key is r x (rank.key - now), in ns.
};

/// Where the policy puts a job that starts.
class WalkOrder {
 public:
  virtual ~WalkOrder() = default;
  /// Its place among the running, not behind that among the waiting as things stand.
  [[nodiscard]] virtual MovingRank when_started(const Rank& waiting) = 0;
};

class GreedyWalk {
 public:
  /// Widths and capacity in thousandths of a GPU.
  explicit GreedyWalk(std::int64_t capacity) : capacity_{capacity} {}

  /// Jobs of one class must have one width; they keep their order among each other.
  void add_waiting(const Rank& rank, std::int32_t job_class, std::int64_t width);
  void remove(JobId job);
  /// The job, waiting or running, has another place from now on.
  void rerank(JobId job, const MovingRank& rank);

  struct Change {
    JobId job;
    bool starts = false;
    Rank waiting;  ///< of a job that starts: its place before
  };
  /// Appends what has to change, in order of the walk, and takes it as done. Jobs that stop leave the walk: they have
  /// to be added again.
  void settle(Time now, WalkOrder& order, std::vector<Change>& changes);
  /// A job that `settle` started could not start after all: it waits. Its class is passed over until `end_pass`.
  void refuse(const Change& failed);
  void end_pass();
  /// A waiting job is left out of account until it is made to run. There must be as much free then.
  void hold(JobId waiting);
  void run_held(JobId held, WalkOrder& order);

  [[nodiscard]] std::int64_t free() const { return capacity_ - used_; }
  /// There isn't room for all jobs.
  [[nodiscard]] bool is_tight() const { return wanted_ > capacity_; }
  /// The place of a job among those that wait, or with the key of now among those that run.
  [[nodiscard]] Rank place(JobId job, Time now) const;
  /// The last running job before `place`; nullptr: of all.
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
  /// The first running job that the walk reaches with too little left; only if more is in use than there is.
  [[nodiscard]] std::optional<Rank> first_overflow(Time now) const;
  [[nodiscard]] std::int64_t used_before(const Rank& place, Time now) const;

  std::int64_t capacity_;
  std::int64_t used_ = 0;
  std::int64_t wanted_ = 0;  // by all jobs, waiting and running
  std::map<JobId, Entry> entries_;
  std::map<std::int32_t, Class> classes_;     // without empty ones
  std::map<std::int64_t, RankTree> running_;  // by rate; within one the order never changes by itself
  std::vector<std::int32_t> refused_;
};

}  // namespace contend
