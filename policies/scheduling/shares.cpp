#include "policies/scheduling/shares.hpp"

#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/in_order.hpp"

#include <algorithm>
#include <climits>
#include <utility>

namespace contend {

namespace {

Holdings held_by(const JobView& view) {
  return {width_of(view), std::int64_t{view.milli_cpus} * view.gpus, view.host_memory.count() * view.gpus};
}

constexpr std::int64_t kNotCounted = 1'000'000'000'000'000;  // more CPUs or bytes than any server has: not limited

}  // namespace

void SharePolicy::queued(const JobView& view) {
  if (!in_pass_) return arrived_.push_back(view);
  hold(view, -1);  // the job was preempted
  insert(view);
}

void SharePolicy::left(JobId id) {
  left_.push_back(id);
}

void SharePolicy::insert(const JobView& view) {
  jobs_[view.id] = {view, 0};
  Account& account = accounts_[account_of(view)];
  account.vc = view.vc;
  account.queue.insert({view.submit.ns(), view.tie, view.id}, demand_of(view));
}

void SharePolicy::hold(const JobView& view, int sign) {
  const std::int32_t id = account_of(view);
  Account& account = accounts_.at(id);
  changes(id, account.held, now_);
  const Holdings job = held_by(view);
  account.held.milli_gpus += sign * job.milli_gpus;
  account.held.milli_cpus += sign * job.milli_cpus;
  account.held.host_bytes += sign * job.host_bytes;
  if (sign > 0) {
    running_[view.vc].emplace(jobs_.at(view.id).started, view.id);
  } else {
    running_[view.vc].erase(jobs_.at(view.id).started);
  }
}

double SharePolicy::weight(const ClusterView& cluster, const Account& account) const {
  const int quota = options_.by_user ? INT_MAX : cluster.vc_quota(account.vc);
  return quota == INT_MAX || quota <= 0 ? 1.0 : static_cast<double>(quota);
}

bool SharePolicy::within_quota(const ClusterView& cluster, const JobView& view) {
  return view.gpus <= cluster.vc_quota(view.vc) - cluster.vc_used(view.vc);
}

void SharePolicy::count(const ClusterView& cluster) {
  Holdings all{static_cast<std::int64_t>(cluster.gpus()) * kWholeGpu, 0, 0};
  for (std::size_t s = 0; s < cluster.servers(); ++s) {
    const std::int64_t cpus = cluster.free_milli_cpus(ServerId{s});
    const std::int64_t bytes = cluster.free_host_memory(ServerId{s}).count();
    if (cpus < kNotCounted) all.milli_cpus += cpus;
    if (bytes < kNotCounted) all.host_bytes += bytes;
  }
  begin(all);
}

int SharePolicy::reach(const ClusterView& cluster, const Account& account, bool borrowing) const {
  if (options_.strict) return INT_MAX;
  if (options_.by_user) return cluster.free_gpus();
  const int free = cluster.free_gpus_of_vc(account.vc);
  const int quota = cluster.vc_quota(account.vc);
  if (borrowing || quota == INT_MAX) return std::min(free, cluster.quota_left(account.vc));
  int borrowed = 0;  // GPUs of the other virtual clusters that borrow
  for (const auto& [vc, jobs] : running_) {
    if (vc == account.vc || cluster.vc_quota(vc) == INT_MAX || !options_.reclaim) continue;
    if (cluster.vc_used(vc) <= cluster.vc_quota(vc)) continue;
    borrowed += cluster.vc_used(vc);  // gangs go as a whole
  }
  return std::min(free + borrowed, quota - cluster.vc_used(account.vc));
}

void SharePolicy::add_turn(const ClusterView& cluster, std::int32_t id, const OrderedQueue::Place* after,
                           bool borrowing) {
  const Account& account = accounts_.at(id);
  if (account.queue.empty()) return;
  const int limit = reach(cluster, account, borrowing);
  const auto next = after == nullptr ? account.queue.first(limit) : account.queue.next(*after, limit);
  if (next) turns_.insert({share(id, account.held, weight(cluster, account)), id, *next});
}

void SharePolicy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  now_ = cluster.now();
  in_pass_ = true;
  if (!std::exchange(has_begun_, true)) count(cluster);
  for (const JobId id : std::exchange(left_, {})) {
    hold(jobs_.at(id).view, -1);
    jobs_.erase(id);
  }
  for (const JobView& view : std::exchange(arrived_, {})) insert(view);
  look(now_);
  refused_.clear();
  holds_back_all_ = JobId::none();
  holds_back_.clear();
  round(cluster, actions, false);
  round(cluster, actions, true);
  if (actions.recording()) explain(cluster, actions);
  in_pass_ = false;
}

/// The first round starts jobs within the quotas of their virtual clusters, the second jobs that borrow. A refused job
/// is not tried again in the same round, because the free GPUs only become fewer.
void SharePolicy::round(const ClusterView& cluster, SchedulingActions& actions, bool borrowing) {
  turns_.clear();
  for (const auto& [id, account] : accounts_) add_turn(cluster, id, nullptr, borrowing);
  while (!turns_.empty()) {
    const Turn turn = *turns_.begin();
    turns_.erase(turns_.begin());
    const JobView& view = jobs_.at(turn.next.job).view;
    const bool is_of_this_round = within_quota(cluster, view) != borrowing;
    const bool lacks_quota = cluster.quota_left(view.vc) < view.gpus;
    if (is_of_this_round && !try_to_start(cluster, actions, turn.next.job, borrowing) && options_.strict) {
      holds_back_[turn.account] = turn.next.job;
      if (lacks_quota) continue;  // it waits for its own virtual cluster and does not hold back others
      holds_back_all_ = turn.next.job;
      break;
    }
    add_turn(cluster, turn.account, &turn.next, borrowing);
  }
}

bool SharePolicy::try_to_start(const ClusterView& cluster, SchedulingActions& actions, JobId id, bool borrowing) {
  const JobView view = jobs_.at(id).view;
  const bool has_started =
      actions.start(id) || (!borrowing && options_.reclaim && start_taking_back(cluster, actions, view));
  if (!has_started) {
    refused_.insert(id);
    return false;
  }
  accounts_.at(account_of(view)).queue.erase(id);
  jobs_.at(id).started = ++starts_;
  hold(view, 1);
  return true;
}

/// Reports why each job waits at the end of the pass.
void SharePolicy::explain(const ClusterView& cluster, SchedulingActions& actions) {
  for (const auto& [id, account] : accounts_) {
    const auto own = holds_back_.find(id);
    const JobId in_front = own != holds_back_.end() ? own->second : holds_back_all_;
    for (auto at = account.queue.first(INT_MAX); at; at = account.queue.next(*at, INT_MAX)) {
      const JobView& view = jobs_.at(at->job).view;
      const bool lacks_quota = cluster.quota_left(view.vc) < view.gpus;
      const bool lacks_gpus = cluster.free_gpus_of_vc(view.vc) < demand_of(view);
      if (!lacks_quota && !refused_.contains(view.id) && in_front.valid() && in_front != view.id) {
        actions.blocked(view.id, Why::behind, in_front);
      } else {
        actions.blocked(view.id, lacks_quota ? Why::quota : lacks_gpus ? Why::no_gpus : Why::no_place);
      }
    }
  }
}

/// Starts the job in the place of jobs of virtual clusters that borrow.
bool SharePolicy::start_taking_back(const ClusterView& cluster, SchedulingActions& actions, const JobView& view) {
  if (cluster.vc_quota(view.vc) == INT_MAX || cluster.owns_servers(view.vc)) return false;
  std::map<std::int32_t, int> above;  // quota, by virtual cluster
  std::map<std::int32_t, std::vector<JobId>> jobs;
  for (const auto& [vc, started] : running_) {
    if (vc == view.vc || cluster.vc_quota(vc) == INT_MAX || cluster.owns_servers(vc)) continue;
    above[vc] = cluster.vc_used(vc) - cluster.vc_quota(vc);
    for (const auto& [order, id] : started) jobs[vc].push_back(id);
  }
  std::vector<JobId> victims;
  int free = cluster.free_gpus_of_vc(view.vc);
  const auto add_victims = [&](int needed) {
    while (free < needed) {
      const auto most =
          std::ranges::max_element(above, [](const auto& a, const auto& b) { return a.second < b.second; });
      if (most == above.end() || most->second <= 0) return;
      victims.push_back(jobs.at(most->first).back());
      jobs.at(most->first).pop_back();
      const int gpus = jobs_.at(victims.back()).view.gpus;
      most->second -= gpus;
      free += gpus;
    }
  };
  add_victims(view.gpus);
  if (free < view.gpus) return false;
  if (!victims.empty() && actions.start_preempting(view.id, victims)) return true;
  const std::size_t enough = victims.size();  // in number, but not in place
  add_victims(INT_MAX);
  return victims.size() > enough && actions.start_preempting(view.id, victims);
}

}  // namespace contend
