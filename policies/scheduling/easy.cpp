// EASY backfilling (Lifka, JSSPP 1995; Feitelson and Weil, IPPS 1998) starts jobs in order of submission. The first job
// that cannot start gets a reservation at the earliest time at which enough GPUs are free according to the estimates. A
// job behind it may start at once if it ends before that time or uses only GPUs that the reservation does not need.

#include "policies/registry.hpp"
#include "policies/scheduling/backfill.hpp"

#include <algorithm>
#include <set>

namespace contend {

namespace {

class Easy final : public BackfillPolicy {
 public:
  using BackfillPolicy::BackfillPolicy;
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;

 private:
  struct Pool {
    std::int64_t free = 0;
    RankTree running;                         // by estimated end; the value is the width
    RankTree waiting;                         // by submission; the value is the width
    std::map<std::int32_t, RankTree> shapes;  // the waiting jobs of each shape; the value is the estimate
    std::map<std::int32_t, std::int64_t> width;
    std::set<std::int32_t> refused;  // in this pass
  };
  struct Reservation {
    Time start;
    std::int64_t extra = 0;  // free at `start` in addition to what the job needs
  };

  void joins(BackfillJob& job, const ClusterView& cluster) override;
  void ends(BackfillJob& job) override;
  void fill(Pool& pool, const ClusterView& cluster, SchedulingActions& actions);
  bool start(Pool& pool, const BackfillJob& job, SchedulingActions& actions, Time now);
  [[nodiscard]] static Reservation reserve(const Pool& pool, const BackfillJob& first, Time now);
  [[nodiscard]] static std::optional<Rank> candidate(const Pool& pool, std::int64_t extra, Time room);
  static void take(Pool& pool, const BackfillJob& job);
  static void put_back(Pool& pool, const BackfillJob& job);
  void explain(const Pool& pool, JobId first, SchedulingActions& actions);

  std::vector<Pool> pools_;
};

Rank by_end(const BackfillJob& job) {
  return {job.end.ns(), 0, 0, job.view.id};
}

void Easy::put_back(Pool& pool, const BackfillJob& job) {
  pool.waiting.insert(job.rank(), job.width);
  pool.shapes[job.shape].insert(job.rank(), job.estimate.ns());
  pool.width[job.shape] = job.width;
}

void Easy::take(Pool& pool, const BackfillJob& job) {
  pool.waiting.erase(job.rank());
  const auto shape = pool.shapes.find(job.shape);
  shape->second.erase(job.rank());
  if (shape->second.empty()) pool.shapes.erase(shape);
}

void Easy::joins(BackfillJob& job, const ClusterView& cluster) {
  if (job.pool == pools_.size()) {
    pools_.emplace_back();
    pools_.back().free = Pools::capacity(cluster, job.view);
  }
  put_back(pools_[job.pool], job);
}

void Easy::ends(BackfillJob& job) {
  Pool& pool = pools_[job.pool];
  pool.running.erase(by_end(job));
  pool.free += job.width;
}

void Easy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  admit(cluster);
  for (Pool& pool : pools_) fill(pool, cluster, actions);
}

bool Easy::start(Pool& pool, const BackfillJob& waiting, SchedulingActions& actions, Time now) {
  if (!actions.start(waiting.view.id)) {
    actions.blocked(waiting.view.id, Why::no_place);
    return false;
  }
  BackfillJob& started = job(waiting.view.id);
  take(pool, started);
  started.end = now + started.estimate;
  pool.running.insert(by_end(started), started.width);
  pool.free -= started.width;
  return true;
}

/// If enough GPUs are free but the job found no place, the reservation waits until more become free.
Easy::Reservation Easy::reserve(const Pool& pool, const BackfillJob& first, Time now) {
  const std::int64_t missing = std::max<std::int64_t>(first.width - pool.free, 1);
  const std::optional<Rank> last = pool.running.first_with_sum(missing);
  if (!last) return {Time::never(), 0};
  const std::int64_t freed = pool.running.sum_before({last->key, INT32_MAX, 0, JobId::none()});
  // A job that has outrun its estimate may end at any time.
  const Time start = std::max(Time::nanoseconds(static_cast<std::int64_t>(last->key)), now + Time::nanoseconds(1));
  return {start, std::max<std::int64_t>(pool.free + freed - first.width, 0)};
}

/// Returns the first job behind the reservation that may start. `room` is the time until the reservation starts.
std::optional<Rank> Easy::candidate(const Pool& pool, std::int64_t extra, Time room) {
  std::optional<Rank> best;
  for (const auto& [shape, jobs] : pool.shapes) {
    const std::int64_t width = pool.width.at(shape);
    if (width > pool.free || pool.refused.contains(shape)) continue;
    const std::optional<Rank> first = jobs.first_at_most(width <= extra ? INT64_MAX : room.ns());
    if (first && (!best || *first < *best)) best = first;
  }
  return best;
}

void Easy::fill(Pool& pool, const ClusterView& cluster, SchedulingActions& actions) {
  const Time now = cluster.now();
  pool.refused.clear();
  while (!pool.waiting.empty()) {
    const BackfillJob& first = job(pool.waiting.first()->job);
    if (first.width > pool.free || !start(pool, first, actions, now)) break;
  }
  if (pool.waiting.empty()) return;
  const BackfillJob first = job(pool.waiting.first()->job);
  take(pool, first);
  Reservation reserved = reserve(pool, first, now);
  const Time room = reserved.start == Time::never() ? reserved.start : reserved.start - now;
  while (const std::optional<Rank> next = candidate(pool, reserved.extra, room)) {
    const BackfillJob& behind = job(next->job);
    if (!start(pool, behind, actions, now)) {
      pool.refused.insert(behind.shape);
    } else if (behind.estimate > room) {
      reserved.extra -= behind.width;
    }
  }
  put_back(pool, first);
  if (actions.recording()) explain(pool, first.view.id, actions);
}

void Easy::explain(const Pool& pool, JobId first, SchedulingActions& actions) {
  std::optional<Rank> at;
  for (at = pool.waiting.last(); at; at = pool.waiting.last_before(*at)) {
    const BackfillJob& waiting = job(at->job);
    if (waiting.width > pool.free) {
      actions.blocked(at->job, Why::no_gpus);
    } else if (pool.refused.contains(waiting.shape)) {  // a job of its shape was refused
      actions.blocked(at->job, Why::no_place);
    } else if (at->job != first) {
      actions.blocked(at->job, Why::reserved, first);
    }
  }
}

std::unique_ptr<SchedulingPolicy> make_easy(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Easy>(parameters);
}

}  // namespace

PolicyRow<SchedulingPolicy> easy_scheduling() {
  return {.name = "easy",
          .summary = "by submission; a job that does not delay the first in the queue may pass it",
          .source = "Lifka, JSSPP 1995",
          .parameters = kBackfillParameters,
          .make = make_easy};
}

}  // namespace contend
