// Slurm's scheduling, as released in 22.05 and 26.05. The main scheduler (src/slurmctld/job_scheduler.c) starts the
// first jobs of the queue, until one of them doesn't fit; that one blocks its partition and the servers of it. The
// backfill scheduler (src/plugins/sched/backfill/backfill.c, _attempt_backfill) goes through the queue in passes of its
// own. It starts what fits now and plans the other jobs, each on whole servers. Plans last for one pass. The order is
// the order of priority/multifactor (multifactor.hpp). Partitions, and accounts, are virtual clusters.

#include "policies/scheduling/slurm_backfill.hpp"

#include "policies/registry.hpp"
#include "policies/scheduling/backfill.hpp"
#include "policies/scheduling/multifactor.hpp"
#include "policies/scheduling/user_limits.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

Time seconds_of(const Parameters& parameters, std::string_view name) {
  return Time::ceil_nanoseconds(parameters.get<double>(name) * 1e9);
}

Time multiple_before(Time time, Time step) {
  return step * (time.ns() / step.ns());
}

Time multiple_from(Time time, Time step) {
  const Time before = multiple_before(time, step);
  return before == time ? time : later(before, step);
}

// bf_yield_interval and bf_yield_sleep of slurm.conf, with their defaults.
constexpr Time kYieldInterval = Time::seconds(2), kYieldSleep = Time::milliseconds(500);
// How long backfill_agent() sleeps before it looks again whether anything has changed.
constexpr Time kShortSleep = Time::seconds(1);

/// A running job, and the servers that the job leaves at the end of its limit.
struct LeavingJob {
  Time due;
  JobId id;
  std::vector<std::pair<ServerId, int>> gpus;  // of servers
};

class SlurmBackfill final : public BackfillPolicy {
 public:
  SlurmBackfill(const Parameters& parameters, const PolicyContext& context)
      : SlurmBackfill{parameters, context, context.accounts ? context.accounts() : AccountTree{}} {}
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override;
  /// The schedulers run whether jobs wait or not, which says when they run next.
  [[nodiscard]] bool idle_passes() const override { return true; }

 private:
  using Place = std::tuple<std::int64_t, std::int64_t, Time, std::int64_t, JobId>;  // in the queue
  /// A job that has left its GPUs.
  struct Leaving {
    Time at;
    JobView job;
    std::optional<JobView> next;  ///< it goes on so with others
  };

  SlurmBackfill(const Parameters& parameters, const PolicyContext& context, const AccountTree& tree)
      : BackfillPolicy{parameters, context.quantum},
        options_{parameters},
        tree_{tree},
        priority_{parameters, tree},
        users_{parameters} {}

  void joins(BackfillJob& job) override;
  void leaves(const BackfillJob& job, Time at, const JobView* next) override {
    left_.push_back({at, job.view, next != nullptr ? std::optional{*next} : std::nullopt});
  }
  [[nodiscard]] Time prolonged(const BackfillJob& /*job*/, Time now) const override { return next_pass(now); }

  /// Notes what has happened, and when the schedulers are to look at it.
  void look(const ClusterView& cluster);
  void enqueue(const JobView& view, const ClusterView& cluster);
  void notice_change(Time now);
  void want_backfill(Time now);
  /// No job waited: the passes that were due before now had nothing to do.
  void forget_idle_passes(Time now);
  /// When the main scheduler looked at jobs last. At multiples of sched_interval it does so even if nothing has
  /// changed.
  [[nodiscard]] Time last_main(Time now) const {
    return std::max(last_main_, multiple_before(now, options_.sched_interval));
  }
  void count_started(const BackfillJob& job, Time now);
  [[nodiscard]] bool is_over_limit(const JobView& view, const ClusterView& cluster) const {
    return view.gpus > cluster.quota_left(view.vc) || users_.exceeds(view);
  }
  void run_main(const ClusterView& cluster, SchedulingActions& actions, std::int64_t depth);
  void begin_backfill(const ClusterView& cluster);
  void go_on_with_backfill(const ClusterView& cluster, SchedulingActions& actions);
  /// True if the open pass ends here, at that time.
  [[nodiscard]] bool has_had_enough(Time time) const;
  /// False if the user or the partition has had as many jobs in the pass as it may.
  [[nodiscard]] bool may_consider(const JobView& view);
  enum class Tested { no, yes, started, list_is_full };
  /// Starts the job, plans it, or leaves it.
  Tested test(BackfillJob& job, const ClusterView& cluster, SchedulingActions& actions);
  struct Expected {
    Time start;
    std::vector<GpuId> gpus;
  };
  /// The earliest start on these servers beside running jobs, as if nothing were planned.
  [[nodiscard]] std::optional<Expected> will_run(const BackfillJob& job, const ServerSet& servers,
                                                 const ClusterView& cluster, SchedulingActions& actions);
  void list_ends(const ClusterView& cluster);
  [[nodiscard]] const ServerSet& partition_of(const JobView& view, const ClusterView& cluster);
  /// A running job that overran its limit may take as long again (_guess_job_end with OverTimeLimit=UNLIMITED).
  [[nodiscard]] Time guessed_end(const BackfillJob& running, Time now) const {
    return running.due > now ? running.due : later(now, running.due - running.start);
  }
  void explain(const ClusterView& cluster, SchedulingActions& actions) const;

  SlurmOptions options_;
  AccountTree tree_;
  MultifactorPriority priority_;
  UserLimits users_;
  std::set<Place> queue_;
  std::map<JobId, Place> places_;
  std::vector<JobId> joined_;   // since the last pass
  std::vector<Leaving> left_;   // since the last pass
  std::set<std::int32_t> vcs_;  // of jobs
  std::uint64_t service_ = 0;   // changes of servers, in the last pass
  std::size_t events_ = 0;      // changes that make a running backfill pass end
  bool has_begun_ = false;
  Time last_main_{}, last_backfill_{};
  Time main_due_ = Time::never(), full_due_ = Time::never(), backfill_due_ = Time::never();
  std::optional<SlurmPass> open_;
  std::map<JobId, SlurmPlan> plans_;  // of the last backfill pass
  JobId blocking_;                    // the first job that the last main pass couldn't start
  std::vector<LeavingJob> ends_;      // of running jobs, by time
  std::size_t ends_at_ = SIZE_MAX;    // changes(), when they were listed
  std::map<std::pair<std::uint32_t, std::uint32_t>, ServerSet> partitions_;
};

void SlurmBackfill::joins(BackfillJob& job) {
  joined_.push_back(job.view.id);
  vcs_.insert(job.view.vc);
}

void SlurmBackfill::enqueue(const JobView& view, const ClusterView& cluster) {
  const bool has_account = view.vc >= 0 && static_cast<std::size_t>(view.vc) < tree_.accounts.size();
  const std::int64_t tier = has_account ? tree_.accounts[static_cast<std::size_t>(view.vc)].priority : 1;
  const std::int64_t priority = priority_.counts() ? priority_.of(view, cluster, cluster.now()) : 1;
  const Place place{-tier, -priority, view.submit, view.tie, view.id};
  queue_.insert(place);
  places_[view.id] = place;
}

void SlurmBackfill::notice_change(Time now) {
  ++events_;
  full_due_ = std::min(full_due_, multiple_from(now, options_.sched_interval));
  want_backfill(now);
}

void SlurmBackfill::want_backfill(Time now) {
  const Time rested = later(last_backfill_, options_.interval);
  const bool is_rested = options_.interval > Time{} && now > rested;
  const Time due = is_rested ? rested + multiple_from(now - rested, kShortSleep) : std::max(now, rested);
  backfill_due_ = std::min(backfill_due_, due);
}

void SlurmBackfill::forget_idle_passes(Time now) {
  if (backfill_due_ < now) last_backfill_ = std::exchange(backfill_due_, Time::never());
  if (full_due_ < now) full_due_ = Time::never();
}

void SlurmBackfill::look(const ClusterView& cluster) {
  const Time now = cluster.now();
  const std::size_t before = changes();
  if (queue_.empty()) forget_idle_passes(now);
  begin_pass(cluster);
  if (!std::exchange(has_begun_, true) && priority_.counts()) priority_.begin(cluster);
  const bool has_left = !left_.empty();
  std::ranges::stable_sort(left_, {}, &Leaving::at);
  bool is_new_period = false;
  for (const Leaving& each : std::exchange(left_, {})) {
    is_new_period = priority_.advance(each.at) || is_new_period;
    priority_.ends(each.job, each.at);
    users_.count(each.job, -1);
    if (each.next) priority_.starts(*each.next, each.at);
    if (each.next) users_.count(*each.next, 1);
  }
  is_new_period = priority_.advance(now) || is_new_period;
  std::uint64_t service = 0;
  for (const std::int32_t vc : vcs_) service += cluster.service_changes(vc);
  const bool has_served = std::exchange(service_, service) != service;
  if (is_new_period) {
    std::vector<JobId> waiting;
    for (const auto& [id, place] : places_) waiting.push_back(id);
    queue_.clear();
    for (const JobId id : waiting) enqueue(job(id).view, cluster);
  }
  if (has_left || has_served) main_due_ = now;
  if (!joined_.empty() && !options_.defers)
    main_due_ = std::min(main_due_, std::max(now, later(last_main(now), options_.batch_delay)));
  if (has_left || has_served || !joined_.empty() || is_new_period || changes() != before) notice_change(now);
  for (const JobId id : std::exchange(joined_, {})) {
    priority_.queues(job(id).view);
    enqueue(job(id).view, cluster);
  }
}

void SlurmBackfill::count_started(const BackfillJob& job, Time now) {
  const auto place = places_.find(job.view.id);
  queue_.erase(place->second);
  places_.erase(place);
  plans_.erase(job.view.id);
  priority_.starts(job.view, now);
  users_.count(job.view, 1);
  ++events_;
}

void SlurmBackfill::run_main(const ClusterView& cluster, SchedulingActions& actions, std::int64_t depth) {
  last_main_ = cluster.now();
  main_due_ = Time::never();
  blocking_ = JobId::none();
  std::vector<ServerRange> blocked;
  std::int64_t tested = 0;
  for (auto at = queue_.begin(); at != queue_.end() && tested < depth;) {
    BackfillJob& first = job(std::get<JobId>(*at++));
    if (is_over_limit(first.view, cluster)) continue;  // blocks no other job
    JobView any;
    any.vc = first.view.vc;
    const ServerRange servers = cluster.servers_for(any);
    ++tested;
    if (std::ranges::find(blocked, servers) != blocked.end()) continue;
    if (has_gpus(cluster, first.view) && start(first, cluster, actions)) {
      count_started(first, cluster.now());
      want_backfill(cluster.now());
      continue;
    }
    blocked.push_back(servers);
    if (!blocking_.valid()) blocking_ = first.view.id;
  }
}

void SlurmBackfill::begin_backfill(const ClusterView& cluster) {
  const Time now = cluster.now();
  backfill_due_ = Time::never();
  plans_.clear();
  open_.emplace(SlurmPass{now,
                          now,
                          {multiple_before(now, options_.resolution),
                           multiple_before(later(now, options_.window), options_.resolution), cluster.servers()},
                          {}});
  for (const Place& place : queue_) open_->queue.push_back(std::get<JobId>(place));
}

void SlurmBackfill::go_on_with_backfill(const ClusterView& cluster, SchedulingActions& actions) {
  SlurmPass& open = *open_;
  const Time now = cluster.now();
  // The locks are given back after kYieldInterval of tests.
  const std::int64_t budget =
      options_.test > Time{} ? std::max<std::int64_t>(1, kYieldInterval.ns() / options_.test.ns()) : INT64_MAX;
  std::int64_t used = 0;
  bool is_over = open.resumes > open.began && open.changes != events_ && !options_.continues;
  for (; !is_over && open.next < open.queue.size() && used < budget; ++open.next) {
    if (has_had_enough(now + options_.test * used)) break;
    const JobId id = open.queue[open.next];
    if (!places_.contains(id)) continue;  // it has started meanwhile
    BackfillJob& next = job(id);
    if (is_over_limit(next.view, cluster) || !may_consider(next.view)) continue;
    const Tested tested = test(next, cluster, actions);
    if (tested == Tested::no) continue;
    ++open.tests;
    ++used;
    if (tested == Tested::list_is_full) break;
    open.starts += tested == Tested::started ? 1 : 0;
  }
  const Time worked = later(now, options_.test > Time{} ? options_.test * used : Time{});
  if (is_over || used < budget || open.next == open.queue.size()) {
    last_backfill_ = worked;
    if (backfill_due_ != Time::never())  // something has changed during the pass
      backfill_due_ = std::max(backfill_due_, later(worked, options_.interval));
    const bool has_started = open.starts > 0;
    open_.reset();
    if (has_started && options_.interval > Time{}) want_backfill(later(worked, Time::nanoseconds(1)));
    return;
  }
  open.resumes = later(worked, kYieldSleep);
  open.changes = events_;
}

bool SlurmBackfill::has_had_enough(Time time) const {
  const auto is_full = [](std::int64_t limit, std::int64_t count) { return limit > 0 && count >= limit; };
  const bool is_late = options_.max_time > Time{} && time >= later(open_->began, options_.max_time);
  return is_late || is_full(options_.max_job_test, open_->tests) || is_full(options_.max_job_start, open_->starts);
}

bool SlurmBackfill::may_consider(const JobView& view) {
  SlurmPass& open = *open_;
  std::int64_t& of_both = open.of_user_part[{view.vc, view.user}];
  std::int64_t& of_part = open.of_part[view.vc];
  std::int64_t& of_user = open.of_user[view.user];
  const auto is_full = [](std::int64_t limit, std::int64_t count) { return limit > 0 && count >= limit; };
  if (is_full(options_.max_job_user_part, of_both) || is_full(options_.max_job_part, of_part) ||
      is_full(options_.max_job_user, of_user))
    return false;
  ++of_both;
  ++of_part;
  ++of_user;
  return true;
}

const ServerSet& SlurmBackfill::partition_of(const JobView& view, const ClusterView& cluster) {
  const ServerRange range = cluster.servers_for(view);
  return partitions_.try_emplace({range.first, range.last}, cluster.servers(), range).first->second;
}

SlurmBackfill::Tested SlurmBackfill::test(BackfillJob& job, const ClusterView& cluster, SchedulingActions& actions) {
  const Time now = cluster.now(), resolution = options_.resolution;
  const JobView& view = job.view;
  const int per_server = cluster.gpus_per_server(view.server_type);
  const auto least_servers = static_cast<std::size_t>((view.gpus + per_server - 1) / per_server);
  NodeSpace& space = open_->space;
  Tested tested = Tested::no;
  std::optional<Time> begin = now;
  while (begin) {
    const Time from = *begin;
    NodeSpace::Usable usable = space.usable(partition_of(view, cluster), from, later(from, job.estimate));
    begin = usable.later;
    if (usable.servers.size() < least_servers) continue;
    tested = Tested::yes;
    std::optional<Expected> expected = will_run(job, usable.servers, cluster, actions);
    if (!expected) continue;
    expected->start = std::max(expected->start, from);
    if (expected->start <= now) {
      if (start_within(job, usable.servers, cluster, actions)) {
        count_started(job, now);
        return Tested::started;
      }
      begin.reset();
    } else if (begin && expected->start > *begin) {
      continue;
    }
    const Time first =
        std::max(multiple_before(expected->start, resolution), multiple_before(open_->began, resolution));
    const Time last = std::max(multiple_from(later(expected->start, job.estimate), resolution), first + resolution);
    SlurmPlan plan{expected->start, expected->gpus, expected->start <= later(now, options_.window)};
    ServerSet servers{cluster.servers()};
    for (const GpuId gpu : plan.gpus) servers.insert(cluster.server_of(gpu));
    if (plan.is_kept && plan.start > now && space.is_held(servers, first, last)) {
      begin = plan.start;
      continue;
    }
    const bool is_full =
        plan.is_kept && options_.records > 0 && space.records() >= static_cast<std::size_t>(options_.records);
    plan.is_kept = plan.is_kept && !is_full;
    if (plan.is_kept) space.hold(servers, first, last);
    plans_[view.id] = std::move(plan);
    return is_full ? Tested::list_is_full : Tested::yes;
  }
  return tested;
}

/// Counts what running jobs leave, so that the placement policy is asked only where enough may be free.
class RoomOnServers {
 public:
  RoomOnServers(const JobView& job, const RoomNeeded& needed, const ServerSet& servers, const ClusterView& cluster)
      : servers_{servers},
        free_(cluster.servers()),
        per_server_{cluster.gpus_per_server(-1)},
        needed_{needed},
        gpus_{PlacePlan::needs_certain_gpus(job) ? 0 : job.gpus} {
    const ServerRange range = cluster.servers_for(job);
    for (std::uint32_t s = range.first; s < range.last; ++s)
      if (servers.contains(ServerId{s})) add(ServerId{s}, cluster.free_gpus(ServerId{s}));
  }
  /// The job has left its GPUs. False if it had none on these servers.
  bool give_back(const LeavingJob& job) {
    bool has_any = false;
    for (const auto& [server, gpus] : job.gpus) {
      if (!servers_.contains(server)) continue;
      add(server, gpus);
      has_any = true;
    }
    return has_any;
  }
  [[nodiscard]] bool may_suffice() const {
    return gpus_ == 0 || (all_ >= gpus_ && whole_ >= needed_.whole_servers && most_ >= needed_.rest);
  }

 private:
  void add(ServerId server, int gpus) {
    int& free = free_[server.index()];
    whole_ += free < per_server_ && free + gpus >= per_server_ ? 1 : 0;
    free += gpus;
    all_ += gpus;
    most_ = std::max(most_, free);
  }
  const ServerSet& servers_;
  std::vector<int> free_;  // by server
  int per_server_;
  RoomNeeded needed_;
  int gpus_;  // 0: not known
  std::int64_t all_ = 0;
  int whole_ = 0, most_ = 0;  // servers that are free; GPUs of the server that has most
};

void SlurmBackfill::list_ends(const ClusterView& cluster) {
  if (std::exchange(ends_at_, changes()) == changes()) return;
  ends_.clear();
  for (const auto& [end, id] : running()) {
    LeavingJob& leaving = ends_.emplace_back(LeavingJob{job(id).due, id, {}});
    for (const GpuId gpu : cluster.gpus_of(id)) {
      const ServerId server = cluster.server_of(gpu);
      if (leaving.gpus.empty() || leaving.gpus.back().first != server) leaving.gpus.emplace_back(server, 0);
      ++leaving.gpus.back().second;
    }
  }
  std::ranges::sort(ends_, {}, [](const LeavingJob& each) { return std::pair{each.due, each.id}; });
}

std::optional<SlurmBackfill::Expected> SlurmBackfill::will_run(const BackfillJob& waiting, const ServerSet& servers,
                                                               const ClusterView& cluster, SchedulingActions& actions) {
  const Time now = cluster.now();
  list_ends(cluster);
  const JobId id = waiting.view.id;
  RoomOnServers room{waiting.view, actions.room_needed(id), servers, cluster};
  Expected found{now, {}};
  if (room.may_suffice() && actions.plan_in(id, plan().at(waiting.view, now, servers), found.gpus)) return found;
  for (std::size_t e = 0; e < ends_.size();) {
    std::optional<std::size_t> first;
    std::size_t last = e;
    for (; e < ends_.size(); ++e) {
      if (first && ends_[e].due > later(ends_[*first].due, options_.end_window)) break;
      if (!room.give_back(ends_[e])) continue;
      if (!first) first = e;
      last = e;
    }
    if (!first) break;
    if (!room.may_suffice()) continue;
    const BackfillJob& leaving = job(ends_[last].id);
    if (actions.plan_in(id, plan().at(waiting.view, leaving.end, servers), found.gpus)) {
      found.start = guessed_end(leaving, now);
      return found;
    }
    found.gpus.clear();
  }
  return std::nullopt;
}

void SlurmBackfill::pass(const ClusterView& cluster, SchedulingActions& actions) {
  const Time now = cluster.now();
  look(cluster);
  if (full_due_ <= now) {
    full_due_ = Time::never();
    run_main(cluster, actions, INT64_MAX);
  } else if (main_due_ <= now) {
    run_main(cluster, actions, options_.depth);
  }
  if (open_ && open_->resumes <= now) {
    go_on_with_backfill(cluster, actions);
  } else if (!open_ && backfill_due_ <= now) {
    begin_backfill(cluster);
    go_on_with_backfill(cluster, actions);
  }
  if (actions.recording()) explain(cluster, actions);
  end_pass(cluster);
}

void SlurmBackfill::explain(const ClusterView& cluster, SchedulingActions& actions) const {
  for (const auto& [id, place] : places_) {
    const BackfillJob& waiting = job(id);
    const auto plan = plans_.find(id);
    if (is_over_limit(waiting.view, cluster)) {
      actions.blocked(id, Why::quota);
    } else if (!has_gpus(cluster, waiting.view)) {
      actions.blocked(id, Why::no_gpus);
    } else if (plan != plans_.end()) {
      actions.blocked(id, id == blocking_ ? Why::no_place : Why::reserved, id == blocking_ ? JobId::none() : blocking_);
    } else {
      actions.blocked(id, blocking_.valid() && id != blocking_ ? Why::behind : Why::between_decisions,
                      blocking_.valid() && id != blocking_ ? blocking_ : JobId::none());
    }
    if (plan != plans_.end() && plan->second.is_kept) actions.reserved(id, plan->second.start, plan->second.gpus);
  }
}

Time SlurmBackfill::next_decision(const ClusterView& cluster) {
  if (queue_.empty()) return Time::never();
  Time next = std::min({main_due_, full_due_, open_ ? open_->resumes : backfill_due_});
  if (priority_.counts()) next = std::min(next, priority_.next_period(cluster.now()));
  return std::max(next, cluster.now() + Time::nanoseconds(1));
}

std::unique_ptr<SchedulingPolicy> make_slurm_backfill(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<SlurmBackfill>(parameters, context);
}

AccountUse accounts_of_slurm(const Parameters& parameters) {
  const bool has_fair_share = parameters.get<double>("weight_fairshare") > 0;
  return {.weight = has_fair_share,
          .parent = has_fair_share,
          .users = has_fair_share,
          .priority = true,
          .job_factor = parameters.get<double>("weight_partition") > 0};
}

constexpr ParameterInfo kSlurmParameters[] = {
    {"bf_interval_s", 30.0, 0, 86400, "seconds from the end of a backfill pass to the next one (bf_interval)"},
    {"bf_window_min", 1440.0, 1, 1e6, "minutes that a plan may lie ahead (bf_window)"},
    {"bf_resolution_s", 60.0, 1, 3600, "plans begin and end at multiples of so many seconds (bf_resolution)"},
    {"bf_max_job_test", std::int64_t{500}, 0, 1e6, "jobs that a backfill pass tests; 0: all (bf_max_job_test)"},
    {"bf_max_job_part", std::int64_t{0}, 0, 1e6,
     "jobs of a virtual cluster that a backfill pass considers; 0: all (bf_max_job_part)"},
    {"bf_max_job_user", std::int64_t{0}, 0, 1e6,
     "jobs of a user that a backfill pass considers; 0: all (bf_max_job_user)"},
    {"bf_max_job_user_part", std::int64_t{0}, 0, 1e6,
     "jobs of a user in a virtual cluster that a backfill pass considers; 0: all (bf_max_job_user_part)"},
    {"bf_max_job_start", std::int64_t{0}, 0, 1e6, "jobs that a backfill pass starts; 0: all (bf_max_job_start)"},
    {"bf_node_space_size", std::int64_t{0}, 0, 1e6,
     "records of the list of plans; 0: bf_max_job_test (bf_node_space_size)"},
    {"bf_max_time_s", 0.0, 0, 86400, "seconds after which a backfill pass ends; 0: bf_interval_s (bf_max_time)"},
    {"bf_test_s", 0.0, 0, 60,
     "seconds that the test of a job takes; a pass pauses for 0.5 s after 2 s of tests; 0: a pass takes no time"},
    {"bf_continue", false, 0, 0, "a pass goes on after a pause in which something has changed (bf_continue)"},
    {"sched_interval_s", 60.0, 1, 86400,
     "the main scheduler looks at all jobs at multiples of so many seconds (sched_interval)"},
    {"default_queue_depth", std::int64_t{100}, 1, 1e6,
     "jobs at which the main scheduler looks after submissions and ends (default_queue_depth)"},
    {"batch_sched_delay_s", 3.0, 0, 3600,
     "submissions wait until the last main pass was so many seconds ago (batch_sched_delay)"},
    {"defer", false, 0, 0, "submissions cause no main pass (defer)"},
    {"end_window_s", 30.0, 0, 86400,
     "running jobs that end within so many seconds are taken to end together (time_window in select/cons_tres)"},
    kBackfillParameters[0],
    kBackfillParameters[1]};

constexpr auto kAllParameters = [] {
  std::array<ParameterInfo, std::size(kSlurmParameters) + std::size(kMultifactorParameters) + std::size(kUserLimits)>
      all{};
  const auto end = std::ranges::copy(kMultifactorParameters, std::ranges::copy(kSlurmParameters, all.begin()).out).out;
  std::ranges::copy(kUserLimits, end);
  return all;
}();

}  // namespace

SlurmOptions::SlurmOptions(const Parameters& parameters)
    : interval{seconds_of(parameters, "bf_interval_s")},
      window{Time::ceil_nanoseconds(parameters.get<double>("bf_window_min") * 60e9)},
      resolution{seconds_of(parameters, "bf_resolution_s")},
      test{seconds_of(parameters, "bf_test_s")},
      max_time{seconds_of(parameters, "bf_max_time_s")},
      max_job_test{parameters.get<std::int64_t>("bf_max_job_test")},
      max_job_part{parameters.get<std::int64_t>("bf_max_job_part")},
      max_job_user{parameters.get<std::int64_t>("bf_max_job_user")},
      max_job_user_part{parameters.get<std::int64_t>("bf_max_job_user_part")},
      max_job_start{parameters.get<std::int64_t>("bf_max_job_start")},
      records{parameters.get<std::int64_t>("bf_node_space_size")},
      continues{parameters.get<bool>("bf_continue")},
      sched_interval{seconds_of(parameters, "sched_interval_s")},
      batch_delay{seconds_of(parameters, "batch_sched_delay_s")},
      depth{parameters.get<std::int64_t>("default_queue_depth")},
      defers{parameters.get<bool>("defer")},
      end_window{seconds_of(parameters, "end_window_s")} {
  const auto needs_time = [&](std::string_view name, bool is_given) {
    if (test == Time{} && is_given)
      throw InputError{Complaint{.key = fmt::format("policies.scheduling.{}", name),
                                 .reason = "changes nothing with bf_test_s: 0, where a pass takes no time",
                                 .hint = "give bf_test_s, the seconds that the test of a job takes, such as 0.01"}};
  };
  needs_time("bf_continue", continues);
  needs_time("bf_max_time_s", max_time > Time{});
  if (max_time == Time{}) max_time = interval;
  if (records == 0) records = max_job_test;
}

PolicyRow<SchedulingPolicy> slurm_backfill_scheduling() {
  return {.name = "slurm-backfill",
          .summary = "Slurm's main and backfill schedulers with multifactor priority and fair tree",
          .source = "Slurm 22.05 and 26.05, sched/backfill",
          .parameters = kAllParameters,
          .make = make_slurm_backfill,
          .plans_places = true,
          .compares_vcs = true,
          .accounts = accounts_of_slurm};
}

}  // namespace contend
