// EASY backfilling (Lifka, JSSPP 1995; Feitelson and Weil, IPPS 1998) starts jobs in order of submission. The first job
// that cannot start gets a reservation: a place at the earliest time at which there is one, if running jobs end as
// estimated. A job behind it may start at once if it ends before that time, or if it takes nothing of that place.

#include "policies/registry.hpp"
#include "policies/scheduling/backfill.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace contend {

namespace {

class Easy final : public BackfillPolicy {
 public:
  using BackfillPolicy::BackfillPolicy;
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;

 private:
  struct Queue {
    RankTree waiting;                         // by submission
    std::map<std::int32_t, RankTree> shapes;  // the waiting jobs of each shape; the value is the estimate
    std::map<std::int32_t, JobView> of_shape;
    JobId first;                                   // the one with the reservation, if it was blocked
    PlacePlan::Place reserved{};                   // for it, in the last pass; no GPUs: there was none
    std::set<std::int32_t> refused, refused_long;  // in this pass: of any estimate, or of one beyond the reservations
  };

  /// What the last pass tells about a reservation: its place, or the time before which there is none.
  enum class Known { nothing, bound, place };

  void joins(BackfillJob& job) override;
  [[nodiscard]] Time prolonged(const BackfillJob& /*job*/, Time now) const override {
    return now + Time::nanoseconds(1);  // it may end at any time
  }
  /// Starts the first jobs of the queue; the first that can't start gets a reservation.
  void serve(Queue& queue, Known known, const News& news, const ClusterView& cluster, SchedulingActions& actions);
  void backfill(Queue& queue, const ClusterView& cluster, SchedulingActions& actions);
  [[nodiscard]] std::optional<Rank> candidate(const Queue& queue, const ClusterView& cluster);
  void take(Queue& queue, const BackfillJob& job);
  void explain(const Queue& queue, const ClusterView& cluster, SchedulingActions& actions) const;

  std::vector<Queue> queues_;
  std::size_t seen_ = 0;                 // changes(), when the reservations of the last pass were made
  Time first_reserved_ = Time::never();  // the first start of a reservation in this pass
};

void Easy::joins(BackfillJob& job) {
  if (job.queue == queues_.size()) queues_.emplace_back();
  Queue& queue = queues_[job.queue];
  queue.waiting.insert(job.rank(), 0);
  queue.shapes[job.shape].insert(job.rank(), job.estimate.ns());
  queue.of_shape.try_emplace(job.shape, job.view);
}

void Easy::take(Queue& queue, const BackfillJob& job) {
  queue.waiting.erase(job.rank());
  const auto shape = queue.shapes.find(job.shape);
  shape->second.erase(job.rank());
  if (shape->second.empty()) queue.shapes.erase(shape);
}

void Easy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  const News news = begin_pass(cluster);
  // With one queue, a reservation stays as it is if nothing has changed, and begins no sooner than in the last pass but
  // on servers where jobs have ended early.
  const bool is_one = queues_.size() == 1;
  Known known = is_one && !news.has_taken ? Known::bound : Known::nothing;
  if (is_one && changes() == seen_) known = Known::place;
  std::vector<Queue*> order;
  for (Queue& queue : queues_) {
    if (!queue.waiting.empty()) order.push_back(&queue);
    if (!queue.first.valid() || !job(queue.first).planned) continue;
    if (known == Known::place && !has_gpus(cluster, job(queue.first).view)) continue;
    queue.reserved = withdraw(job(queue.first));
  }
  std::ranges::sort(order, {}, [](const Queue* queue) { return *queue->waiting.first(); });
  first_reserved_ = Time::never();
  for (Queue* const queue : order) serve(*queue, known, news, cluster, actions);
  seen_ = changes();
  for (Queue* const queue : order) backfill(*queue, cluster, actions);
  if (actions.recording())
    for (const Queue* const queue : order) explain(*queue, cluster, actions);
  end_pass(cluster);
}

void Easy::serve(Queue& queue, Known known, const News& news, const ClusterView& cluster, SchedulingActions& actions) {
  if (queue.first.valid() && job(queue.first).planned) {  // it is as it was
    first_reserved_ = std::min(first_reserved_, *job(queue.first).planned);
    return;
  }
  const JobId before = std::exchange(queue.first, JobId::none());
  while (!queue.waiting.empty()) {
    BackfillJob& first = job(queue.waiting.first()->job);
    if (has_gpus(cluster, first.view) && start(first, cluster, actions)) {
      take(queue, first);
      continue;
    }
    queue.first = first.view.id;
    const bool is_same = before == first.view.id, has_place = is_same && !queue.reserved.gpus.empty();
    const Time soonest = cluster.now() + Time::nanoseconds(1), last = std::max(queue.reserved.start, soonest);
    if (known == Known::place && is_same) {
      if (has_place) keep(first, queue.reserved);
    } else if (known == Known::bound && has_place) {
      const bool moves = news.has_freed && keep_earliest(first, soonest, std::min(last, news.freed_until), actions,
                                                         where_freed(first, news, cluster));
      if (!moves && !keep_earliest(first, last, Time::never(), actions)) queue.reserved = {};
    } else if (!keep_earliest(first, soonest, Time::never(), actions)) {
      queue.reserved = {};
    }
    first_reserved_ = std::min(first_reserved_, first.planned.value_or(Time::never()));
    break;
  }
}

/// Returns the first job of the queue behind the reservation that may start.
std::optional<Rank> Easy::candidate(const Queue& queue, const ClusterView& cluster) {
  std::optional<Rank> best;
  const Time room = first_reserved_ == Time::never() ? first_reserved_ : first_reserved_ - cluster.now();
  for (const auto& [shape, jobs] : queue.shapes) {
    if (queue.refused.contains(shape) || !has_gpus(cluster, queue.of_shape.at(shape))) continue;
    const std::optional<Rank> first = jobs.first_at_most(queue.refused_long.contains(shape) ? room.ns() : INT64_MAX);
    if (first && (!best || *first < *best)) best = first;
  }
  return best;
}

void Easy::backfill(Queue& queue, const ClusterView& cluster, SchedulingActions& actions) {
  queue.refused.clear();
  queue.refused_long.clear();
  if (!queue.first.valid()) return;
  const BackfillJob& first = job(queue.first);
  take(queue, first);
  while (const std::optional<Rank> next = candidate(queue, cluster)) {
    BackfillJob& behind = job(next->job);
    if (start(behind, cluster, actions)) {
      take(queue, behind);
    } else {
      (plan().keeps_any_before(behind.estimate) ? queue.refused_long : queue.refused).insert(behind.shape);
    }
  }
  queue.waiting.insert(first.rank(), 0);
  queue.shapes[first.shape].insert(first.rank(), first.estimate.ns());
}

void Easy::explain(const Queue& queue, const ClusterView& cluster, SchedulingActions& actions) const {
  std::optional<Rank> at;
  for (at = queue.waiting.last(); at; at = queue.waiting.last_before(*at)) {
    const BackfillJob& waiting = job(at->job);
    if (!has_gpus(cluster, waiting.view)) {
      say_why(waiting, Why::no_gpus, JobId::none(), actions);
    } else if (at->job == queue.first || queue.refused.contains(waiting.shape)) {  // a job of its shape was refused
      say_why(waiting, Why::no_place, JobId::none(), actions);
    } else {
      say_why(waiting, Why::reserved, queue.first, actions);
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
