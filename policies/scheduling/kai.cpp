// KAI v0.17 divides the GPUs among queues at each level of their tree (queue_shares.hpp), starts jobs of the queues
// that have least of their fair shares, moves jobs together if that makes room (consolidation), takes GPUs back from
// queues above their fair shares (reclaim) and preempts jobs of lower priority in a queue. It reserves nothing: large
// jobs may starve. Sources: actions allocate, consolidation, reclaim, preempt; plugins proportion and minruntime.

#include "policies/scheduling/divided_queues.hpp"
#include "policies/scheduling/queue_shares.hpp"
#include "sim/portable_math.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace contend {

namespace {

constexpr std::string_view kKaiRules[] = {"borrowing_limit"};
constexpr std::int64_t kNonPreemptible = 100;  // PriorityClasses from this value on (docs of KAI, "priority")

class Kai final : public DividedQueues {
 public:
  Kai(const Parameters& parameters, const PolicyContext& context)
      : DividedQueues{context},
        k_value_{parameters.get<double>("k_value")},
        half_life_{parameters.get<double>("half_life_s")},
        moved_{parameters.get<std::int64_t>("consolidated")},
        reclaim_after_{Time::ceil_nanoseconds(parameters.get<double>("reclaim_min_runtime_s") * 1e9)},
        preempt_after_{Time::ceil_nanoseconds(parameters.get<double>("preempt_min_runtime_s") * 1e9)},
        used_(tree().size()),
        kept_(tree().size()) {}
  [[nodiscard]] bool idle_passes() const override { return k_value_ > 0; }

 private:
  using Skipped = std::set<std::pair<std::int32_t, bool>>;  // demands, and whether they are of jobs that stay

  void decide(const ClusterView& cluster, SchedulingActions& actions) override;
  void uses(const QueuedJob& job, std::int64_t gpus, Time now) override;
  [[nodiscard]] Time next_of_policy(const ClusterView& cluster) override;
  [[nodiscard]] std::vector<double> shares_of(const std::vector<std::size_t>& siblings, double total) const override;
  [[nodiscard]] bool may_have(const QueuedJob& one) const override { return may_have(one, {}); }
  [[nodiscard]] bool may_have(const QueuedJob& one, const GpusOfNodes& lost) const;
  /// True if nothing takes the GPUs of the job while it runs.
  [[nodiscard]] static bool stays(const QueuedJob& one) { return one.view.priority >= kNonPreemptible; }

  void advance(Time now);
  [[nodiscard]] JobId best_job(const std::vector<Skipped>& skipped) const;
  [[nodiscard]] bool goes_before(JobId a, JobId b) const;
  std::vector<JobId> allocate(const ClusterView& cluster, SchedulingActions& actions);
  bool make_room(const std::vector<JobId>& left_over, const ClusterView& cluster, SchedulingActions& actions);
  bool consolidate(JobId id, const ClusterView& cluster, SchedulingActions& actions);
  [[nodiscard]] bool may_take(const QueuedJob& one, const GpusOfNodes& lost) const;
  bool reclaim(JobId id, const ClusterView& cluster, SchedulingActions& actions);
  bool preempt_for(JobId id, const ClusterView& cluster, SchedulingActions& actions);
  [[nodiscard]] std::vector<JobId> running(const std::function<bool(const QueuedJob&)>& takes) const;
  /// True if it has run for so long, and didn't start just now.
  [[nodiscard]] static bool has_run(const QueuedJob& one, Time after, Time now) {
    return one.since < now && now >= one.since + after;
  }

  double k_value_, half_life_;
  std::int64_t moved_;
  Time reclaim_after_, preempt_after_;
  std::vector<double> used_;                 // GPU seconds of each node, decayed
  std::vector<std::int64_t> kept_;           // GPUs of jobs that stay, by node
  double capacity_ = 0, capacity_used_ = 0;  // GPUs in service; their GPU seconds, decayed
  Time at_{};
};

void Kai::advance(Time now) {
  const double seconds = (now - at_).to_seconds();
  at_ = now;
  if (k_value_ == 0 || seconds <= 0) return;
  const double kept = half_life_ > 0 ? portable_exp(-0.6931471805599453 * seconds / half_life_) : 1;
  for (std::size_t n = 0; n < used_.size(); ++n)
    used_[n] = used_[n] * kept + static_cast<double>(node(n).held) * seconds;
  capacity_used_ = capacity_used_ * kept + capacity_ * seconds;
}

void Kai::uses(const QueuedJob& job, std::int64_t gpus, Time now) {
  advance(now);
  DividedQueues::uses(job, gpus, now);
  if (!stays(job)) return;
  for (std::size_t n = job.queue; n != QueueTree::kNone; n = tree().parent(n)) kept_[n] += gpus;
}

std::vector<double> Kai::shares_of(const std::vector<std::size_t>& siblings, double total) const {
  std::vector<QueueClaim> claims;
  for (const std::size_t n : siblings)
    claims.push_back({.weight = weight(n),
                      .quota = quota(n),
                      .limit = limit(n),
                      .request = node(n).request,
                      .priority = priority(n),
                      .usage = capacity_used_ > 0 ? used_[n] / capacity_used_ : 0});
  return kai_fair_shares(total, claims, k_value_);
}

/// A job that can't be preempted needs quotas that hold all such jobs (plugins/proportion/capacity_policy).
bool Kai::may_have(const QueuedJob& one, const GpusOfNodes& lost) const {
  if (!stays_within(
          one, [&](std::size_t n) { return limit(n); }, lost))
    return false;
  if (!stays(one)) return true;
  for (std::size_t n = one.queue; n != QueueTree::kNone; n = tree().parent(n))
    if (static_cast<double>(kept_[n] + one.view.gpus) > quota(n) + 1e-9) return false;
  return true;
}

/// The order of queues (plugins/proportion/queue_order.go), from the level at which the two part.
bool Kai::goes_before(JobId a, JobId b) const {
  if (job(a).queue == job(b).queue) return place_of(job(a).view) < place_of(job(b).view);
  const auto rank = [&](std::size_t n, JobId id) {
    const double share = node(n).share, divisor = std::max(share, 1e-9);
    const auto held = static_cast<double>(node(n).held), with = held + job(id).view.gpus;
    return std::tuple{held > share,   with > quota(n), -priority(n), share == 0,
                      with / divisor, held / divisor,  share,        n};
  };
  const auto [one, other] = where_they_part(job(a).queue, job(b).queue);
  return rank(one, a) < rank(other, b);
}

JobId Kai::best_job(const std::vector<Skipped>& skipped) const {
  JobId best = JobId::none();
  for (std::size_t q = 0; q < tree().size(); ++q) {
    const JobId first = head(q, [&](std::int32_t shape, const Place& place) {
      return skipped[q].contains({shape, stays(job(std::get<JobId>(place)))});
    });
    if (first.valid() && (!best.valid() || goes_before(first, best))) best = first;
  }
  return best;
}

std::vector<JobId> Kai::running(const std::function<bool(const QueuedJob&)>& takes) const {
  std::vector<JobId> found;
  for (std::size_t q = 0; q < tree().size(); ++q)
    for (const auto& [order, id] : admitted(q))
      if (!stays(job(id)) && takes(job(id))) found.push_back(id);
  // Lower priorities first, of these the job that started later.
  std::ranges::stable_sort(found, [&](JobId a, JobId b) {
    return std::pair{job(a).view.priority, job(b).admitted} < std::pair{job(b).view.priority, job(a).admitted};
  });
  return found;
}

bool Kai::consolidate(JobId id, const ClusterView& cluster, SchedulingActions& actions) {
  const QueuedJob& one = job(id);
  if (moved_ == 0 || cluster.free_gpus_of_vc(one.view.vc) < demand_of(one.view)) return false;
  std::vector<JobId> others = running([&](const QueuedJob& each) {
    return each.queue != tree().unmanaged() && each.view.timed && has_run(each, preempt_after_, cluster.now());
  });
  std::vector<SizedClaim> claims{{id, one.view.gpus}};
  for (const JobId other : others) {
    if (std::ssize(claims) > moved_) return false;
    claims.push_back({other, job(other).view.gpus});
    std::vector<SizedClaim> planned = claims;
    if (!actions.plan_together(planned)) continue;
    admit(id, cluster.now());
    actions.take_places(planned);
    started(id, cluster.now());
    for (const SizedClaim& claim : planned)
      if (job(claim.job).admitted == 0) runs_again(claim.job, cluster.now());
    return true;
  }
  return false;
}

/// At each level the queue may exceed its share only as long as it is below those that lose GPUs to it, in parts of
/// their shares (plugins/proportion/reclaimable/reclaimable.go).
bool Kai::may_take(const QueuedJob& one, const GpusOfNodes& lost) const {
  const auto part = [&](std::size_t n, std::int64_t more) {
    return static_cast<double>(held_without(n, lost) + more) / std::max(node(n).share, 1e-9);
  };
  for (std::size_t n = one.queue; n != QueueTree::kNone; n = tree().parent(n)) {
    const double mine = part(n, one.view.gpus);
    if (mine <= 1 + 1e-9) continue;
    for (const auto& [other, gone] : lost)
      if (other != n && tree().parent(other) == tree().parent(n) && mine >= part(other, 0)) return false;
  }
  return true;
}

bool Kai::reclaim(JobId id, const ClusterView& cluster, SchedulingActions& actions) {
  const QueuedJob& one = job(id);
  if (static_cast<double>(node(one.queue).held + one.view.gpus) > node(one.queue).share + 1e-9) return false;
  std::vector<JobId> candidates = running(
      [&](const QueuedJob& each) { return each.queue != one.queue && has_run(each, reclaim_after_, cluster.now()); });
  std::vector<JobId> victims;
  GpusOfNodes lost;
  int freed = cluster.free_gpus_of_vc(one.view.vc);
  while (!candidates.empty()) {
    // The queue that has most of its fair share gives first.
    auto best = candidates.end();
    double most = 0;
    for (auto at = candidates.begin(); at != candidates.end(); ++at) {
      std::size_t own = one.queue, other = job(*at).queue;
      while (tree().has_parent(own) && !tree().is_within(other, tree().parent(own))) own = tree().parent(own);
      while (tree().parent(other) != tree().parent(own)) other = tree().parent(other);
      const auto left = static_cast<double>(held_without(other, lost));
      const bool is_above = left > std::max(quota(other), node(other).share);
      const bool is_owed = static_cast<double>(node(own).held + one.view.gpus) <= quota(own) && left > quota(other);
      const double excess = left / std::max(node(other).share, 1e-9);
      if ((is_above || is_owed) && (best == candidates.end() || excess > most)) {
        best = at;
        most = excess;
      }
    }
    if (best == candidates.end()) return false;
    victims.push_back(*best);
    candidates.erase(best);
    const QueuedJob& victim = job(victims.back());
    add(lost, victim.queue, victim.view.gpus);
    freed += victim.view.gpus;
    if (freed < demand_of(one.view) || !may_take(one, lost)) continue;
    if (start_taking(id, victims, actions, cluster.now())) return true;
  }
  return false;
}

bool Kai::preempt_for(JobId id, const ClusterView& cluster, SchedulingActions& actions) {
  const QueuedJob& one = job(id);
  const std::vector<JobId> candidates = running([&](const QueuedJob& each) {
    return each.queue == one.queue && each.view.priority < one.view.priority &&
           has_run(each, preempt_after_, cluster.now());
  });
  std::vector<JobId> victims;
  GpusOfNodes lost;
  int freed = cluster.free_gpus_of_vc(one.view.vc);
  for (const JobId victim : candidates) {
    victims.push_back(victim);
    freed += job(victim).view.gpus;
    add(lost, one.queue, job(victim).view.gpus);
    if (freed < demand_of(one.view) || !may_have(one, lost)) continue;
    if (start_taking(id, victims, actions, cluster.now())) return true;
  }
  return false;
}

/// Starts what fits in the order of the queues; returns the first job of each demand that doesn't.
std::vector<JobId> Kai::allocate(const ClusterView& cluster, SchedulingActions& actions) {
  std::vector<Skipped> skipped(tree().size());
  std::vector<JobId> left_over;
  for (JobId next = best_job(skipped); next.valid(); next = best_job(skipped)) {
    QueuedJob& one = job(next);
    if (may_have(one) && actions.start(next)) {
      admit(next, cluster.now());
      started(next, cluster.now());
      continue;
    }
    skipped[one.queue].insert({shape_of(one.view), stays(one)});
    left_over.push_back(next);
  }
  return left_over;
}

bool Kai::make_room(const std::vector<JobId>& left_over, const ClusterView& cluster, SchedulingActions& actions) {
  for (const auto action : {&Kai::consolidate, &Kai::reclaim})
    for (const JobId id : left_over)
      if (may_have(job(id)) && (this->*action)(id, cluster, actions)) return true;
  for (const JobId id : left_over)
    if (preempt_for(id, cluster, actions)) return true;
  return false;
}

void Kai::decide(const ClusterView& cluster, SchedulingActions& actions) {
  advance(cluster.now());
  do {
    capacity_ = cluster.gpus_in_service(-1, -1);
    divide(cluster);
    while (make_room(allocate(cluster, actions), cluster, actions)) {
    }
  } while (requeue(cluster.now()));
}

Time Kai::next_of_policy(const ClusterView& cluster) {
  Time next = Time::never();
  for (std::size_t q = 0; q < tree().size(); ++q)
    for (const auto& [order, id] : admitted(q))
      for (const Time after : {reclaim_after_, preempt_after_})
        if (after > Time{} && job(id).since + after > cluster.now()) next = std::min(next, job(id).since + after);
  return next;
}

AccountUse accounts_of_kai(const Parameters&) {
  return {.weight = true, .parent = true, .priority = true, .guarantees = true, .rules = kKaiRules};
}

constexpr ParameterInfo kKaiParameters[] = {
    {"k_value", 0.0, 0, 1000, "how strongly past use lowers the share above the quota; 0: it doesn't (kValue)"},
    {"half_life_s", 0.0, 0, 1e9, "seconds after which past use counts half; 0: it counts fully"},
    {"consolidated", std::int64_t{16}, 0, 1e6, "running jobs that may be moved to make a place for one; 0: none"},
    {"reclaim_min_runtime_s", 0.0, 0, 1e9, "seconds that a job runs before other queues take its GPUs"},
    {"preempt_min_runtime_s", 0.0, 0, 1e9, "seconds that a job runs before jobs of its queue take its GPUs"}};

}  // namespace

PolicyRow<SchedulingPolicy> kai_scheduling() {
  return {.name = "kai",
          .summary = "queues by fair shares above quotas, with reclaim, consolidation and preemption",
          .source = "KAI Scheduler 0.17",
          .parameters = kKaiParameters,
          .make = make_own<SchedulingPolicy, Kai>,
          .compares_vcs = true,
          .accounts = accounts_of_kai};
}

}  // namespace contend
