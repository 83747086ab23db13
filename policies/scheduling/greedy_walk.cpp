#include "policies/scheduling/greedy_walk.hpp"

#include "sim/check.hpp"

namespace contend {

namespace {

/// Converts `place`, whose key is the one at `now`, to the rank that it has among jobs that move at `rate`.
Rank in_group(std::int64_t rate, const Rank& place, Time now) {
  if (rate == 0) return place;
  const std::int64_t whole = place.key / rate - (place.key % rate < 0 ? 1 : 0);
  Rank rank = place;
  if (place.key % rate != 0) rank = {0, INT32_MAX, INT64_MAX, JobId::none()};  // every job with this key goes before it
  rank.key = now.ns() + whole;
  return rank;
}

Rank place_now(std::int64_t rate, Rank rank, Time now) {
  if (rate != 0) rank.key = rate * (rank.key - now.ns());
  return rank;
}

}  // namespace

void GreedyWalk::wait(const Entry& entry) {
  Class& group = classes_[entry.job_class];
  group.width = entry.width;
  group.jobs.insert(entry.at.rank);
}

void GreedyWalk::unwait(const Entry& entry) {
  const auto group = classes_.find(entry.job_class);
  group->second.jobs.erase(entry.at.rank);
  if (group->second.jobs.empty()) classes_.erase(group);
}

void GreedyWalk::add_waiting(const Rank& rank, std::int32_t job_class, std::int64_t width) {
  const auto [at, is_new] = entries_.try_emplace(rank.job, Entry{{rank, 0}, width, job_class, Entry::State::waiting});
  CONTEND_CHECK(is_new, "a job is in the walk once");
  wait(at->second);
  wanted_ += width;
}

void GreedyWalk::remove(JobId job) {
  const Entry& gone = entry(job);
  wanted_ -= gone.width;
  if (gone.state == Entry::State::running) {
    unrun(gone);
    used_ -= gone.width;
  } else if (gone.state == Entry::State::waiting) {
    unwait(gone);
  }
  entries_.erase(job);
}

void GreedyWalk::rerank(JobId job, const MovingRank& rank) {
  Entry& moved = entries_.at(job);
  if (moved.state == Entry::State::running) {
    unrun(moved);
    moved.at = rank;
    run(moved);
  } else if (moved.state == Entry::State::waiting) {
    unwait(moved);
    moved.at = rank;
    wait(moved);
  } else {
    moved.at = rank;
  }
}

std::int64_t GreedyWalk::used_before(const Rank& place, Time now) const {
  std::int64_t sum = 0;
  for (const auto& [rate, jobs] : running_) sum += jobs.sum_before(in_group(rate, place, now));
  return sum;
}

std::optional<Rank> GreedyWalk::last_running_before(const Rank* place, Time now) const {
  std::optional<Rank> best;
  for (const auto& [rate, jobs] : running_) {
    const std::optional<Rank> last = place == nullptr ? jobs.last() : jobs.last_before(in_group(rate, *place, now));
    if (last && (!best || *best < place_now(rate, *last, now))) best = place_now(rate, *last, now);
  }
  return best;
}

std::optional<Rank> GreedyWalk::first_that_fits(Time now) const {
  std::optional<Rank> best;
  for (const auto& [id, group] : classes_) {
    const Rank& head = *group.jobs.begin();
    if (group.is_refused || group.width > capacity_ || (best && *best < head)) continue;
    if (group.width <= free() || used_before(head, now) + group.width <= capacity_) best = head;
  }
  return best;
}

std::optional<Rank> GreedyWalk::first_overflow(Time now) const {
  std::optional<Rank> found;
  std::int64_t through = used_;  // GPUs used up to and including the current job, which moves from the last one forward
  while (through > capacity_) {
    found = last_running_before(found ? &*found : nullptr, now);
    CONTEND_CHECK(found, "what is in use is held by running jobs");
    through -= entry(found->job).width;
  }
  return found;
}

void GreedyWalk::settle(Time now, WalkOrder& order, std::vector<Change>& changes) {
  const std::size_t first = changes.size();
  for (;;) {
    const std::optional<Rank> starting = first_that_fits(now);
    const std::optional<Rank> stopping = first_overflow(now);
    if (!starting && !stopping) break;
    if (starting && (!stopping || *starting < *stopping)) {
      Entry& changed = entries_.at(starting->job);
      changes.push_back({starting->job, true, *starting});
      unwait(changed);
      start(changed);
    } else {
      changes.push_back({stopping->job, false, {}});
      remove(stopping->job);
    }
  }
  // Until now a starting job kept its place among the waiting jobs, so that jobs with equal keys stayed behind it.
  for (std::size_t i = first; i < changes.size(); ++i) {
    if (changes[i].starts) rerank(changes[i].job, order.when_started(changes[i].waiting));
  }
}

void GreedyWalk::start(Entry& entry) {
  entry.state = Entry::State::running;
  run(entry);
  used_ += entry.width;
}

void GreedyWalk::refuse(const Change& failed) {
  Entry& refused = entries_.at(failed.job);
  unrun(refused);
  used_ -= refused.width;
  refused.at = {failed.waiting, 0};
  refused.state = Entry::State::waiting;
  wait(refused);
  classes_[refused.job_class].is_refused = true;
  refused_.push_back(refused.job_class);
}

void GreedyWalk::end_pass() {
  for (const std::int32_t id : refused_) {
    const auto at = classes_.find(id);
    if (at != classes_.end()) at->second.is_refused = false;
  }
  refused_.clear();
}

void GreedyWalk::hold(JobId job) {
  Entry& held = entries_.at(job);
  unwait(held);
  held.state = Entry::State::held;
}

void GreedyWalk::run_held(JobId job, WalkOrder& order) {
  Entry& held = entries_.at(job);
  CONTEND_CHECK(held.state == Entry::State::held && held.width <= free(), "a held job needs room to run");
  start(held);
  rerank(job, order.when_started(held.at.rank));
}

Rank GreedyWalk::place(JobId job, Time now) const {
  const Entry& of_job = entry(job);
  return place_now(of_job.at.rate, of_job.at.rank, now);
}

}  // namespace contend
