#include "policies/scheduling/greedy_walk.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <functional>

namespace contend {

namespace {

/// Converts `place`, whose key is the one at `now`, to the rank that it has among jobs that move at `rate`.
Rank in_group(std::int64_t rate, const Rank& place, Time now) {
  if (rate == 0) return place;
  const PolicyKey whole = place.key / rate - (place.key % rate < 0 ? 1 : 0);
  Rank rank = place;
  if (place.key % rate != 0) rank = {0, INT32_MAX, INT64_MAX, JobId::none()};  // every job with this key goes before it
  rank.key = now.ns() + whole;
  return rank;
}

}  // namespace

void GreedyWalk::wait(const Member& member) {
  Class& group = classes_[member.job_class];
  group.width = member.width;
  group.jobs.insert(member.at.rank);
}

void GreedyWalk::unwait(const Member& member) {
  const auto group = classes_.find(member.job_class);
  group->second.jobs.erase(member.at.rank);
  if (group->second.jobs.empty()) classes_.erase(group);
}

void GreedyWalk::add_waiting(const Rank& rank, std::int32_t job_class, std::int64_t width) {
  const auto [at, is_new] = members_.try_emplace(rank.job, Member{{rank, 0}, width, job_class, false});
  CONTEND_CHECK(is_new, "a job is in the walk once");
  wait(at->second);
  wanted_ += width;
}

void GreedyWalk::remove(JobId job) {
  const Member& gone = member(job);
  wanted_ -= gone.width;
  if (gone.is_running) {
    unrun(gone);
    used_ -= gone.width;
  } else {
    unwait(gone);
  }
  members_.erase(job);
}

void GreedyWalk::rerank(JobId job, const MovingRank& rank) {
  Member& moved = members_.at(job);
  if (moved.is_running) {
    unrun(moved);
    moved.at = rank;
    run(moved);
  } else {
    unwait(moved);
    moved.at = rank;
    wait(moved);
  }
}

std::int64_t GreedyWalk::used_before(const Rank& place, Time now) const {
  std::int64_t sum = 0;
  for (const auto& [rate, jobs] : running_) sum += jobs.sum_before(in_group(rate, place, now));
  return sum;
}

std::optional<Rank> GreedyWalk::last_running_before(const Rank& place, Time now) const {
  std::optional<Rank> best;
  for (const auto& [rate, jobs] : running_) {
    const std::optional<Rank> last = jobs.last_before(in_group(rate, place, now));
    if (last && (!best || *best < MovingRank{*last, rate}.at(now))) best = MovingRank{*last, rate}.at(now);
  }
  return best;
}

std::optional<Rank> GreedyWalk::first_that_fits(Time now, bool may_preempt) const {
  std::optional<Rank> best;
  for (const auto& [id, group] : classes_) {
    const Rank& head = *group.jobs.begin();
    if (group.is_refused || group.width > capacity_ || (best && *best < head)) continue;
    if (group.width <= free() || (may_preempt && used_before(head, now) + group.width <= capacity_)) best = head;
  }
  return best;
}

// A tree that has all running jobs knows the sums. Otherwise each round asks about the root of the heaviest part, and
// leaves out of all parts what is not on the side of the answer.
std::optional<Rank> GreedyWalk::first_overflow(Time now) const {
  if (used_ <= capacity_) return std::nullopt;
  parts_.clear();
  for (const auto& [rate, jobs] : running_) {
    if (jobs.sum() == used_) return MovingRank{*jobs.first_with_sum(capacity_ + 1), rate}.at(now);
    if (!jobs.empty()) parts_.emplace_back(rate, RankTree::Part{jobs});
  }
  std::optional<MovingRank> too_early, found;
  for (;;) {
    const auto heaviest = std::ranges::max_element(parts_, {}, [](const auto& part) { return part.second.sum(); });
    if (heaviest->second.empty()) break;
    const MovingRank middle{heaviest->second.root(), heaviest->first};
    std::int64_t through = heaviest->second.sum_through_root();
    for (auto part = parts_.begin(); part != parts_.end(); ++part) {
      if (part == heaviest) continue;
      through += part->second.sum_while([&, own = part->first](const Rank& rank) {
        return middle.compare({rank, own}, now) > 0;
      });
    }
    (through > capacity_ ? found : too_early) = middle;
    for (auto& [rate, part] : parts_) {
      part.narrow(
          [&, own = rate](const Rank& rank) {
            return !too_early || too_early->compare({rank, own}, now) < 0;
          },
          [&, own = rate](const Rank& rank) {
            return !found || found->compare({rank, own}, now) > 0;
          });
    }
  }
  return found->at(now);
}

std::optional<GreedyWalk::Change> GreedyWalk::next_change(Time now) {
  const std::optional<Rank> starting = first_that_fits(now, true);
  const std::optional<Rank> stopping = first_overflow(now);
  if (!starting && !stopping) return std::nullopt;
  if (starting && (!stopping || *starting < *stopping)) {
    const Change change{true, member(starting->job)};
    start(starting->job);
    return change;
  }
  const Change change{false, member(stopping->job)};
  remove(stopping->job);
  return change;
}

void GreedyWalk::undo(const Change& change) {
  if (change.starts) remove(change.job());
  const auto at = members_.emplace(change.job(), change.before).first;
  wanted_ += change.before.width;
  if (change.before.is_running) {
    run(at->second);
    used_ += at->second.width;
  } else {
    wait(at->second);
  }
}

void GreedyWalk::start(JobId waiting) {
  Member& started = members_.at(waiting);
  unwait(started);
  started.is_running = true;
  run(started);
  used_ += started.width;
}

void GreedyWalk::refuse(JobId waiting) {
  const std::int32_t id = member(waiting).job_class;
  classes_.at(id).is_refused = true;
  refused_.push_back(id);
}

void GreedyWalk::end_pass() {
  for (const std::int32_t id : refused_) {
    const auto at = classes_.find(id);
    if (at != classes_.end()) at->second.is_refused = false;
  }
  refused_.clear();
}

}  // namespace contend
