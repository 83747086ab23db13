#include "policies/scheduling/greedy_walk.hpp"

#include "sim/check.hpp"

#include <algorithm>

namespace contend {

namespace {

/// Converts `place`, whose key is the one at `now`, to the rank that it has among jobs that move at `rate`.
Rank in_group(std::int64_t rate, Rank place, Time now) {
  place.key += PolicyKey{rate} * now.ns();
  return place;
}

}  // namespace

void GreedyWalk::wait(const Member& member) {
  Class& group = classes_[member.job_class];
  group.width = member.width;
  group.jobs.insert(member.at.rank, [this](const Rank& place) { return waits_at(place); });
  if (!group.head_is_known || !(member.at.rank < group.head)) return;
  group.head = member.at.rank;
  group.looked_at = Time::never();
}

void GreedyWalk::unwait(const Member& member) {
  const auto group = classes_.find(member.job_class);
  group->second.jobs.lose();
  if (group->second.head == member.at.rank) group->second.head_is_known = false;
  if (group->second.jobs.empty()) classes_.erase(group);
}

void GreedyWalk::add_waiting(const Rank& rank, std::int32_t job_class, std::int64_t width) {
  const auto [at, is_new] = members_.try_emplace(rank.job, Member{{rank, 0}, width, job_class, false});
  CONTEND_CHECK(is_new, "a job is in the walk once");
  wait(at->second);
}

void GreedyWalk::remove(JobId job) {
  const Member& gone = member(job);
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

void GreedyWalk::widen(JobId job, std::int64_t width) {
  Member& member = members_.at(job);
  unrun(member);
  used_ += width - member.width;
  member.width = width;
  run(member);
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

// The places of running jobs move with time, so what was seen holds at that instant only.
void GreedyWalk::shift_heads(const Member& member, std::int64_t width) {
  for (auto& [id, group] : classes_) {
    if (group.looked_at == Time::never()) continue;
    if (member.at.compare({group.head, 0}, group.looked_at) < 0) group.used_before += width;
  }
}

bool GreedyWalk::fits(Class& group, Time now, const Class*& too_wide) const {
  const Rank& head = head_of(group);
  if (too_wide != nullptr && group.width >= too_wide->width && !(head < too_wide->head)) return false;
  if (group.looked_at != now) group.used_before = used_before(head, now);
  group.looked_at = now;
  if (group.used_before + group.width <= capacity_) return true;
  too_wide = &group;
  return false;
}

std::optional<Rank> GreedyWalk::first_that_fits(Time now, bool may_preempt, const std::optional<Rank>& before) {
  std::optional<Rank> best;
  const Class* too_wide = nullptr;
  for (auto& [id, group] : classes_) {
    if (group.is_refused || group.width > capacity_ || (!may_preempt && group.width > free())) continue;
    const Rank& head = head_of(group);
    if (const auto& limit = best ? best : before; limit && !(head < *limit)) continue;
    if (group.width <= free() || fits(group, now, too_wide)) best = head;
  }
  return best;
}

std::optional<Rank> GreedyWalk::first_waiting() {
  std::optional<Rank> first;
  for (auto& [id, group] : classes_)
    if (const Rank& head = head_of(group); !first || head < *first) first = head;
  return first;
}

// A tree that has all running jobs knows the sums. Otherwise each round asks about a job in the middle of the heaviest
// range, and leaves out of all ranges what is not on the side of the answer.
std::optional<Rank> GreedyWalk::first_overflow(Time now) const {
  if (used_ <= capacity_) return std::nullopt;
  ranges_.clear();
  for (const auto& [rate, jobs] : running_) {
    if (jobs.sum() == used_) return MovingRank{*jobs.first_with_sum(capacity_ + 1), rate}.at(now);
    if (!jobs.empty()) ranges_.push_back({rate, &jobs, jobs.front(), jobs.back(), {}});
  }
  std::optional<MovingRank> found;
  for (;;) {
    const auto heaviest =
        std::ranges::max_element(ranges_, {}, [](const Range& range) { return range.to.before - range.from.before; });
    if (heaviest->from == heaviest->to) break;
    const RankTree::Cut at = heaviest->jobs->middle(heaviest->from, heaviest->to);
    const MovingRank middle{heaviest->jobs->behind(at), heaviest->rate};
    std::int64_t through = 0;
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range) {
      range->split =
          range == heaviest ? range->jobs->next(at) : range->jobs->cut(range->from, range->to, [&](const Rank& rank) {
            return middle.compare({rank, range->rate}, now) > 0;
          });
      through += range->split.before;
    }
    if (through > capacity_) {
      found = middle;
      heaviest->split = at;
    }
    for (Range& range : ranges_) (through > capacity_ ? range.to : range.from) = range.split;
  }
  return found->at(now);
}

std::optional<GreedyWalk::Change> GreedyWalk::next_change(Time now) {
  const std::optional<Rank> stopping = first_overflow(now);
  const std::optional<Rank> starting = first_that_fits(now, true, stopping);
  if (!starting && !stopping) return std::nullopt;
  if (starting) {
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
