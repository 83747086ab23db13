// Hydra (Yang et al., "Hydra: Deadline-Aware and Efficiency-Oriented Scheduling for Deep Learning Jobs on Heterogeneous
// GPUs", IEEE Transactions on Computers 72, 2023) knows how long a job takes on each type of GPUs. It gives jobs of one
// GPU to GPUs by branch and bound so that few deadlines are missed and jobs are done soon (deadline_plan.hpp): GPUs
// that others hold are free when these end. Jobs whose turn is now start; the plan is made again when a job comes or
// ends.
//
// Rules that are ours, because the paper leaves them open: a late job costs more than any completion times, however
// late it is; nothing that runs is moved; the search ends after a number of nodes and not of seconds, so that the
// result does not depend on the machine; of more waiting jobs than `window`, those with the earliest deadlines and then
// the oldest are planned; gangs, which the paper does not have, start before that in order of submission where they
// fit.

#include "policies/registry.hpp"
#include "policies/scheduling/deadline_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

namespace {

class Hydra final : public SchedulingPolicy {
 public:
  Hydra(std::int64_t nodes, std::size_t most) : nodes_{nodes}, most_{most} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override {
    return job.deadline ? job.deadline->ns() : PolicyKey{Time::never().ns()} + job.submit.ns();
  }

  void queued(const JobView& job) override {
    running_.erase(job.id);
    (job.gpus == 1 ? waiting_ : gangs_)[{job.gpus == 1 ? key(job) : 0, job.submit, job.tie}] = job.id;
  }
  void left(JobId job) override { running_.erase(job); }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    for (auto at = gangs_.begin(); at != gangs_.end();) {
      if (!actions.start(at->second)) {
        ++at;
        continue;
      }
      running_.insert(at->second);
      at = gangs_.erase(at);
    }
    std::vector<JobId> planned;
    for (const auto& [key, id] : waiting_) {
      if (planned.size() == most_) break;
      if (cluster.quota_left(cluster.job(id).vc) > 0) planned.push_back(id);
    }
    if (!planned.empty()) start_planned(cluster, actions, planned);
    if (!actions.recording()) return;
    for (const auto* jobs : {&waiting_, &gangs_})
      for (const auto& [key, job] : *jobs) actions.blocked(job, Why::no_gpus);
  }

 private:
  using Place = std::tuple<PolicyKey, Time, std::int64_t>;  // in a queue

  void start_planned(const ClusterView& cluster, SchedulingActions& actions, const std::vector<JobId>& ids) {
    const std::vector<PlanMachine> machines = machines_of(cluster, ids);
    if (machines.empty() || machines.front().free_at > 0) return;
    std::vector<PlannedJob> jobs;
    for (const JobId id : ids) {
      const JobView job = cluster.job(id);
      PlannedJob& planned = jobs.emplace_back();
      for (std::int32_t t = 0; t < static_cast<std::int32_t>(cluster.types()); ++t) {
        const double speed = cluster.speed_on(job, t);
        planned.takes.push_back(speed > 0 ? std::max(kLeastTime, job.remaining_service.to_seconds() / speed)
                                          : std::numeric_limits<double>::infinity());
      }
      if (job.deadline) planned.due = (*job.deadline - cluster.now()).to_seconds();
    }
    const DeadlinePlan plan = plan_deadlines(jobs, machines, nodes_);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::size_t machine = plan.machine_of[i];
      if (machine == DeadlinePlan::kNone || plan.starts[i] > 0) continue;
      const JobView job = cluster.job(ids[i]);
      if (!actions.start_on(ids[i], static_cast<std::int32_t>(machines[machine].type))) continue;
      waiting_.erase({key(job), job.submit, job.tie});
      running_.insert(ids[i]);
    }
  }

  /// The GPUs that jobs of the virtual cluster may use, those that are free first, then by the ends of the jobs that
  /// hold them; of each type on which one of these jobs may run, as many as there are jobs.
  [[nodiscard]] std::vector<PlanMachine> machines_of(const ClusterView& cluster, const std::vector<JobId>& ids) const {
    const std::size_t jobs = ids.size(), types = cluster.types();
    const std::int32_t vc = cluster.job(ids.front()).vc;
    std::vector<PlanMachine> machines;
    std::vector<std::size_t> count(types, jobs);
    for (std::size_t t = 0; t < types; ++t) {
      const auto may_run = [&](JobId id) {
        return cluster.speed_on(cluster.job(id), static_cast<std::int32_t>(t)) > 0;
      };
      if (types > 1 && std::ranges::none_of(ids, may_run)) continue;
      const int free = std::max(0, cluster.free_gpus_on(vc, static_cast<std::int32_t>(t)));
      count[t] = std::min(jobs, static_cast<std::size_t>(free));
      machines.insert(machines.end(), count[t], {t, 0});
    }
    std::vector<PlanMachine> busy;
    for (const JobId id : running_) {
      const JobView job = cluster.job(id);
      if (!job.running) continue;
      const std::int32_t type = std::max(0, job.server_type);
      const double speed = cluster.speed_on(job, type);
      const double end = job.remaining_service.to_seconds() / job.gpus / (speed > 0 ? speed : 1);
      busy.insert(busy.end(), static_cast<std::size_t>(job.gpus),
                  {static_cast<std::size_t>(type), std::max(kLeastTime, end)});
    }
    std::ranges::stable_sort(busy, {}, [](const PlanMachine& each) { return std::pair{each.free_at, each.type}; });
    for (const PlanMachine& each : busy)
      if (count[each.type]++ < jobs) machines.push_back(each);
    return machines;
  }

  static constexpr double kLeastTime = 1e-9;  // a nanosecond

  std::int64_t nodes_;
  std::size_t most_;
  std::map<Place, JobId> waiting_, gangs_;
  std::set<JobId> running_;
};

std::unique_ptr<SchedulingPolicy> make_hydra(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Hydra>(parameters.get<std::int64_t>("nodes"),
                                 static_cast<std::size_t>(parameters.get<std::int64_t>("window")));
}

}  // namespace

PolicyRow<SchedulingPolicy> hydra_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"nodes", std::int64_t{10'000}, 0, 1'000'000'000,
       "nodes of the search that a decision looks at; 0: jobs go one after the other to where they end first"},
      {"window", std::int64_t{50}, 1, 10'000,
       "the most jobs that a decision plans, those with the earliest deadlines first"}};
  return {.name = "hydra",
          .summary = "jobs of one GPU on the types with which the fewest deadlines are missed, then soonest",
          .source = "Yang et al., IEEE TC 2023",
          .parameters = kParameters,
          .make = make_hydra,
          .names_types = true,
          .weighs = Weighs::deadlines};
}

}  // namespace contend
