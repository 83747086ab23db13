// EASY backfilling (Lifka, JSSPP 1995; Feitelson and Weil, IPPS 1998) starts jobs in order of submission. The first job
// that cannot start gets a reservation: a place at the earliest time at which there is one, if running jobs end as
// estimated. A job behind it may start at once if it ends before that time, or if it takes nothing of that place. Jobs
// that may use other servers, or have a quota of their own, make a queue of their own. The first job of each queue has
// a reservation, which no job of any queue delays.

#include "policies/registry.hpp"
#include "policies/scheduling/backfill.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace contend {

namespace {

class Easy final : public BackfillPolicy {
 public:
  Easy(const Parameters& parameters, Time quantum) : BackfillPolicy{parameters, quantum, plan_limits(parameters)} {}
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;

 private:
  struct Queue {
    RankTree waiting;                         // by submission; the value is 1
    std::map<std::int32_t, RankTree> shapes;  // the waiting jobs of each shape; the value is the estimate
    std::map<std::int32_t, JobView> of_shape;
    JobId first;                // the one with the reservation, if it was blocked
    PlacePlan::Place reserved;  // for it, in the last pass; no GPUs: there was none
    // In this pass, by shape: no job with a longer estimate has a place; without an estimate: no job at all.
    std::map<std::int32_t, std::optional<Time>> refused;
  };

  void joins(BackfillJob& job) override;
  [[nodiscard]] Time prolonged(const BackfillJob& /*job*/, Time now) const override {
    return next_pass(now);  // it may end at any time
  }
  /// Forgets all reservations if some can't be kept any more.
  void forget_broken(const News& news, const ClusterView& cluster);
  /// Starts the first jobs of the queue beside the reservations of the other queues; the first that can't start gets a
  /// reservation. Returns true if one that it had is gone or begins sooner, which leaves room for the other queues.
  bool serve(Queue& queue, const News& news, const ClusterView& cluster, SchedulingActions& actions);
  /// Keeps a place for the first job of the queue, which begins no later than the reservation that it had.
  void reserve(Queue& queue, BackfillJob& first, bool had_one, const News& news, const ClusterView& cluster,
               SchedulingActions& actions);
  void backfill(Queue& queue, const ClusterView& cluster, SchedulingActions& actions);
  /// Backfills where a pass looks at some jobs of each user.
  void backfill_by_user(Queue& queue, const ClusterView& cluster, SchedulingActions& actions);
  [[nodiscard]] std::optional<Rank> candidate(const Queue& queue, const std::optional<Rank>& last,
                                              const ClusterView& cluster) const;
  void take(Queue& queue, const BackfillJob& job);
  void explain(const Queue& queue, const ClusterView& cluster, SchedulingActions& actions) const;

  std::vector<Queue> queues_;
  static constexpr std::size_t kNothing = SIZE_MAX;
  std::size_t seen_ = kNothing;  // changes(), when the reservations of the last pass were made
};

void Easy::joins(BackfillJob& job) {
  if (job.queue == queues_.size()) queues_.emplace_back();
  Queue& queue = queues_[job.queue];
  queue.waiting.insert(job.rank(), 1);
  queue.shapes[job.shape].insert(job.rank(), job.estimate.ns());
  queue.of_shape.try_emplace(job.shape, job.view);
}

void Easy::take(Queue& queue, const BackfillJob& job) {
  queue.waiting.erase(job.rank());
  const auto shape = queue.shapes.find(job.shape);
  shape->second.erase(job.rank());
  if (shape->second.empty()) queue.shapes.erase(shape);
}

void Easy::forget_broken(const News& news, const ClusterView& cluster) {
  const auto has_missed = [&](const Queue& queue) {  // scheduling.quantum
    return queue.first.valid() && job(queue.first).planned.value_or(Time::never()) < cluster.now();
  };
  if (!news.has_taken && std::ranges::none_of(queues_, has_missed)) return;
  for (Queue& queue : queues_) {
    if (queue.first.valid() && job(queue.first).planned) withdraw(job(queue.first));
    queue.reserved = {};
  }
  seen_ = kNothing;
}

void Easy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  News news = begin_pass(cluster);
  forget_broken(news, cluster);
  std::vector<Queue*> order;
  for (Queue& queue : queues_)
    if (!queue.waiting.empty()) order.push_back(&queue);
  std::ranges::sort(order, {}, [](const Queue* queue) { return *queue->waiting.first(); });
  const bool is_one = queues_.size() == 1;
  if (!is_one) news = {.has_freed = true, .freed_on = {}, .freed_until = Time::never()};  // by other queues
  bool has_room = true;
  while (std::exchange(has_room, false))
    for (Queue* const queue : order) has_room = (serve(*queue, news, cluster, actions) && !is_one) || has_room;
  seen_ = changes();
  for (Queue* const queue : order) backfill(*queue, cluster, actions);
  if (actions.recording())
    for (const Queue* const queue : order) explain(*queue, cluster, actions);
  end_pass(cluster);
}

bool Easy::serve(Queue& queue, const News& news, const ClusterView& cluster, SchedulingActions& actions) {
  const JobId before = std::exchange(queue.first, JobId::none());
  if (before.valid() && job(before).planned) {
    if (changes() == seen_ && !has_gpus(cluster, job(before).view)) {
      queue.first = before;
      return false;
    }
    queue.reserved = withdraw(job(before));
  }
  bool leaves_room = false;
  while (!queue.waiting.empty()) {
    BackfillJob& first = job(queue.waiting.first()->job);
    const bool is_same = before == first.view.id, had_one = is_same && !queue.reserved.gpus.empty();
    const bool is_due = had_one && queue.reserved.start <= cluster.now();
    if (has_gpus(cluster, first.view) &&
        (start(first, cluster, actions) || (is_due && start_there(first, queue.reserved, cluster, actions)))) {
      take(queue, first);
      leaves_room = leaves_room || !queue.reserved.gpus.empty();
      queue.reserved = {};  // a job that is tried again stands in front of the job that had it, and may be in its way
      continue;
    }
    queue.first = first.view.id;
    const bool may_have_come_near = !had_one && limits().window > Time{};
    if (changes() != seen_ || !is_same || may_have_come_near) {
      reserve(queue, first, had_one && !is_due, news, cluster, actions);
    } else if (had_one) {
      keep(first, queue.reserved);
    }
    return leaves_room || (had_one && first.planned && *first.planned < queue.reserved.start);
  }
  return leaves_room;
}

void Easy::reserve(Queue& queue, BackfillJob& first, bool had_one, const News& news, const ClusterView& cluster,
                   SchedulingActions& actions) {
  const Time soonest = next_pass(cluster.now()), last = queue.reserved.start;
  if (!had_one) {
    const bool is_kept = keep_earliest(first, soonest, Time::never(), actions);
    if (is_kept && !is_near(*first.planned, cluster.now())) withdraw(first);
    if (!first.planned) queue.reserved = {};
    return;
  }
  // It begins sooner only where something has become free.
  const Time until = std::min(last, news.freed_until);
  if (news.has_freed && keep_earliest(first, soonest, until, actions, where_freed(first, news, cluster))) return;
  // At its time the placement policy may now choose another place.
  if (queues_.size() == 1 && keep_earliest(first, last, last + Time::nanoseconds(1), actions)) return;
  keep(first, queue.reserved);
}

/// Returns the first job of the queue behind the reservation that may start, and is not behind `last`.
std::optional<Rank> Easy::candidate(const Queue& queue, const std::optional<Rank>& last,
                                    const ClusterView& cluster) const {
  std::optional<Rank> best = last;
  bool is_any = false;
  for (const auto& [shape, jobs] : queue.shapes) {
    const auto refused = queue.refused.find(shape);
    const Time longest = refused == queue.refused.end() ? Time::never() : refused->second.value_or(Time{});
    if (longest == Time{} || !has_gpus(cluster, queue.of_shape.at(shape))) continue;
    const std::optional<Rank> first = jobs.first_at_most(longest.ns());
    if (!first || (best && *best < *first)) continue;
    best = first;
    is_any = true;
  }
  return is_any ? best : std::nullopt;
}

void Easy::backfill_by_user(Queue& queue, const ClusterView& cluster, SchedulingActions& actions) {
  LookedAt looked_at{limits()};
  std::vector<JobId> behind;
  for (RankTree::Cut at = queue.waiting.front(); at != queue.waiting.back() && !looked_at.is_full();
       at = queue.waiting.next(at)) {
    const JobId id = queue.waiting.behind(at).job;
    if (id != queue.first && looked_at.add(job(id).view)) behind.push_back(id);
  }
  for (const JobId id : behind)
    if (BackfillJob& next = job(id); has_gpus(cluster, next.view) && start(next, cluster, actions)) take(queue, next);
}

void Easy::backfill(Queue& queue, const ClusterView& cluster, SchedulingActions& actions) {
  queue.refused.clear();
  if (!queue.first.valid()) return;
  if (limits().per_user > 0) return backfill_by_user(queue, cluster, actions);
  const BackfillJob& first = job(queue.first);
  take(queue, first);
  const std::int64_t depth = limits().depth;
  const std::optional<Rank> last = depth > 0 ? queue.waiting.first_with_sum(depth) : std::nullopt;
  while (const std::optional<Rank> next = candidate(queue, last, cluster)) {
    BackfillJob& behind = job(next->job);
    if (start(behind, cluster, actions)) {
      take(queue, behind);
      continue;
    }
    // One that ends before the last reservation in the way of this job begins may have a place.
    std::optional<Time>& longest = queue.refused[behind.shape];
    longest.reset();
    if (const auto begin = plan().last_kept_before(behind.estimate)) longest = *begin - cluster.now();
  }
  queue.waiting.insert(first.rank(), 1);
  queue.shapes[first.shape].insert(first.rank(), first.estimate.ns());
}

void Easy::explain(const Queue& queue, const ClusterView& cluster, SchedulingActions& actions) const {
  const auto has_no_place = [&](std::int32_t shape) {  // a job of the shape was refused
    const auto refused = queue.refused.find(shape);
    return refused != queue.refused.end() && !refused->second;
  };
  std::optional<Rank> at;
  for (at = queue.waiting.last(); at; at = queue.waiting.last_before(*at)) {
    const BackfillJob& waiting = job(at->job);
    if (!has_gpus(cluster, waiting.view)) {
      say_why(waiting, Why::no_gpus, JobId::none(), actions);
    } else if (at->job == queue.first || has_no_place(waiting.shape)) {
      say_why(waiting, Why::no_place, JobId::none(), actions);
    } else {
      say_why(waiting, Why::reserved, queue.first, actions);
    }
  }
}

std::unique_ptr<SchedulingPolicy> make_easy(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<Easy>(parameters, context.quantum);
}

}  // namespace

PolicyRow<SchedulingPolicy> easy_scheduling() {
  return {.name = "easy",
          .summary = "by submission; a job that does not delay the first in the queue may pass it",
          .source = "Lifka, JSSPP 1995",
          .parameters = kBackfillParameters,
          .make = make_easy,
          .plans_places = true};
}

}  // namespace contend
