// Conservative backfilling (Feitelson and Weil, IPPS 1998; Mu'alem and Feitelson, TPDS 12, 2001) promises every job a
// place at a time when the job arrives: the earliest that delays no earlier promise. When GPUs become free sooner than
// was planned, the waiting jobs look for an earlier place, one after the other in order of submission. Unless a job
// outruns its estimate or GPUs fail, no promise moves back.

#include "policies/registry.hpp"
#include "policies/scheduling/backfill.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace contend {

namespace {

class Conservative final : public BackfillPolicy {
 public:
  Conservative(const Parameters& parameters, Time quantum)
      : BackfillPolicy{parameters, quantum, plan_limits(parameters)} {}
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override;

 private:
  void joins(BackfillJob& job) override { waiting_.insert(job.rank()); }
  /// Such a job is assumed to need as long again as it has run.
  [[nodiscard]] Time prolonged(const BackfillJob& job, Time now) const override {
    return pass_from(later(now, std::max(now - job.start, Time::nanoseconds(1))));
  }
  void promise(BackfillJob& job, Time from, SchedulingActions& actions);
  PlacePlan::Place forget_promise(BackfillJob& job);
  /// Where the plan has limits: the jobs that a pass looks at look for a place, or for an earlier one, in their order.
  void look_at_first(const ClusterView& cluster, SchedulingActions& actions);
  /// Moves the promises of waiting jobs forward where that is possible.
  void move_forward(const ClusterView& cluster, News& news, SchedulingActions& actions);
  void start_due(const ClusterView& cluster, SchedulingActions& actions);
  void explain(const ClusterView& cluster, SchedulingActions& actions);

  std::set<Rank> waiting_;
  std::set<std::pair<Time, JobId>> starts_;  // promised ones; jobs without a promise are in none
  News moved_;                               // in the last pass: what moved left room for jobs in front of it
};

void Conservative::promise(BackfillJob& job, Time from, SchedulingActions& actions) {
  if (!keep_earliest(job, from, Time::never(), actions)) return;
  if (is_near(*job.planned, from)) {
    starts_.emplace(*job.planned, job.view.id);
  } else {
    withdraw(job);
  }
}

PlacePlan::Place Conservative::forget_promise(BackfillJob& job) {
  starts_.erase({*job.planned, job.view.id});
  return withdraw(job);
}

void Conservative::move_forward(const ClusterView& cluster, News& news, SchedulingActions& actions) {
  const bool is_somewhere = news.freed_on.empty();
  for (const Rank& rank : waiting_) {
    BackfillJob& waiting = job(rank.job);
    if (!waiting.planned) continue;
    // A place that there was not before has some of what has been freed.
    const std::span<const ServerId> freed = where_freed(waiting, news, cluster);
    const Time until = std::min(*waiting.planned, news.freed_until);
    if (!may_move(waiting, cluster.now(), until, actions, freed)) continue;
    const PlacePlan::Place before = forget_promise(waiting);
    if (keep_earliest(waiting, cluster.now(), until, actions, freed)) {
      const Time end = plan().held_till(later(before.start, waiting.estimate));
      if (!is_somewhere) note_freed(before, end, cluster, news);
      moved_.has_freed = true;
      note_freed(before, end, cluster, moved_);
    } else {
      keep(waiting, before);
    }
    starts_.emplace(*waiting.planned, rank.job);
  }
}

void Conservative::look_at_first(const ClusterView& cluster, SchedulingActions& actions) {
  LookedAt looked_at{limits()};
  for (const Rank& rank : waiting_) {
    if (looked_at.is_full()) break;
    BackfillJob& waiting = job(rank.job);
    if (!looked_at.add(waiting.view)) continue;
    if (!waiting.planned) {
      promise(waiting, cluster.now(), actions);
      continue;
    }
    const PlacePlan::Place before = forget_promise(waiting);
    if (!keep_earliest(waiting, cluster.now(), before.start, actions)) keep(waiting, before);
    starts_.emplace(*waiting.planned, rank.job);
  }
}

void Conservative::start_due(const ClusterView& cluster, SchedulingActions& actions) {
  std::vector<Rank> due;
  for (const auto& [start, id] : starts_) {
    if (start > cluster.now()) break;
    due.push_back(job(id).rank());
  }
  std::sort(due.begin(), due.end());
  for (const Rank& rank : due) {
    BackfillJob& waiting = job(rank.job);
    starts_.erase({*waiting.planned, rank.job});
    if (start_there(waiting, withdraw(waiting), cluster, actions)) {
      waiting_.erase(rank);
    } else {
      promise(waiting, next_pass(cluster.now()), actions);
    }
  }
}

void Conservative::pass(const ClusterView& cluster, SchedulingActions& actions) {
  const Time now = cluster.now();
  News news = begin_pass(cluster);
  const bool has_missed = !starts_.empty() && starts_.begin()->first < now;  // scheduling.quantum
  if (const News moved = std::exchange(moved_, {}); moved.has_freed) {
    const bool is_somewhere = news.has_freed && news.freed_on.empty();
    if (!is_somewhere)
      for (const ServerId server : moved.freed_on) note_freed(server, moved.freed_until, news);
    news.has_freed = true;
  }
  if (news.has_taken || has_missed) {
    for (const Rank& rank : waiting_)
      if (BackfillJob& waiting = job(rank.job); waiting.planned) forget_promise(waiting);
  } else if (news.has_freed && !limits().any()) {
    move_forward(cluster, news, actions);
  }
  if (limits().any()) {
    look_at_first(cluster, actions);
  } else {
    for (const Rank& rank : waiting_)
      if (BackfillJob& waiting = job(rank.job); !waiting.planned) promise(waiting, now, actions);
  }
  start_due(cluster, actions);
  if (actions.recording()) explain(cluster, actions);
  end_pass(cluster);
}

void Conservative::explain(const ClusterView& cluster, SchedulingActions& actions) {
  for (const Rank& rank : waiting_) {
    const BackfillJob& waiting = job(rank.job);
    std::vector<GpuId> place;
    const bool has_place = !has_gpus(cluster, waiting.view) || actions.plan_in(rank.job, cluster, place);
    say_why(waiting, has_place ? Why::reserved : Why::no_place, JobId::none(), actions);
  }
}

Time Conservative::next_decision(const ClusterView& cluster) {
  if (starts_.empty()) return Time::never();
  // A running job that outruns its estimate invalidates all plans.
  return std::max(std::min(starts_.begin()->first, next_end()), cluster.now() + Time::nanoseconds(1));
}

std::unique_ptr<SchedulingPolicy> make_conservative(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<Conservative>(parameters, context.quantum);
}

}  // namespace

PolicyRow<SchedulingPolicy> conservative_scheduling() {
  return {.name = "conservative",
          .summary = "every job is promised a start when it arrives; a job that delays no promise may start earlier",
          .source = "Mu'alem, Feitelson, TPDS 2001",
          .parameters = kBackfillParameters,
          .make = make_conservative,
          .plans_places = true};
}

}  // namespace contend
