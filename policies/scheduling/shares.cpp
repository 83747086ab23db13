#include "policies/scheduling/shares.hpp"

#include <algorithm>
#include <climits>
#include <utility>

namespace contend {

namespace {

Holdings held_by(const JobView& view) {
  return {width_of(view), std::int64_t{view.milli_cpus} * view.gpus, view.host_memory.count() * view.gpus};
}

}  // namespace

SharePolicy::Options::Options(const Parameters& parameters, const PolicyContext& context)
    : by_user{parameters.get<bool>("by_user")},
      strict{parameters.get<bool>("strict")},
      reclaim{parameters.get<bool>("reclaim")} {
  if (!context.accounts) return;
  for (const contend::Account& account : context.accounts().accounts) weights.push_back(account.weight);
}

void SharePolicy::queued(const JobView& view) {
  if (!in_pass_) return arrived_.push_back(view);
  hold(job(view.id).view, -1);  // the job was preempted
  insert(view);
}

void SharePolicy::left(JobId id) {
  left_.push_back(id);
}

void SharePolicy::settle_left(const ClusterView& cluster) {
  for (const JobId id : std::exchange(left_, {})) {
    const Job& gone = job(id);
    const GpuTime held = cluster.job(id).attained_service - gone.view.attained_service;
    now_ = gone.since + held.on_each_of(gone.view.gpus);
    hold(gone.view, -1);
  }
}

void SharePolicy::resized(JobId id, const ClusterView& cluster) {
  settle_left(cluster);
  now_ = cluster.now();
  Job& running = job(id);
  hold(running.view, -1);
  running.view = cluster.job(id);
  running.since = now_;
  hold(running.view, 1);
}

void SharePolicy::insert(const JobView& view) {
  if (view.id.index() >= jobs_.size()) jobs_.resize(view.id.index() + 1);
  job(view.id) = {view};
  Account& account = accounts_[account_of(view)];
  account.vc = view.vc;
  account.lanes.insert({view.submit.ns(), view.tie, view.id}, view, shapes_.of(view));
}

void SharePolicy::hold(const JobView& view, int sign) {
  const std::int32_t id = account_of(view);
  Account& account = accounts_.at(id);
  changes(id, account.held, now_);
  const Holdings its = held_by(view);
  account.held.milli_gpus += sign * its.milli_gpus;
  account.held.milli_cpus += sign * its.milli_cpus;
  account.held.host_bytes += sign * its.host_bytes;
  if (sign > 0) {
    running_[view.vc].emplace(job(view.id).started, view.id);
  } else {
    running_[view.vc].erase(job(view.id).started);
  }
}

double SharePolicy::weight(const ClusterView& cluster, const Account& account) const {
  const bool has_own =
      !options_.by_user && account.vc >= 0 && static_cast<std::size_t>(account.vc) < options_.weights.size();
  if (has_own)
    if (const std::optional<double>& own = options_.weights[static_cast<std::size_t>(account.vc)]) return *own;
  const int quota = options_.by_user ? INT_MAX : cluster.vc_quota(account.vc);
  return quota == INT_MAX || quota <= 0 ? 1.0 : static_cast<double>(quota);
}

bool SharePolicy::within_quota(const ClusterView& cluster, const JobView& view) {
  return view.gpus <= cluster.vc_quota(view.vc) - cluster.vc_used(view.vc);
}

std::uint64_t SharePolicy::service_changes(const ClusterView& cluster) const {
  std::uint64_t changes = cluster.service_changes(-1);
  for (std::int32_t vc = 0; vc < std::ssize(options_.weights); ++vc) changes += cluster.service_changes(vc);
  return changes;
}

int SharePolicy::reach(const ClusterView& cluster, std::int32_t vc, bool borrowing) const {
  if (options_.strict) return INT_MAX;
  const int free = cluster.free_gpus_of_vc(vc);
  const int quota = cluster.vc_quota(vc);
  if (borrowing || quota == INT_MAX) return std::min(free, cluster.quota_left(vc));
  int borrowed = 0;  // GPUs of the other virtual clusters that borrow
  for (const auto& [other, jobs] : running_) {
    if (other == vc || cluster.vc_quota(other) == INT_MAX || !options_.reclaim) continue;
    if (cluster.vc_used(other) <= cluster.vc_quota(other)) continue;
    borrowed += cluster.vc_used(other);  // gangs go as a whole
  }
  return std::min(free + borrowed, quota - cluster.vc_used(vc));
}

const Lanes::Place* SharePolicy::next_of(const ClusterView& cluster, Account& account, bool borrowing) const {
  std::optional<std::int32_t> vc;  // `limit` is of jobs of this one
  int limit = 0;
  return account.lanes.front([&](const Lanes::Lane& lane) {
    if (vc != lane.example.vc) limit = reach(cluster, lane.example.vc, borrowing);
    vc = lane.example.vc;
    return demand_of(lane.example) <= limit && within_quota(cluster, lane.example) != borrowing &&
           !refused_.contains(lane.shape);
  });
}

void SharePolicy::add_turn(const ClusterView& cluster, std::int32_t id, bool borrowing) {
  Account& account = accounts_.at(id);
  const Lanes::Place* next = next_of(cluster, account, borrowing);
  if (next != nullptr) turns_.insert({share(id, account.held, weight(cluster, account)), id, *next});
}

void SharePolicy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  settle_left(cluster);
  now_ = cluster.now();
  in_pass_ = true;
  for (const JobView& view : std::exchange(arrived_, {})) insert(view);
  look(cluster);
  refused_jobs_.clear();
  holds_back_all_ = JobId::none();
  holds_back_.clear();
  for (const bool borrowing : {false, true}) {
    while (round(cluster, actions, borrowing)) {
    }
  }
  if (actions.recording()) explain(cluster, actions);
  in_pass_ = false;
}

/// Starts jobs within the quotas of their virtual clusters or, if `borrowing`, jobs that borrow. A refused job is not
/// tried again in the same round, because the free GPUs only become fewer. Returns true if the round has to begin again
/// because jobs gave way: what they held may serve jobs that were refused, and they queue again.
bool SharePolicy::round(const ClusterView& cluster, SchedulingActions& actions, bool borrowing) {
  turns_.clear();
  refused_.clear();
  for (auto& [id, account] : accounts_) {
    account.lanes.begin_round(
        [&](const Lanes::Lane& lane) { return within_quota(cluster, lane.example) != borrowing; });
    add_turn(cluster, id, borrowing);
  }
  while (!turns_.empty()) {
    const Turn turn = *turns_.begin();
    turns_.erase(turns_.begin());
    Account& account = accounts_.at(turn.account);
    const Lanes::Place* next = next_of(cluster, account, borrowing);
    if (next == nullptr) continue;
    if (*next != turn.next) {  // other accounts have taken GPUs that the job needs
      turns_.insert({turn.share, turn.account, *next});
      continue;
    }
    const Attempt attempt = try_to_start(cluster, actions, turn.next.job, borrowing);
    if (attempt == Attempt::refused) {
      const JobView& view = job(turn.next.job).view;
      account.lanes.advance(Lanes::Outcome::refused);
      if (!options_.strict && actions.refused_alike()) refused_.insert(shapes_.of(view));
      if (options_.strict) {
        refused_jobs_.insert(view.id);
        holds_back_[turn.account] = turn.next.job;
        if (cluster.quota_left(view.vc) < view.gpus) continue;  // it waits for its own virtual cluster alone
        holds_back_all_ = turn.next.job;
        return false;
      }
    } else {
      account.lanes.advance(Lanes::Outcome::started);
      hold(job(turn.next.job).view, 1);
      if (attempt == Attempt::started_preempting) return true;
    }
    add_turn(cluster, turn.account, borrowing);
  }
  return false;
}

SharePolicy::Attempt SharePolicy::try_to_start(const ClusterView& cluster, SchedulingActions& actions, JobId id,
                                               bool borrowing) {
  const JobView view = job(id).view;
  Attempt attempt = actions.start(id) ? Attempt::started : Attempt::refused;
  if (attempt == Attempt::refused && !borrowing && options_.reclaim && start_taking_back(cluster, actions, view)) {
    attempt = Attempt::started_preempting;
  }
  if (attempt != Attempt::refused) job(id) = {view, ++starts_, now_};
  return attempt;
}

/// Reports why each job waits at the end of the pass.
void SharePolicy::explain(const ClusterView& cluster, SchedulingActions& actions) {
  for (const auto& [id, account] : accounts_) {
    const auto own = holds_back_.find(id);
    const JobId in_front = own != holds_back_.end() ? own->second : holds_back_all_;
    for (const auto& [shape, lane] : account.lanes.by_shape()) {
      const bool lacks_quota = cluster.quota_left(lane.example.vc) < lane.example.gpus;
      const bool lacks_gpus = cluster.free_gpus_of_vc(lane.example.vc) < demand_of(lane.example);
      for (const Lanes::Place& place : lane.jobs) {
        if (!lacks_quota && !refused_jobs_.contains(place.job) && in_front.valid() && in_front != place.job) {
          actions.blocked(place.job, Why::behind, in_front);
        } else {
          actions.blocked(place.job, lacks_quota ? Why::quota : lacks_gpus ? Why::no_gpus : Why::no_place);
        }
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
    if (vc == view.vc || cluster.vc_quota(vc) == INT_MAX || cluster.owns_servers(vc) || started.empty()) continue;
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
      std::vector<JobId>& its_jobs = jobs.at(most->first);
      victims.push_back(its_jobs.back());
      its_jobs.pop_back();
      const int gpus = job(victims.back()).view.gpus;
      most->second -= gpus;
      free += gpus;
      if (its_jobs.empty()) above.erase(most);  // interrupted jobs hold the rest: they keep their GPUs
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
