#include "policies/scheduling/divided_queues.hpp"

#include <algorithm>
#include <iterator>

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

void DividedQueues::divide_below(std::span<const std::size_t> siblings, double total) {
  std::vector<std::size_t> asking;
  std::ranges::copy_if(siblings, std::back_inserter(asking), [&](std::size_t n) { return nodes_[n].request > 0; });
  const std::vector<double> shares = shares_of(asking, total);
  for (std::size_t s = 0; s < asking.size(); ++s) {
    nodes_[asking[s]].share = shares[s];
    divide_below(tree().children(asking[s]), shares[s]);
  }
}

double DividedQueues::count_request(std::size_t n) {
  auto asked = static_cast<double>(nodes_[n].held);
  for (const std::size_t below : tree().children(n))
    asked += count_request(below) - static_cast<double>(nodes_[below].held);
  for (const auto& [key, lane] : waiting(n))
    asked += static_cast<double>(lane.jobs.size()) * job(std::get<JobId>(*lane.jobs.begin())).view.gpus;
  return nodes_[n].request = std::max(asked, static_cast<double>(rules(n).guarantee.value_or(0)));
}

void DividedQueues::divide(const ClusterView& cluster) {
  for (Node& each : nodes_) each.share = 0;
  std::vector<std::size_t> roots;
  for (std::size_t q = 0; q < tree().size(); ++q) {
    if (!tree().has_parent(q)) count_request(q);
    const bool is_apart = q == tree().unmanaged() ? tree().size() == 1 : accounts().accounts[q].has_servers;
    if (is_apart) nodes_[q].share = static_cast<double>(kAnyGpus);
    if (!tree().has_parent(q) && !is_apart) roots.push_back(q);
  }
  divide_below(roots, cluster.gpus_in_service(-1, -1));
}

std::pair<Why, JobId> DividedQueues::why(const QueuedJob& waits, const ClusterView& cluster) {
  if (!may_have(waits)) return {Why::quota, JobId::none()};
  return {cluster.free_gpus_of_vc(waits.view.vc) < demand_of(waits.view) ? Why::no_gpus : Why::no_place, JobId::none()};
}

}  // namespace contend
