// Volcano v1.15 runs its actions in a session: enqueue lets jobs in whose requests fit, allocate starts gangs of the
// queues that have least of what they deserve (plugins proportion, capacity, drf with hierarchy), reclaim takes GPUs
// from queues above that. A gang gives GPUs back only above its minimum, so that a rigid gang gives nothing back; the
// newer action gangreclaim evicts whole gangs. Volcano's action backfill places only pods without requests: none here.

#include "policies/scheduling/divided_queues.hpp"
#include "policies/scheduling/queue_shares.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace contend {

namespace {

constexpr std::string_view kVolcanoRules[] = {"borrowing_limit", "guarantee", "reclaimable"};

class Volcano final : public DividedQueues {
 public:
  Volcano(const Parameters& parameters, const PolicyContext& context)
      : DividedQueues{context},
        by_capacity_{parameters.get<bool>("capacity")},
        by_hierarchy_{parameters.get<bool>("hierarchy")},
        enqueues_{parameters.get<bool>("enqueue")},
        overcommit_{parameters.get<double>("overcommit")},
        reclaims_{parameters.get<bool>("reclaim")},
        whole_gangs_{parameters.get<bool>("gang_reclaim")} {}

 private:
  void decide(const ClusterView& cluster, SchedulingActions& actions) override;
  [[nodiscard]] std::pair<Why, JobId> why(const QueuedJob& job, const ClusterView& cluster) override;

  [[nodiscard]] std::vector<double> shares_of(const std::vector<std::size_t>& siblings, double total) const override;
  [[nodiscard]] bool may_have(const QueuedJob& one) const override { return may_have(one, {}); }
  [[nodiscard]] bool may_have(const QueuedJob& one, const GpusOfNodes& lost) const;
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
  std::set<JobId> inqueue_;
};

std::vector<double> Volcano::shares_of(const std::vector<std::size_t>& siblings, double total) const {
  std::vector<QueueClaim> claims;
  for (const std::size_t n : siblings)
    claims.push_back({.weight = weight(n),
                      .quota = static_cast<double>(rules(n).guarantee.value_or(0)),
                      .limit = limit(n),
                      .request = node(n).request});
  std::vector<double> deserved = volcano_deserved(total, claims);
  if (!by_capacity_) return deserved;
  for (std::size_t s = 0; s < siblings.size(); ++s)
    if (siblings[s] != tree().unmanaged() && accounts().accounts[siblings[s]].gpus) deserved[s] = quota(siblings[s]);
  return deserved;
}

/// By priority, then by share; with the hierarchy, from the level at which the two part: those with all that they ask
/// for go last, then by what they hold for their weight.
bool Volcano::queue_goes_before(std::size_t a, std::size_t b) const {
  if (priority(a) != priority(b)) return priority(a) > priority(b);
  const auto rank = [&](std::size_t n) {
    const auto held = static_cast<double>(node(n).held);
    if (by_hierarchy_) return std::tuple{held >= node(n).request, held / weight(n), n};
    return std::tuple{false, node(n).share > 0 ? held / node(n).share : 1.0, n};
  };
  if (!by_hierarchy_ || a == b) return rank(a) < rank(b);
  const auto [one, other] = where_they_part(a, b);
  return rank(one) < rank(other);
}

/// With the plugin capacity a queue may exceed its deserved GPUs up to its capability. `lost`: GPUs that nodes give
/// back.
bool Volcano::may_have(const QueuedJob& one, const GpusOfNodes& lost) const {
  return stays_within(
      one, [&](std::size_t n) { return by_capacity_ ? limit(n) : node(n).share; }, lost);
}

/// Action enqueue: jobs get in while all that is in fits into the cluster, overcommitted, and into their queues.
void Volcano::let_in(const ClusterView& cluster) {
  if (!enqueues_) return;
  double all = 0;
  std::vector<std::int64_t> in(tree().size());  // GPUs of jobs that run or are in
  for (std::size_t q = 0; q < tree().size(); ++q) in[q] = node(q).held;
  for (std::size_t q = 0; q < tree().size(); ++q)
    for (const auto& [key, lane] : waiting(q))
      for (const Place& place : lane.jobs)
        if (inqueue_.contains(std::get<JobId>(place))) {
          in[q] += job(std::get<JobId>(place)).view.gpus;
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
      if (static_cast<double>(in[q] + gpus) > limit(q)) continue;
      inqueue_.insert(id);
      in[q] += gpus;
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
  if (static_cast<double>(node(one.queue).held) >= node(one.queue).share) return false;
  int missing = one.view.gpus - cluster.free_gpus_of_vc(one.view.vc);
  std::vector<std::pair<JobId, int>> shrunk;  // and their GPUs then
  std::vector<JobId> victims;
  GpusOfNodes lost;
  const auto take = [&](std::size_t queue, int gpus) {
    missing -= gpus;
    add(lost, queue, gpus);
  };
  for (std::size_t q = 0; q < tree().size() && missing > 0; ++q) {
    if (q == one.queue || q == tree().unmanaged() || !rules(q).reclaimable) continue;
    auto above = static_cast<double>(node(q).held) - node(q).share;
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
  return DividedQueues::why(waits, cluster);
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
