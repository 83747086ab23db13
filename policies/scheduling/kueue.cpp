// Kueue v0.19 (pkg/scheduler/scheduler.go) admits workloads by quota, in cycles. A cycle looks at the first workload of
// each queue and admits those that fit into what their queues and cohorts have, in an order, or preempts others for
// them. An admitted job whose GPUs have no place holds its quota and waits for a place: Kueue doesn't know.

#include "policies/registry.hpp"
#include "policies/scheduling/kueue_victims.hpp"
#include "policies/scheduling/queue_policy.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::string_view kKueueRules[] = {"borrowing_limit", "lending_limit", "strict",
                                            "preempt_within",  "reclaim",       "borrow_preempting"};

class Kueue final : public QueuePolicy {
  static constexpr int kMostAtOnce = 16;  // preemptions of a job at an instant that no rule of Kueue ends

 public:
  Kueue(const Parameters& parameters, const PolicyContext& context)
      : QueuePolicy{context.accounts ? context.accounts() : AccountTree{},
                    Time::ceil_nanoseconds(parameters.get<double>("requeue_s") * 1e9), kMostAtOnce},
        is_fair_{parameters.get<bool>("fair_sharing")},
        parked_(tree().size()),
        sticky_(tree().size(), JobId::none()),
        victims_{tree(),
                 accounts(),
                 {is_fair_, parameters.get<bool>("within_nominal_wins")},
                 [this](std::size_t queue, std::vector<KueueJob>& jobs) {
                   for (const auto& [order, id] : admitted(queue)) jobs.push_back(kueue_job(job(id)));
                 }} {
    for (std::size_t n = 0; n < accounts().accounts.size(); ++n) check(accounts().accounts[n], tree().height(n) == 0);
  }

 private:
  enum class Mode { no_fit, preempt, fit };
  struct Entry {
    KueueJob job;
    Mode mode = Mode::no_fit;
    int height = 0;  // of the subtree whose quota suffices
    std::vector<KueueJob> targets{};
  };

  static void check(const Account& account, bool is_queue);
  [[nodiscard]] static KueueJob kueue_job(const QueuedJob& one) {
    return {one.view.id, one.queue, one.view.gpus, one.view.priority, one.view.submit, one.admitted};
  }
  void decide(const ClusterView& cluster, SchedulingActions& actions) override;
  void uses(const QueuedJob& job, std::int64_t gpus, Time) override { tree().use(job.queue, gpus); }
  void frees(std::size_t queue) override;
  [[nodiscard]] std::pair<Why, JobId> why(const QueuedJob& job, const ClusterView& cluster) override;

  void place_admitted(SchedulingActions& actions, Time now);
  bool cycle(SchedulingActions& actions, Time now);
  [[nodiscard]] Entry nominate(const QueuedJob& head);
  [[nodiscard]] std::size_t next_entry(std::vector<Entry>& entries);
  [[nodiscard]] std::size_t next_by_shares(std::vector<Entry>& entries);
  [[nodiscard]] bool still_fits(const Entry& entry);
  void reserve(const Entry& entry);

  bool is_fair_;
  // By queue and demand: the first of the jobs for which nothing can be done. Jobs in front of it may preempt more.
  std::vector<std::map<std::int32_t, Place>> parked_;
  /// By queue: the job for which others were preempted, and which goes next, before older ones whose demands were
  /// parked (queue/cluster_queue.go, stickyWorkload).
  std::vector<JobId> sticky_;
  KueueVictims victims_;
  // Of the cycle:
  std::vector<std::pair<std::size_t, std::int64_t>> reserved_;  // what preemptors and blocked workloads take
  std::vector<KueueJob> preempted_;
  std::vector<std::pair<JobId, JobId>> evictions_;
};

void Kueue::check(const Account& account, bool is_queue) {
  if (account.parent >= 0 || account.has_servers) return;
  const std::string_view member = account.rules.borrowing_limit ? "borrowing_limit"
                                  : account.borrows && is_queue ? "borrow"
                                  : account.rules.lending_limit ? "lending_limit"
                                                                : "";
  if (member.empty()) return;
  throw InputError{Complaint{
      .key = "cluster.vcs",
      .reason = fmt::format("`{}` has {}, and no cohort with which it could share quotas", account.name, member),
      .hint = fmt::format("give it `parent`, the name of a virtual cluster above it, or leave out {}", member)}};
}

void Kueue::frees(std::size_t queue) {
  const std::size_t root = tree().root(queue);
  for (std::size_t q = 0; q < parked_.size(); ++q)
    if (!parked_[q].empty() && tree().root(q) == root) parked_[q].clear();
}

void Kueue::place_admitted(SchedulingActions& actions, Time now) {
  std::map<std::uint64_t, JobId> waiting_for_place;
  for (std::size_t q = 0; q < tree().size(); ++q)
    for (const auto& [order, id] : admitted(q))
      if (!job(id).runs) waiting_for_place.emplace(order, id);
  std::set<std::int32_t> refused;
  for (const auto& [order, id] : waiting_for_place) {
    const std::int32_t shape = shape_of(job(id).view);
    if (refused.contains(shape) || place(id, actions, now)) continue;
    if (actions.refused_alike()) refused.insert(shape);
  }
}

void Kueue::decide(const ClusterView& cluster, SchedulingActions& actions) {
  const Time now = cluster.now();
  while (cycle(actions, now) || requeue(now)) requeue(now);  // victims queue before the next cycle
  place_admitted(actions, now);
}

Kueue::Entry Kueue::nominate(const QueuedJob& head) {
  Entry entry{kueue_job(head)};
  const std::size_t queue = head.queue;
  const std::int64_t gpus = entry.job.gpus;
  if (gpus > tree().potential(queue)) return entry;
  const QueueTree::Fit fit = tree().lowest_fit(queue, gpus);
  entry.height = fit.height;
  if (gpus <= tree().available(queue)) {
    entry.mode = Mode::fit;
    return entry;
  }
  const QueueRules& own = rules(queue);
  const bool may_borrow = own.borrow_preempting || (is_fair_ && own.reclaim != PreemptionRule::never);
  if (gpus > tree().nominal(queue) && !fit.may_reclaim && !may_borrow) return entry;
  entry.mode = Mode::preempt;
  entry.targets = victims_.find(entry.job);
  if (entry.targets.empty()) return entry;
  for (const KueueJob& each : entry.targets) tree().use(each.queue, -each.gpus);
  entry.height = tree().lowest_fit(queue, gpus).height;
  for (const KueueJob& each : entry.targets) tree().use(each.queue, each.gpus);
  return entry;
}

/// The index of the entry that goes next: by levels borrowed, priority and age.
std::size_t Kueue::next_entry(std::vector<Entry>& entries) {
  if (is_fair_) return next_by_shares(entries);
  const auto rank = [&](const Entry& each) {
    return std::tuple{each.height, -each.job.priority, each.job.created, job(each.job.id).view.tie};
  };
  std::size_t best = 0;
  for (std::size_t e = 1; e < entries.size(); ++e)
    if (rank(entries[e]) < rank(entries[best])) best = e;
  return best;
}

/// A tournament from the queues to the root: at each cohort those that don't borrow go first, then the smaller share
/// with the workload.
std::size_t Kueue::next_by_shares(std::vector<Entry>& entries) {
  const std::size_t first = entries.front().job.queue;
  if (!tree().has_parent(first)) return 0;
  const std::size_t root = tree().root(first);
  struct Standing {
    bool borrows = false;
    double share = 0;
  };
  std::map<std::pair<std::size_t, std::size_t>, Standing> standings;  // by entry and node on its way to the root
  std::map<std::size_t, std::size_t> winners;                         // entries by node
  const auto at = [&](std::size_t entry, std::size_t node) { return standings.at({entry, node}); };
  std::size_t highest = 0;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const KueueJob& its = entries[e].job;
    if (tree().root(its.queue) != root) continue;
    tree().use(its.queue, its.gpus);
    for (std::size_t n = its.queue; n != root; n = tree().parent(n))
      standings[{e, n}] = {tree().borrows(n), tree().share(n)};
    tree().use(its.queue, -its.gpus);
    winners[its.queue] = e;
    highest = std::max(highest, static_cast<std::size_t>(tree().height(root)));
  }
  for (int height = 1; height <= static_cast<int>(highest); ++height) {
    for (std::size_t cohort = 0; cohort < tree().size(); ++cohort) {
      if (tree().height(cohort) != height || tree().root(cohort) != root) continue;
      for (const std::size_t child : tree().children(cohort)) {
        const auto found = winners.find(child);
        if (found == winners.end()) continue;
        const std::size_t e = found->second;
        const auto [known, is_new] = winners.try_emplace(cohort, e);
        if (is_new) continue;
        std::size_t other_child = entries[known->second].job.queue;
        while (tree().parent(other_child) != cohort) other_child = tree().parent(other_child);
        const auto rank = [&](std::size_t entry, std::size_t node) {
          const Standing standing = at(entry, node);
          const KueueJob& its = entries[entry].job;
          return std::tuple{standing.borrows, standing.share, -its.priority, its.created, job(its.id).view.tie};
        };
        if (rank(e, child) < rank(known->second, other_child)) known->second = e;
      }
    }
  }
  return winners.at(root);
}

/// True if the quota still suffices without what this cycle preempts.
bool Kueue::still_fits(const Entry& entry) {
  const auto change = [&](int sign) {
    for (const KueueJob& each : preempted_) tree().use(each.queue, sign * each.gpus);
    for (const KueueJob& each : entry.targets) tree().use(each.queue, sign * each.gpus);
  };
  change(-1);
  const bool fits = entry.job.gpus <= tree().available(entry.job.queue);
  change(1);
  return fits;
}

/// Keeps what a workload would need that can't preempt any other, unless it can always take it back later.
void Kueue::reserve(const Entry& entry) {
  const std::size_t queue = entry.job.queue;
  const QueueRules& own = rules(queue);
  if (own.reclaim == PreemptionRule::any) return;
  std::int64_t gpus = entry.job.gpus;
  const std::int64_t left = tree().nominal(queue) - tree().usage(queue);
  if (entry.height == 0)
    gpus = std::max<std::int64_t>(0, std::min(gpus, left));
  else if (tree().borrowing_limit(queue) < kAnyGpus)
    gpus = std::min(gpus, left + tree().borrowing_limit(queue));
  tree().use(queue, gpus);
  reserved_.emplace_back(queue, gpus);
}

/// True if another cycle may do more.
bool Kueue::cycle(SchedulingActions& actions, Time now) {
  std::vector<Entry> entries;
  for (std::size_t q = 0; q < tree().size(); ++q) {
    if (waiting(q).empty()) continue;
    const bool is_strict = rules(q).strict;
    const JobId first = sticky_[q].valid() ? sticky_[q] : head(q, [&](std::int32_t shape, const Place& place) {
      const auto parked = parked_[q].find(shape);
      return !is_strict && parked != parked_[q].end() && parked->second <= place;
    });
    if (first.valid()) entries.push_back(nominate(job(first)));
  }
  bool goes_on = false;
  while (!entries.empty()) {
    const std::size_t next = next_entry(entries);
    const Entry entry = std::move(entries[next]);
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(next));
    if (entry.mode == Mode::no_fit || (entry.mode == Mode::preempt && entry.targets.empty())) {
      if (entry.mode == Mode::preempt) reserve(entry);
      if (sticky_[entry.job.queue] == entry.job.id) sticky_[entry.job.queue] = JobId::none();
      if (rules(entry.job.queue).strict) continue;
      const JobView& view = job(entry.job.id).view;
      const auto [parked, is_first] = parked_[entry.job.queue].try_emplace(shape_of(view), place_of(view));
      if (!is_first) parked->second = std::min(parked->second, place_of(view));
      goes_on = true;
      continue;
    }
    const bool overlaps = std::ranges::any_of(entry.targets, [&](const KueueJob& target) {
      return std::ranges::find(preempted_, target.id, &KueueJob::id) != preempted_.end();
    });
    if (overlaps || !still_fits(entry)) continue;
    goes_on = true;
    if (sticky_[entry.job.queue] == entry.job.id) sticky_[entry.job.queue] = JobId::none();
    if (entry.mode == Mode::fit) {
      admit(entry.job.id, now);
      continue;
    }
    if (!rules(entry.job.queue).strict) sticky_[entry.job.queue] = entry.job.id;
    tree().use(entry.job.queue, entry.job.gpus);
    reserved_.emplace_back(entry.job.queue, entry.job.gpus);
    for (const KueueJob& target : entry.targets) {
      preempted_.push_back(target);
      evictions_.emplace_back(target.id, entry.job.id);
    }
  }
  for (const auto& [queue, gpus] : reserved_) tree().use(queue, -gpus);
  reserved_.clear();
  preempted_.clear();
  for (const auto& [victim, by] : std::exchange(evictions_, {})) evict(victim, by, actions, now);
  return goes_on;
}

std::pair<Why, JobId> Kueue::why(const QueuedJob& waits, const ClusterView& /*cluster*/) {
  const JobId first = head(waits.queue, [](std::int32_t, const Place&) { return false; });
  if (first != waits.view.id && rules(waits.queue).strict) return {Why::behind, first};
  return {Why::quota, JobId::none()};
}

AccountUse accounts_of_kueue(const Parameters& parameters) {
  return {.weight = parameters.get<bool>("fair_sharing"), .parent = true, .guarantees = true, .rules = kKueueRules};
}

constexpr ParameterInfo kKueueParameters[] = {
    {"fair_sharing", false, 0, 0,
     "queues and cohorts with the smallest share for their weight go first, and preempt others by shares; false: by "
     "levels borrowed, priority and age"},
    {"within_nominal_wins", true, 0, 0,
     "a queue within its quota preempts others whatever their shares (gate FairSharingPreemptWithinNominal)",
     "fair_sharing"},
    {"requeue_s", 0.0, 0, 86400, "seconds after a preemption before which the job isn't admitted again"}};

}  // namespace

PolicyRow<SchedulingPolicy> kueue_scheduling() {
  return {.name = "kueue",
          .summary = "admits jobs by quotas of queues and cohorts, which borrow and take back",
          .source = "Kueue 0.19",
          .parameters = kKueueParameters,
          .make = make_own<SchedulingPolicy, Kueue>,
          .compares_vcs = true,
          .accounts = accounts_of_kueue};
}

}  // namespace contend
