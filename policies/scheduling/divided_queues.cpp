#include "policies/scheduling/divided_queues.hpp"

namespace contend {

void DividedQueues::uses(const QueuedJob& job, std::int64_t gpus, Time) {
  for (std::size_t n = job.queue; n != QueueTree::kNone; n = tree().parent(n)) nodes_[n].held += gpus;
}

double DividedQueues::quota(std::size_t n) const {
  if (n == tree().unmanaged() || accounts().accounts[n].has_servers) return static_cast<double>(kAnyGpus);
  return accounts().accounts[n].gpus.value_or(0);
}

double DividedQueues::limit(std::size_t n) const {
  if (n == tree().unmanaged()) return static_cast<double>(kAnyGpus);
  const Account& account = accounts().accounts[n];
  if (account.rules.borrowing_limit) return quota(n) + *account.rules.borrowing_limit;
  return account.borrows || !account.gpus ? static_cast<double>(kAnyGpus) : quota(n);
}

std::pair<std::size_t, std::size_t> DividedQueues::where_they_part(std::size_t a, std::size_t b) const {
  const std::vector<std::size_t> first = path_to(a), second = path_to(b);
  std::size_t level = 0;
  while (first[level] == second[level]) ++level;
  return {first[level], second[level]};
}

void DividedQueues::divide_below(const std::vector<std::size_t>& siblings, double total) {
  const std::vector<double> shares = shares_of(siblings, total);
  for (std::size_t s = 0; s < siblings.size(); ++s) {
    nodes_[siblings[s]].share = shares[s];
    const auto below = tree().children(siblings[s]);
    if (!below.empty()) divide_below({below.begin(), below.end()}, shares[s]);
  }
}

void DividedQueues::divide(const ClusterView& cluster) {
  for (Node& each : nodes_) {
    each.request = static_cast<double>(each.held);
    each.share = 0;
  }
  std::vector<std::size_t> roots;
  for (std::size_t q = 0; q < tree().size(); ++q) {
    double asked = 0;
    for (const auto& [key, lane] : waiting(q))
      asked += static_cast<double>(lane.jobs.size()) * job(std::get<JobId>(*lane.jobs.begin())).view.gpus;
    for (std::size_t n = q; n != QueueTree::kNone; n = tree().parent(n)) nodes_[n].request += asked;
    const bool is_apart = q == tree().unmanaged() ? tree().size() == 1 : accounts().accounts[q].has_servers;
    if (is_apart) nodes_[q].share = static_cast<double>(kAnyGpus);
    if (!tree().has_parent(q) && !is_apart) roots.push_back(q);
  }
  // The guarantees of queues without jobs don't count.
  std::erase_if(roots, [&](std::size_t n) { return nodes_[n].request == 0; });
  divide_below(roots, cluster.gpus_in_service(-1, -1));
}

std::pair<Why, JobId> DividedQueues::why(const QueuedJob& waits, const ClusterView& cluster) {
  if (!may_have(waits)) return {Why::quota, JobId::none()};
  return {cluster.free_gpus_of_vc(waits.view.vc) < demand_of(waits.view) ? Why::no_gpus : Why::no_place, JobId::none()};
}

}  // namespace contend
