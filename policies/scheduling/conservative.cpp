// Conservative backfilling (Feitelson and Weil, IPPS 1998; Mu'alem and Feitelson, TPDS 12, 2001) promises every job a
// start when the job arrives: the earliest start that delays no earlier promise. When a job ends before its estimate,
// the policy moves the planned starts of the waiting jobs forward, one after the other in order of submission. It never
// moves a planned start back.

#include "policies/registry.hpp"
#include "policies/scheduling/availability.hpp"
#include "policies/scheduling/backfill.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace contend {

namespace {

class Conservative final : public BackfillPolicy {
 public:
  using BackfillPolicy::BackfillPolicy;
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override;

 private:
  struct Pool {
    explicit Pool(std::int64_t capacity) : plan{capacity} {}
    Availability plan;
    std::set<Rank> waiting;
    std::set<std::pair<Time, JobId>> starts;   // planned starts of the waiting jobs
    std::set<std::pair<Time, JobId>> running;  // running jobs by estimated end
    bool ended_early = false;
  };

  void joins(BackfillJob& job, const ClusterView& cluster) override;
  void ends(BackfillJob& job) override { ended_.push_back(job); }
  void account_for_ends();
  void promise(Pool& pool, BackfillJob& job, Time from);
  void withdraw(Pool& pool, const BackfillJob& job);
  [[nodiscard]] bool prolong(Pool& pool);
  void plan_anew(Pool& pool);
  void move_forward(Pool& pool);
  void start_due(Pool& pool, SchedulingActions& actions);

  std::vector<Pool> pools_;
  std::vector<BackfillJob> ended_;  // since the last pass
  std::set<JobId> refused_;         // waiting jobs that the placement policy refused when they were planned last
  Time now_{};
};

void Conservative::promise(Pool& pool, BackfillJob& job, Time from) {
  job.start = from == Time::never() ? from : pool.plan.earliest(from, job.estimate, job.width);
  pool.plan.take(job.start, later(job.start, job.estimate), job.width);
  pool.starts.emplace(job.start, job.view.id);
  refused_.erase(job.view.id);
}

void Conservative::withdraw(Pool& pool, const BackfillJob& job) {
  // The plan has forgotten what was before now, where the start of a job may lie that had to wait for the quantum.
  pool.plan.take(std::max(job.start, now_), later(job.start, job.estimate), -job.width);
  pool.starts.erase({job.start, job.view.id});
}

void Conservative::joins(BackfillJob& job, const ClusterView& cluster) {
  if (job.pool == pools_.size()) pools_.emplace_back(Pools::capacity(cluster, job.view));
  Pool& pool = pools_[job.pool];
  pool.waiting.insert(job.rank());
  promise(pool, job, now_);
}

void Conservative::account_for_ends() {
  for (const BackfillJob& job : ended_) {
    Pool& pool = pools_[job.pool];
    pool.running.erase({job.end, job.view.id});
    if (job.end <= now_) continue;
    pool.plan.take(now_, job.end, -job.width);
    pool.ended_early = true;
  }
  ended_.clear();
}

/// Extends the estimate of each job that has outrun it: such a job is assumed to need as long again as it has run.
/// Returns true if there was one.
bool Conservative::prolong(Pool& pool) {
  bool any = false;
  while (!pool.running.empty() && pool.running.begin()->first <= now_) {
    BackfillJob& late = job(pool.running.begin()->second);
    pool.running.erase(pool.running.begin());
    late.end = later(now_, std::max(now_ - late.start, Time::nanoseconds(1)));
    pool.plan.take(now_, late.end, late.width);
    pool.running.emplace(late.end, late.view.id);
    any = true;
  }
  return any;
}

/// Discards all promises and plans the pool again, after a wrong estimate or a missed start (scheduling.quantum).
void Conservative::plan_anew(Pool& pool) {
  for (const Rank& rank : pool.waiting) withdraw(pool, job(rank.job));
  for (const Rank& rank : pool.waiting) promise(pool, job(rank.job), now_);
}

void Conservative::move_forward(Pool& pool) {
  for (const Rank& rank : pool.waiting) {
    BackfillJob& waiting = job(rank.job);
    withdraw(pool, waiting);
    promise(pool, waiting, now_);
  }
}

void Conservative::start_due(Pool& pool, SchedulingActions& actions) {
  std::vector<Rank> due;
  for (const auto& [start, id] : pool.starts) {
    if (start > now_) break;
    due.push_back(job(id).rank());
  }
  std::sort(due.begin(), due.end());
  for (const Rank& rank : due) {
    BackfillJob& waiting = job(rank.job);
    if (actions.start(rank.job)) {
      pool.waiting.erase(rank);
      pool.starts.erase({waiting.start, rank.job});
      waiting.end = later(now_, waiting.estimate);
      pool.running.emplace(waiting.end, rank.job);
      continue;
    }
    withdraw(pool, waiting);
    promise(pool, waiting, pool.plan.next_change(now_));
    refused_.insert(rank.job);
  }
}

void Conservative::pass(const ClusterView& cluster, SchedulingActions& actions) {
  now_ = cluster.now();
  account_for_ends();
  for (Pool& pool : pools_) {
    pool.plan.forget(now_);
    const bool missed = !pool.starts.empty() && pool.starts.begin()->first < now_;
    const bool stuck = !pool.starts.empty() && pool.starts.rbegin()->first == Time::never();
    if (prolong(pool) || missed || stuck) {
      plan_anew(pool);
    } else if (pool.ended_early) {
      move_forward(pool);
    }
    pool.ended_early = false;
  }
  admit(cluster);
  for (Pool& pool : pools_) {
    start_due(pool, actions);
    if (!actions.recording()) continue;
    for (const Rank& rank : pool.waiting)
      actions.blocked(rank.job, refused_.contains(rank.job) ? Why::no_place : Why::reserved);
  }
}

Time Conservative::next_decision(const ClusterView& cluster) {
  Time next = Time::never();
  for (const Pool& pool : pools_) {
    if (!pool.starts.empty()) next = std::min(next, pool.starts.begin()->first);
    // A running job that outruns its estimate invalidates all plans.
    if (!pool.starts.empty() && !pool.running.empty()) next = std::min(next, pool.running.begin()->first);
  }
  return std::max(next, cluster.now() + Time::nanoseconds(1));
}

std::unique_ptr<SchedulingPolicy> make_conservative(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Conservative>(parameters);
}

}  // namespace

PolicyRow<SchedulingPolicy> conservative_scheduling() {
  return {.name = "conservative",
          .summary = "every job is promised a start when it arrives; a job that delays no promise may start earlier",
          .source = "Mu'alem, Feitelson, TPDS 2001",
          .parameters = kBackfillParameters,
          .make = make_conservative};
}

}  // namespace contend
