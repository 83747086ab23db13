// KAI v0.17 divides the GPUs among queues at each level of their tree (queue_shares.hpp), starts jobs of the queues
// that have least of their fair shares, moves jobs together if that makes room (consolidation), takes GPUs back from
// queues above their fair shares (reclaim) and preempts jobs of lower priority in a queue. It reserves nothing: large
// jobs may starve. Sources: actions allocate, consolidation, reclaim, preempt; plugins proportion and minruntime.

#include "policies/registry.hpp"
#include "policies/scheduling/queue_policy.hpp"
#include "policies/scheduling/queue_shares.hpp"
#include "sim/portable_math.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

namespace contend {

namespace {

constexpr std::string_view kKaiRules[] = {"borrowing_limit"};
constexpr std::int64_t kNonPreemptible = 100;  // PriorityClasses from this value on (docs of KAI, "priority")

class Kai final : public QueuePolicy {
 public:
  Kai(const Parameters& parameters, const PolicyContext& context)
      : QueuePolicy{context.accounts ? context.accounts() : AccountTree{}, Time{}},
        k_value_{parameters.get<double>("k_value")},
        half_life_{parameters.get<double>("half_life_s")},
        moved_{parameters.get<std::int64_t>("consolidated")},
        reclaim_after_{Time::ceil_nanoseconds(parameters.get<double>("reclaim_min_runtime_s") * 1e9)},
        preempt_after_{Time::ceil_nanoseconds(parameters.get<double>("preempt_min_runtime_s") * 1e9)},
        nodes_(tree().size()) {}
  [[nodiscard]] bool idle_passes() const override { return k_value_ > 0; }

 private:
  struct Node {
    std::int64_t held = 0;  // GPUs of running jobs in and below it
    double request = 0, share = 0;
    double used = 0;  // GPU seconds, decayed
  };
  using Skipped = std::set<std::int32_t>;

  void decide(const ClusterView& cluster, SchedulingActions& actions) override;
  void uses(const QueuedJob& job, std::int64_t gpus, Time now) override;
  [[nodiscard]] Time next_of_policy(const ClusterView& cluster) override;
  [[nodiscard]] std::pair<Why, JobId> why(const QueuedJob& job, const ClusterView& cluster) override;

  void advance(Time now);
  void divide(const ClusterView& cluster);
  void divide_below(const std::vector<std::size_t>& siblings, double total);
  [[nodiscard]] double quota(std::size_t n) const;
  [[nodiscard]] double limit(std::size_t n) const;
  /// True if the queue and all above it stay within what `of` gives with so many GPUs more.
  template <class Of>
  [[nodiscard]] bool stays_within(std::size_t queue, std::int64_t gpus, const Of& of) const {
    for (std::size_t n = queue; n != QueueTree::kNone; n = tree().parent(n))
      if (static_cast<double>(nodes_[n].held + gpus) > of(n) + 1e-9) return false;
    return true;
  }
  [[nodiscard]] bool may_have(const QueuedJob& one) const;
  [[nodiscard]] JobId best_job(const std::vector<Skipped>& skipped) const;
  [[nodiscard]] bool goes_before(JobId a, JobId b) const;
  std::vector<JobId> allocate(const ClusterView& cluster, SchedulingActions& actions);
  bool make_room(const std::vector<JobId>& left_over, const ClusterView& cluster, SchedulingActions& actions);
  bool consolidate(JobId id, const ClusterView& cluster, SchedulingActions& actions);
  [[nodiscard]] bool may_take(const QueuedJob& one, const std::map<std::size_t, std::int64_t>& lost) const;
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
  std::vector<Node> nodes_;
  double capacity_ = 0, capacity_used_ = 0;  // GPUs in service; their GPU seconds, decayed
  Time at_{};
};

double Kai::quota(std::size_t n) const {
  if (n == tree().unmanaged() || accounts().accounts[n].has_servers) return static_cast<double>(kAnyGpus);
  return accounts().accounts[n].gpus.value_or(0);
}

double Kai::limit(std::size_t n) const {
  if (n == tree().unmanaged()) return static_cast<double>(kAnyGpus);
  const Account& account = accounts().accounts[n];
  if (account.rules.borrowing_limit) return quota(n) + *account.rules.borrowing_limit;
  return account.borrows || !account.gpus ? static_cast<double>(kAnyGpus) : quota(n);
}

void Kai::advance(Time now) {
  const double seconds = (now - at_).to_seconds();
  at_ = now;
  if (k_value_ == 0 || seconds <= 0) return;
  const double kept = half_life_ > 0 ? portable_exp(-0.6931471805599453 * seconds / half_life_) : 1;
  for (Node& node : nodes_) node.used = node.used * kept + static_cast<double>(node.held) * seconds;
  capacity_used_ = capacity_used_ * kept + capacity_ * seconds;
}

void Kai::uses(const QueuedJob& job, std::int64_t gpus, Time now) {
  advance(now);
  for (std::size_t n = job.queue; n != QueueTree::kNone; n = tree().parent(n)) nodes_[n].held += gpus;
}

void Kai::divide_below(const std::vector<std::size_t>& siblings, double total) {
  std::vector<QueueClaim> claims;
  for (const std::size_t n : siblings) {
    QueueClaim claim{.quota = quota(n), .limit = limit(n), .request = nodes_[n].request};
    if (n != tree().unmanaged()) {
      claim.weight = accounts().accounts[n].weight.value_or(1);
      claim.priority = accounts().accounts[n].priority;
    }
    claim.usage = capacity_used_ > 0 ? nodes_[n].used / capacity_used_ : 0;
    claims.push_back(claim);
  }
  const std::vector<double> shares = kai_fair_shares(total, claims, k_value_);
  for (std::size_t s = 0; s < siblings.size(); ++s) {
    nodes_[siblings[s]].share = shares[s];
    const auto below = tree().children(siblings[s]);
    if (!below.empty()) divide_below({below.begin(), below.end()}, shares[s]);
  }
}

void Kai::divide(const ClusterView& cluster) {
  for (Node& node : nodes_) node.request = static_cast<double>(node.held);
  std::vector<std::size_t> roots;
  for (std::size_t q = 0; q < tree().size(); ++q) {
    double asked = 0;
    for (const auto& [key, lane] : waiting(q))
      asked += static_cast<double>(lane.jobs.size()) * job(std::get<JobId>(*lane.jobs.begin())).view.gpus;
    for (std::size_t n = q; n != QueueTree::kNone; n = tree().parent(n)) nodes_[n].request += asked;
    const bool is_apart = q != tree().unmanaged() && accounts().accounts[q].has_servers;
    if (is_apart) nodes_[q].share = static_cast<double>(kAnyGpus);
    if (!tree().has_parent(q) && !is_apart) roots.push_back(q);
  }
  capacity_ = cluster.gpus_in_service(-1, -1);
  divide_below(roots, capacity_);
}

bool Kai::may_have(const QueuedJob& one) const {
  const bool is_fixed = one.view.priority >= kNonPreemptible;
  return stays_within(one.queue, one.view.gpus, [&](std::size_t n) { return limit(n); }) &&
         (!is_fixed || stays_within(one.queue, one.view.gpus, [&](std::size_t n) { return quota(n); }));
}

/// The order of queues (plugins/proportion/queue_order.go), from the level at which the two part.
bool Kai::goes_before(JobId a, JobId b) const {
  const std::size_t one = job(a).queue, other = job(b).queue;
  if (one == other) return place_of(job(a).view) < place_of(job(b).view);
  const std::vector<std::size_t> first = path_to(one), second = path_to(other);
  std::size_t level = 0;
  while (first[level] == second[level]) ++level;
  const auto rank = [&](std::size_t n, JobId id) {
    const Node& node = nodes_[n];
    const auto held = static_cast<double>(node.held), with = held + job(id).view.gpus;
    const std::int32_t priority = n == tree().unmanaged() ? 1 : accounts().accounts[n].priority;
    const double share = std::max(node.share, 1e-9);
    return std::tuple{held > node.share, with > quota(n), -priority,  node.share == 0,
                      with / share,      held / share,    node.share, n};
  };
  return rank(first[level], a) < rank(second[level], b);
}

JobId Kai::best_job(const std::vector<Skipped>& skipped) const {
  JobId best = JobId::none();
  for (std::size_t q = 0; q < tree().size(); ++q) {
    const JobId first = head(q, [&](std::int32_t shape) { return skipped[q].contains(shape); });
    if (first.valid() && (!best.valid() || goes_before(first, best))) best = first;
  }
  return best;
}

std::vector<JobId> Kai::running(const std::function<bool(const QueuedJob&)>& takes) const {
  std::vector<JobId> found;
  for (std::size_t q = 0; q < tree().size(); ++q)
    for (const auto& [order, id] : admitted(q))
      if (job(id).view.priority < kNonPreemptible && takes(job(id))) found.push_back(id);
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
bool Kai::may_take(const QueuedJob& one, const std::map<std::size_t, std::int64_t>& lost) const {
  const auto part = [&](std::size_t n, std::int64_t more) {
    const auto gone = lost.find(n);
    const std::int64_t held = nodes_[n].held - (gone == lost.end() ? 0 : gone->second);
    return static_cast<double>(held + more) / std::max(nodes_[n].share, 1e-9);
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
  if (static_cast<double>(nodes_[one.queue].held + one.view.gpus) > nodes_[one.queue].share + 1e-9) return false;
  std::vector<JobId> candidates = running(
      [&](const QueuedJob& each) { return each.queue != one.queue && has_run(each, reclaim_after_, cluster.now()); });
  std::vector<JobId> victims;
  std::map<std::size_t, std::int64_t> lost;  // by node
  int freed = cluster.free_gpus_of_vc(one.view.vc);
  while (!candidates.empty()) {
    // The queue that has most of its fair share gives first.
    auto best = candidates.end();
    double most = 0;
    for (auto at = candidates.begin(); at != candidates.end(); ++at) {
      std::size_t own = one.queue, other = job(*at).queue;
      while (tree().has_parent(own) && !tree().is_within(other, tree().parent(own))) own = tree().parent(own);
      while (tree().parent(other) != tree().parent(own)) other = tree().parent(other);
      const auto left = static_cast<double>(nodes_[other].held - lost[other]);
      const bool is_above = left > std::max(quota(other), nodes_[other].share);
      const bool is_owed = static_cast<double>(nodes_[own].held + one.view.gpus) <= quota(own) && left > quota(other);
      const double excess = left / std::max(nodes_[other].share, 1e-9);
      if ((is_above || is_owed) && (best == candidates.end() || excess > most)) {
        best = at;
        most = excess;
      }
    }
    if (best == candidates.end()) return false;
    victims.push_back(*best);
    candidates.erase(best);
    const QueuedJob& victim = job(victims.back());
    for (std::size_t n = victim.queue; n != QueueTree::kNone; n = tree().parent(n)) lost[n] += victim.view.gpus;
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
  int freed = cluster.free_gpus_of_vc(one.view.vc);
  for (const JobId victim : candidates) {
    victims.push_back(victim);
    freed += job(victim).view.gpus;
    if (freed >= demand_of(one.view) && start_taking(id, victims, actions, cluster.now())) return true;
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
    skipped[one.queue].insert(shape_of(one.view));
    if (may_have(one)) left_over.push_back(next);
  }
  return left_over;
}

bool Kai::make_room(const std::vector<JobId>& left_over, const ClusterView& cluster, SchedulingActions& actions) {
  for (const auto action : {&Kai::consolidate, &Kai::reclaim, &Kai::preempt_for})
    for (const JobId id : left_over)
      if (may_have(job(id)) && (this->*action)(id, cluster, actions)) return true;
  return false;
}

void Kai::decide(const ClusterView& cluster, SchedulingActions& actions) {
  advance(cluster.now());
  do {
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

std::pair<Why, JobId> Kai::why(const QueuedJob& waits, const ClusterView& cluster) {
  if (!may_have(waits)) return {Why::quota, JobId::none()};
  return {cluster.free_gpus_of_vc(waits.view.vc) < demand_of(waits.view) ? Why::no_gpus : Why::no_place, JobId::none()};
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
