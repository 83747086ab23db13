// Volcano v1.15 runs its actions in a session: enqueue lets jobs in whose requests fit, allocate starts gangs of the
// queues that have least of what they deserve (plugins proportion, capacity, drf with hierarchy), reclaim takes GPUs
// from queues above that. A gang gives GPUs back only above its minimum, so that a rigid gang gives nothing back; the
// newer action gangreclaim evicts whole gangs. Volcano's action backfill places only pods without requests: none here.

#include "policies/registry.hpp"
#include "policies/scheduling/queue_policy.hpp"
#include "policies/scheduling/queue_shares.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace contend {

namespace {

constexpr std::string_view kVolcanoRules[] = {"borrowing_limit", "guarantee", "reclaimable"};

class Volcano final : public QueuePolicy {
 public:
  Volcano(const Parameters& parameters, const PolicyContext& context)
      : QueuePolicy{context.accounts ? context.accounts() : AccountTree{}, Time{}},
        by_capacity_{parameters.get<bool>("capacity")},
        by_hierarchy_{parameters.get<bool>("hierarchy")},
        enqueues_{parameters.get<bool>("enqueue")},
        overcommit_{parameters.get<double>("overcommit")},
        reclaims_{parameters.get<bool>("reclaim")},
        whole_gangs_{parameters.get<bool>("gang_reclaim")},
        nodes_(tree().size()) {}

 private:
  struct Node {
    std::int64_t held = 0, admitted = 0;  // GPUs of running jobs, and of jobs that enqueue has let in
    double request = 0, deserved = 0;
  };

  void decide(const ClusterView& cluster, SchedulingActions& actions) override;
  void uses(const QueuedJob& job, std::int64_t gpus, Time) override {
    for (std::size_t n = job.queue; n != QueueTree::kNone; n = tree().parent(n)) nodes_[n].held += gpus;
  }
  [[nodiscard]] std::pair<Why, JobId> why(const QueuedJob& job, const ClusterView& cluster) override;

  void divide(const ClusterView& cluster);
  void divide_below(const std::vector<std::size_t>& siblings, double total);
  [[nodiscard]] double capability(std::size_t n) const;
  [[nodiscard]] std::int32_t priority_of(std::size_t n) const {
    return n == tree().unmanaged() ? 1 : accounts().accounts[n].priority;
  }
  [[nodiscard]] double weight_of(std::size_t n) const {
    return n == tree().unmanaged() ? 1 : accounts().accounts[n].weight.value_or(1);
  }
  [[nodiscard]] bool may_have(const QueuedJob& one, const std::map<std::size_t, std::int64_t>& lost = {}) const;
  [[nodiscard]] bool queue_goes_before(std::size_t a, std::size_t b) const;
  void let_in(const ClusterView& cluster);
  [[nodiscard]] JobId first_of(std::size_t queue, const std::set<std::int32_t>& skipped) const;
  std::vector<JobId> allocate(const ClusterView& cluster, SchedulingActions& actions);
  bool start_shrinking(JobId id, const std::vector<std::pair<JobId, int>>& shrunk, const ClusterView& cluster,
                       SchedulingActions& actions);
  bool reclaim(JobId id, const ClusterView& cluster, SchedulingActions& actions);

  bool by_capacity_, by_hierarchy_, enqueues_;
  double overcommit_;
  bool reclaims_, whole_gangs_;
  std::vector<Node> nodes_;
  std::set<JobId> inqueue_;
};

double Volcano::capability(std::size_t n) const {
  if (n == tree().unmanaged()) return static_cast<double>(kAnyGpus);
  const Account& account = accounts().accounts[n];
  if (account.rules.borrowing_limit) return account.gpus.value_or(0) + *account.rules.borrowing_limit;
  return account.borrows || !account.gpus ? static_cast<double>(kAnyGpus) : *account.gpus;
}

void Volcano::divide_below(const std::vector<std::size_t>& siblings, double total) {
  std::vector<QueueClaim> claims;
  for (const std::size_t n : siblings)
    claims.push_back({.weight = weight_of(n),
                      .quota = static_cast<double>(rules(n).guarantee.value_or(0)),
                      .limit = capability(n),
                      .request = nodes_[n].request});
  const std::vector<double> deserved = volcano_deserved(total, claims);
  for (std::size_t s = 0; s < siblings.size(); ++s) {
    const std::size_t n = siblings[s];
    const bool is_given = by_capacity_ && n != tree().unmanaged() && accounts().accounts[n].gpus;
    nodes_[n].deserved = is_given ? *accounts().accounts[n].gpus : deserved[s];
    const auto below = tree().children(n);
    if (!below.empty()) divide_below({below.begin(), below.end()}, nodes_[n].deserved);
  }
}

void Volcano::divide(const ClusterView& cluster) {
  for (Node& node : nodes_) node.request = static_cast<double>(node.held);
  std::vector<std::size_t> roots;
  for (std::size_t q = 0; q < tree().size(); ++q) {
    double asked = 0;
    for (const auto& [key, lane] : waiting(q))
      asked += static_cast<double>(lane.jobs.size()) * job(std::get<JobId>(*lane.jobs.begin())).view.gpus;
    for (std::size_t n = q; n != QueueTree::kNone; n = tree().parent(n)) nodes_[n].request += asked;
    const bool is_apart = q == tree().unmanaged() ? tree().size() == 1 : accounts().accounts[q].has_servers;
    if (is_apart) nodes_[q].deserved = static_cast<double>(kAnyGpus);
    if (!tree().has_parent(q) && !is_apart) roots.push_back(q);
  }
  // Queues without jobs don't count.
  std::erase_if(roots, [&](std::size_t n) { return nodes_[n].request == 0; });
  divide_below(roots, cluster.gpus_in_service(-1, -1));
}

/// By priority, then by share; with the hierarchy, from the level at which the two part: those with all that they ask
/// for go last, then by what they hold for their weight.
bool Volcano::queue_goes_before(std::size_t a, std::size_t b) const {
  if (priority_of(a) != priority_of(b)) return priority_of(a) > priority_of(b);
  std::size_t one = a, other = b;
  if (by_hierarchy_) {
    const std::vector<std::size_t> first = path_to(a), second = path_to(b);
    std::size_t level = 0;
    while (first[level] == second[level]) ++level;
    one = first[level];
    other = second[level];
  }
  const auto rank = [&](std::size_t n) {
    const Node& node = nodes_[n];
    const auto held = static_cast<double>(node.held);
    if (by_hierarchy_) return std::tuple{held >= node.request, held / weight_of(n), n};
    return std::tuple{false, node.deserved > 0 ? held / node.deserved : 1.0, n};
  };
  return rank(one) < rank(other);
}

/// With the plugin capacity a queue may exceed its deserved GPUs up to its capability. `lost`: GPUs that nodes give
/// back.
bool Volcano::may_have(const QueuedJob& one, const std::map<std::size_t, std::int64_t>& lost) const {
  for (std::size_t n = one.queue; n != QueueTree::kNone; n = tree().parent(n)) {
    const double most = by_capacity_ ? capability(n) : nodes_[n].deserved;
    const auto gone = lost.find(n);
    const std::int64_t held = nodes_[n].held - (gone == lost.end() ? 0 : gone->second);
    if (static_cast<double>(held + one.view.gpus) > most + 1e-9) return false;
  }
  return true;
}

/// Action enqueue: jobs get in while all that is in fits into the cluster, overcommitted, and into their queues.
void Volcano::let_in(const ClusterView& cluster) {
  if (!enqueues_) return;
  double all = 0;
  for (Node& node : nodes_) node.admitted = node.held;
  for (std::size_t q = 0; q < tree().size(); ++q)
    for (const auto& [key, lane] : waiting(q))
      for (const Place& place : lane.jobs)
        if (inqueue_.contains(std::get<JobId>(place))) {
          nodes_[q].admitted += job(std::get<JobId>(place)).view.gpus;
          all += job(std::get<JobId>(place)).view.gpus;
        }
  const auto gpus_of_cluster = static_cast<double>(cluster.gpus()), used = gpus_of_cluster - cluster.free_gpus();
  std::vector<std::size_t> queues;
  for (std::size_t q = 0; q < tree().size(); ++q)
    if (!waiting(q).empty()) queues.push_back(q);
  std::ranges::sort(queues, [&](std::size_t a, std::size_t b) { return queue_goes_before(a, b); });
  for (const std::size_t q : queues) {
    std::set<Place> places;
    for (const auto& [key, lane] : waiting(q)) places.insert(lane.jobs.begin(), lane.jobs.end());
    for (const Place& place : places) {
      const JobId id = std::get<JobId>(place);
      const int gpus = job(id).view.gpus;
      if (inqueue_.contains(id) || used + all + gpus > gpus_of_cluster * overcommit_) continue;
      if (static_cast<double>(nodes_[q].admitted + gpus) > capability(q)) continue;
      inqueue_.insert(id);
      nodes_[q].admitted += gpus;
      all += gpus;
    }
  }
}

JobId Volcano::first_of(std::size_t queue, const std::set<std::int32_t>& skipped) const {
  const Place* best = nullptr;
  for (const auto& [key, lane] : waiting(queue)) {
    if (skipped.contains(lane.shape)) continue;
    for (const Place& place : lane.jobs) {
      if (best != nullptr && !(place < *best)) break;
      if (enqueues_ && !inqueue_.contains(std::get<JobId>(place))) continue;
      best = &place;
      break;
    }
  }
  return best == nullptr ? JobId::none() : std::get<JobId>(*best);
}

/// Starts the job once others run on so many GPUs.
bool Volcano::start_shrinking(JobId id, const std::vector<std::pair<JobId, int>>& shrunk, const ClusterView& cluster,
                              SchedulingActions& actions) {
  for (const auto& [other, gpus] : shrunk)
    if (actions.resize(other, gpus)) resized(other, cluster);
  if (shrunk.empty() || !actions.start(id)) return false;
  admit(id, cluster.now());
  started(id, cluster.now());
  return true;
}

bool Volcano::reclaim(JobId id, const ClusterView& cluster, SchedulingActions& actions) {
  const QueuedJob& one = job(id);
  if (static_cast<double>(nodes_[one.queue].held) >= nodes_[one.queue].deserved) return false;
  int missing = one.view.gpus - cluster.free_gpus_of_vc(one.view.vc);
  std::vector<std::pair<JobId, int>> shrunk;  // and their GPUs then
  std::vector<JobId> victims;
  std::map<std::size_t, std::int64_t> lost;  // by node
  const auto take = [&](std::size_t queue, int gpus) {
    missing -= gpus;
    for (std::size_t n = queue; n != QueueTree::kNone; n = tree().parent(n)) lost[n] += gpus;
  };
  for (std::size_t q = 0; q < tree().size() && missing > 0; ++q) {
    if (q == one.queue || q == tree().unmanaged() || !rules(q).reclaimable) continue;
    auto above = static_cast<double>(nodes_[q].held) - nodes_[q].deserved;
    // The job that was started last gives first.
    for (auto at = admitted(q).rbegin(); at != admitted(q).rend() && missing > 0 && above > 0; ++at) {
      const QueuedJob& other = job(at->second);
      if (other.since == cluster.now()) continue;
      if (whole_gangs_) {
        victims.push_back(at->second);
        above -= other.view.gpus;
        take(q, other.view.gpus);
        continue;
      }
      const auto sizes = cluster.sizes_of(at->second);
      int gpus = other.view.gpus;
      for (auto size = sizes.rbegin(); size != sizes.rend() && missing > 0 && above > 0; ++size) {
        if (*size >= gpus) continue;
        above -= gpus - *size;
        take(q, gpus - *size);
        gpus = *size;
      }
      if (gpus < other.view.gpus) shrunk.emplace_back(at->second, gpus);
    }
  }
  if (missing > 0 || !may_have(one, lost)) return false;
  if (whole_gangs_) return !victims.empty() && start_taking(id, victims, actions, cluster.now());
  return start_shrinking(id, shrunk, cluster, actions);
}

std::vector<JobId> Volcano::allocate(const ClusterView& cluster, SchedulingActions& actions) {
  std::vector<std::set<std::int32_t>> skipped(tree().size());
  std::vector<JobId> left_over;
  while (true) {
    JobId next = JobId::none();
    for (std::size_t q = 0; q < tree().size(); ++q) {
      const JobId first = first_of(q, skipped[q]);
      if (first.valid() && (!next.valid() || queue_goes_before(q, job(next).queue))) next = first;
    }
    if (!next.valid()) return left_over;
    const QueuedJob& one = job(next);
    if (may_have(one) && actions.start(next)) {
      inqueue_.erase(next);
      admit(next, cluster.now());
      started(next, cluster.now());
      continue;
    }
    skipped[one.queue].insert(shape_of(one.view));
    left_over.push_back(next);
  }
}

void Volcano::decide(const ClusterView& cluster, SchedulingActions& actions) {
  do {
    divide(cluster);
    let_in(cluster);
    bool goes_on = true;
    while (std::exchange(goes_on, false)) {
      for (const JobId id : allocate(cluster, actions)) {
        if (!(reclaims_ || whole_gangs_) || !reclaim(id, cluster, actions)) continue;
        inqueue_.erase(id);
        goes_on = true;
        break;
      }
    }
  } while (requeue(cluster.now()));
}

std::pair<Why, JobId> Volcano::why(const QueuedJob& waits, const ClusterView& cluster) {
  if (enqueues_ && !inqueue_.contains(waits.view.id)) return {Why::throttled, JobId::none()};
  if (!may_have(waits)) return {Why::quota, JobId::none()};
  return {cluster.free_gpus_of_vc(waits.view.vc) < demand_of(waits.view) ? Why::no_gpus : Why::no_place, JobId::none()};
}

AccountUse accounts_of_volcano(const Parameters&) {
  return {.weight = true, .parent = true, .priority = true, .guarantees = true, .rules = kVolcanoRules};
}

constexpr ParameterInfo kVolcanoParameters[] = {
    {"capacity", false, 0, 0, "a queue deserves its quota (plugin capacity); false: a part by weight (proportion)"},
    {"hierarchy", false, 0, 0, "queues go by what their parents hold for their weights (drf with hierarchy)"},
    {"enqueue", false, 0, 0, "only jobs that the action enqueue has let in are started"},
    {"overcommit", 1.2, 1, 100, "GPUs that jobs which are let in may need, over the GPUs of the cluster", "enqueue"},
    {"reclaim", false, 0, 0, "jobs of several sizes give GPUs back to queues that deserve them (action reclaim)"},
    {"gang_reclaim", false, 0, 0, "whole gangs give their GPUs back (action gangreclaim)"}};

}  // namespace

PolicyRow<SchedulingPolicy> volcano_scheduling() {
  return {.name = "volcano",
          .summary = "queues by what they deserve, divided by weights, guarantees and capabilities",
          .source = "Volcano 1.15",
          .parameters = kVolcanoParameters,
          .make = make_own<SchedulingPolicy, Volcano>,
          .compares_vcs = true,
          .accounts = accounts_of_volcano};
}

}  // namespace contend
